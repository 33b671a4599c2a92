#include "vm/list.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/status.h"

namespace takt::vm {
namespace {

// The most that a hint reserves. A hint may come from hostile bytecode; a
// longer list grows as it is filled.
constexpr size_t kMaxReserve = 4096;

// How many elements of nested lists are searched to make sure that a list does
// not contain itself.
constexpr size_t kMaxNested = 1 << 16;

// The most nested lists that are copied: each is looked up among all others.
constexpr size_t kMaxClonedLists = 4096;

// What a list that has room for so many elements is charged for.
uint64_t ChargeOf(size_t capacity) {
  return sizeof(List) + uint64_t{capacity} * sizeof(Value);
}

absl::Status KindError(const char* stored, const char* wanted) {
  return absl::FailedPreconditionError(
      absl::StrCat("list element holds ", stored, ", not ", wanted));
}

}  // namespace

Ref<List> List::Create(ElementType element_type, size_t capacity,
                       BlockPool* pool) {
  auto list = Ref<List>::Adopt(pool != nullptr ? new (*pool) List(element_type)
                                               : new List(element_type));
  list->Reserve(capacity).IgnoreError();  // It has no account yet.
  return list;
}

absl::Status List::ChargeTo(MemoryAccount* account) {
  TAKT_ASSIGN_OR_RETURN(
      charge_, MemoryCharge::Take(account, ChargeOf(elements_.capacity())));
  return absl::OkStatus();
}

Value List::EmptyElement() const {
  if (element_type_.kind == ValueKind::kNone) return Value();
  return Value::Scalar(element_type_.kind, Slot{.i64 = 0});
}

absl::Status List::CheckIndex(size_t index) const {
  if (index < elements_.size()) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("list index ", index, " of a list",
                                            " of ", elements_.size()));
}

absl::Status List::Reserve(size_t capacity) {
  capacity = std::min(capacity, kMaxReserve);
  TAKT_RETURN_IF_ERROR(charge_.GrowTo(ChargeOf(capacity)));
  elements_.reserve(capacity);
  return absl::OkStatus();
}

absl::Status List::Resize(size_t size) {
  if (size > kMaxSize) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "list of ", size, " elements; at most ", kMaxSize, " are supported"));
  }
  TAKT_RETURN_IF_ERROR(charge_.GrowTo(ChargeOf(size)));
  TAKT_TRY { elements_.resize(size, EmptyElement()); }
  TAKT_CATCH(const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a list of ", size, " elements"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Slot> List::GetValue(size_t index, ValueKind kind) const {
  TAKT_RETURN_IF_ERROR(CheckIndex(index));
  const Value& value = elements_[index];
  if (value.kind() == kind) return value.slot();
  if (value.is_ref() || value.kind() == ValueKind::kNone) {
    return KindError(ValueKindName(value.kind()), ValueKindName(kind));
  }
  return ConvertScalar(value.kind(), value.slot(), kind);
}

absl::Status List::SetValue(size_t index, ValueKind kind, Slot value) {
  TAKT_RETURN_IF_ERROR(CheckIndex(index));
  const ValueKind stored =
      element_type_.kind == ValueKind::kNone ? kind : element_type_.kind;
  if (stored == ValueKind::kRef) {
    return KindError("a ref", ValueKindName(kind));
  }
  elements_[index] = Value::Scalar(stored, ConvertScalar(kind, value, stored));
  return absl::OkStatus();
}

absl::StatusOr<Ref<Object>> List::GetRef(size_t index,
                                         const ObjectType* type) const {
  TAKT_RETURN_IF_ERROR(CheckIndex(index));
  const Value& value = elements_[index];
  if (value.kind() == ValueKind::kNone) return Ref<Object>();
  if (!value.is_ref()) return KindError(ValueKindName(value.kind()), "a ref");
  Object* object = value.ref();
  if (object != nullptr && type != nullptr && object->type() != type) {
    return Ref<Object>();
  }
  return Ref<Object>::Retain(object);
}

