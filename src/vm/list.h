// A List (!vm.list) can grow. Its kind of storage is fixed when it is made:
// typed values, refs of one type (or any), or variants.
//
// Thread-safety: none; a list belongs to one invocation at a time.
#ifndef TAKT_VM_LIST_H_
#define TAKT_VM_LIST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/memory_account.h"
#include "base/object.h"
#include "vm/value.h"

namespace takt::vm {

// The type of a list's elements, or of a type-table entry.
struct ElementType {
  ValueKind kind = ValueKind::kNone;     // kNone: variant ("!vm.opaque").
  const ObjectType* ref_type = nullptr;  // Of kRef; nullptr: any ref.
};

class List final : public Object {
 public:
  // A second context gets a copy, element by element.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"vm.list", &Clone};

  // `capacity` is a hint. The list itself comes from `pool` if there is one.
  static Ref<List> Create(ElementType element_type, size_t capacity,
                          BlockPool* pool = nullptr);

  // Charges the list, and what it grows by, to `account` (may be null).
  // RESOURCE_EXHAUSTED beyond its limit. Once.
  absl::Status ChargeTo(MemoryAccount* account);

  ElementType element_type() const { return element_type_; }
  size_t size() const { return elements_.size(); }
  // A hint. RESOURCE_EXHAUSTED beyond the limit of its account.
  absl::Status Reserve(size_t capacity);
  // New elements are 0, null or empty. RESOURCE_EXHAUSTED beyond kMaxSize.
  absl::Status Resize(size_t size);

  // OUT_OF_RANGE for a bad index; FAILED_PRECONDITION if the kind of
  // storage cannot hold such a value. Numbers are converted.
  absl::StatusOr<Slot> GetValue(size_t index, ValueKind kind) const;
  absl::Status SetValue(size_t index, ValueKind kind, Slot value);
  // `type` nullptr: any. A stored ref of another type gives null.
  absl::StatusOr<Ref<Object>> GetRef(size_t index,
                                     const ObjectType* type) const;
  // INVALID_ARGUMENT if the list holds refs of another type, or if it would
  // contain itself, directly or through other lists (such a cycle would never
  // be freed).
  absl::Status SetRef(size_t index, Ref<Object> ref);

  // Any element as it is stored.
  absl::StatusOr<Value> Get(size_t index) const;
  absl::Status Set(size_t index, Value value);
  absl::Status Append(Value value);
  // Borrowed, unchecked: for callers that iterate.
  const Value& operator[](size_t index) const { return elements_[index]; }

  static constexpr size_t kMaxSize = size_t{1} << 24;

 private:
  explicit List(ElementType element_type)
      : Object(&kType), element_type_(element_type) {}

  ~List() override;
  Value EmptyElement() const;
  // Takes the elements that are lists without another owner, and puts them
  // before *first, linked by next_freed_.
  void TakeSoleLists(List** first);
  absl::Status CheckNotWithin(List& list);
  absl::Status CheckIndex(size_t index) const;

  const ElementType element_type_;
  MemoryCharge charge_;
  std::vector<Value> elements_;
  bool holds_lists_ = false;  // Some element is, or was, a list.
  List* next_freed_ = nullptr;
};

}  // namespace takt::vm

#endif  // TAKT_VM_LIST_H_