absl::Status List::SetRef(size_t index, Ref<Object> ref) {
  TAKT_RETURN_IF_ERROR(CheckIndex(index));
  if (element_type_.kind != ValueKind::kNone &&
      element_type_.kind != ValueKind::kRef) {
    return KindError(ValueKindName(element_type_.kind), "a ref");
  }
  const ObjectType* type = element_type_.ref_type;
  if (ref != nullptr && type != nullptr && ref->type() != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("list of ", type->name, " given a ", ref->type()->name));
  }
  if (List* list = DynCast<List>(ref.get())) {
    TAKT_RETURN_IF_ERROR(CheckNotWithin(*list));
    holds_lists_ = true;
  }
  elements_[index] = Value::FromRef(std::move(ref));
  return absl::OkStatus();
}

absl::Status List::CheckNotWithin(List& list) {
  // If only the caller holds the list, no list has it as an element.
  if (this != &list && IsUnique()) return absl::OkStatus();
  std::vector<List*> pending{&list};
  size_t visited = 0;
  while (!pending.empty()) {
    List* next = pending.back();
    pending.pop_back();
    if (next == this) {
      return absl::InvalidArgumentError("a list cannot contain itself");
    }
    if (!next->holds_lists_) continue;
    visited += next->size();
    if (visited > kMaxNested) {
      return absl::ResourceExhaustedError(
          absl::StrCat("nested lists of more than ", kMaxNested, " elements"));
    }
    for (const Value& value : next->elements_) {
      if (List* inner = DynCast<List>(value.ref())) pending.push_back(inner);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> List::Get(size_t index) const {
  TAKT_RETURN_IF_ERROR(CheckIndex(index));
  return elements_[index];
}

absl::Status List::Set(size_t index, Value value) {
  if (value.is_ref()) return SetRef(index, value.TakeRef());
  if (value.kind() != ValueKind::kNone) {
    return SetValue(index, value.kind(), value.slot());
  }
  TAKT_RETURN_IF_ERROR(CheckIndex(index));
  elements_[index] = EmptyElement();
  return absl::OkStatus();
}

absl::Status List::Append(Value value) {
  const size_t index = elements_.size();
  TAKT_RETURN_IF_ERROR(Resize(index + 1));
  absl::Status status = Set(index, std::move(value));
  if (!status.ok()) elements_.pop_back();
  return status;
}

Object* List::Clone(Object& object, CloneMap& clones) {
  if (Object* copy = clones.Find(&object)) return CloneIsSame(*copy, clones);
  // Nested lists are copied here, without recursion: nesting may be deep.
  std::vector<std::pair<List*, List*>> pending;
  const auto copy_of = [&](Object& original) -> Ref<Object> {
    if (original.type() != &kType) {
      auto* const clone = original.type()->clone;
      return Ref<Object>::Adopt(clone ? clone(original, clones) : nullptr);
    }
    if (Object* copy = clones.Find(&original)) return Ref<Object>::Retain(copy);
    auto& list = static_cast<List&>(original);
    Ref<List> copy = Create(list.element_type_, list.size());
    copy->holds_lists_ = list.holds_lists_;
    clones.Add(&original, copy);
    pending.emplace_back(&list, copy.get());
    return copy;
  };
  Ref<Object> result = copy_of(object);
  size_t list_count = 0;
  while (!pending.empty()) {
    if (++list_count > kMaxClonedLists) return nullptr;
    const auto [list, copy] = pending.back();
    pending.pop_back();
    for (const Value& value : list->elements_) {
      Ref<Object> ref;
      if (value.ref() != nullptr) {
        ref = copy_of(*value.ref());
        if (ref == nullptr) return nullptr;
      }
      copy->elements_.push_back(value.is_ref() ? Value::FromRef(std::move(ref))
                                               : value);
    }
  }
  return result.release();
}

void List::TakeSoleLists(List** first) {
  if (!holds_lists_) return;
  for (Value& value : elements_) {
    List* const list = DynCast<List>(value.ref());
    if (list == nullptr || !list->IsUnique()) continue;
    list->next_freed_ = *first;
    *first = static_cast<List*>(value.TakeRef().release());
  }
}

List::~List() {
  // Nested lists are freed here, without recursion: nesting may be deep.
  // Without a container for them either: memory may have run out.
  List* first = nullptr;
  TakeSoleLists(&first);
  while (first != nullptr) {
    const auto list = Ref<List>::Adopt(first);
    first = list->next_freed_;
    list->TakeSoleLists(&first);
  }
}

}  // namespace takt::vm
