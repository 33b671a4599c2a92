#include "vm/native_module.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "abi/guard.h"
#include "absl/container/inlined_vector.h"
#include "api/handle.h"
#include "api/value.h"
#include "base/exceptions.h"
#include "runtime/instance.h"
#include "takt/native_module.h"

namespace takt::api {
namespace {

// The C functions of one module; owned by the module.
class CallbackTable {
 public:
  struct Entry {
    CallbackTable* table;
    std::string full_name;
    vm::CallingConvention convention;
    takt_native_callback_t callback;
  };

  CallbackTable(Ref<runtime::Instance> instance,
                const takt_native_module_options_t& options)
      : instance_(std::move(instance)), options_(options) {
    options_.name = nullptr;  // Borrowed for the creating call only.
    options_.exports = nullptr;
  }
  ~CallbackTable() {
    if (armed_ && options_.release != nullptr) {
      options_.release(options_.user_data);
    }
  }
  CallbackTable(const CallbackTable&) = delete;
  CallbackTable& operator=(const CallbackTable&) = delete;

  // From now on the end of this object calls the release function.
  void Arm() { armed_ = true; }
  const takt_native_module_options_t& options() const { return options_; }
  std::vector<std::unique_ptr<Entry>>& entries() { return entries_; }

 private:
  // The one whose types the functions handle.
  const Ref<runtime::Instance> instance_;
  takt_native_module_options_t options_;
  std::vector<std::unique_ptr<Entry>> entries_;
  bool armed_ = false;
};

// The state of a context for a module with create_state.
class UserState final : public vm::ModuleState {
 public:
  explicit UserState(std::shared_ptr<CallbackTable> table)
      : table_(std::move(table)) {}
  ~UserState() override {
    const auto& options = table_->options();
    if (created_ && options.destroy_state != nullptr) {
      options.destroy_state(options.user_data, state_);
    }
  }
  absl::Status Create() {
    const auto& options = table_->options();
    TAKT_RETURN_IF_ERROR(
        FromStatus(options.create_state(options.user_data, &state_)));
    created_ = true;
    return absl::OkStatus();
  }
  void* state() const { return state_; }

 private:
  const std::shared_ptr<CallbackTable> table_;
  void* state_ = nullptr;
  bool created_ = false;
};

takt_value_t FromSlot(vm::Letter letter, const vm::Slot& slot) {
  takt_value_t value;
  std::memset(&value, 0, sizeof(value));
  switch (letter) {
    case vm::Letter::kI32:
      value.kind = TAKT_VALUE_I32;
      value.i32 = slot.i32;
      break;
    case vm::Letter::kF32:
      value.kind = TAKT_VALUE_F32;
      value.f32 = slot.f32;
      break;
    case vm::Letter::kI64:
      value.kind = TAKT_VALUE_I64;
      value.i64 = slot.i64;
      break;
    case vm::Letter::kF64:
      value.kind = TAKT_VALUE_F64;
      value.f64 = slot.f64;
      break;
    case vm::Letter::kRef:
      value.kind = TAKT_VALUE_REF;
      value.ref = reinterpret_cast<takt_object_t*>(slot.ref);
      break;
  }
  return value;
}

// A call passes few values; longer argument lists go to the heap.
using Values = absl::InlinedVector<takt_value_t, 16>;

Values ReadArguments(const vm::CallingConvention& convention,
                     const vm::Slot* slots) {
  Values values;
  for (const auto& argument : convention.arguments) {
    if (!argument.is_span) {
      values.push_back(FromSlot(argument.letters.front(), *slots++));
      continue;
    }
    values.push_back(FromSlot(vm::Letter::kI32, *slots));
    const int32_t count = (slots++)->i32;
    for (int32_t i = 0; i < count; ++i) {
      for (vm::Letter letter : argument.letters) {
        values.push_back(FromSlot(letter, *slots++));
      }
    }
  }
  return values;
}

// Moves a result into its slot. False if it is of another kind. A ref that was
// never set is null.
bool StoreResult(vm::Letter letter, takt_value_t* value, vm::Slot* slot) {
  const takt_value_kind_t kind = FromSlot(letter, vm::Slot{.i64 = 0}).kind;
  if (kind == TAKT_VALUE_REF && value->kind == TAKT_VALUE_NONE) {
    slot->ref = nullptr;
    return true;
  }
  if (value->kind != kind) return false;
  if (kind == TAKT_VALUE_REF) {
    slot->ref = reinterpret_cast<Object*>(value->ref);
  } else {
    slot->i64 = value->i64;
  }
  return true;
}

absl::Status CheckResults(const CallbackTable::Entry& entry,
                          const Values& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    takt_value_t value = results[i];
    vm::Slot slot;
    if (!StoreResult(entry.convention.results[i], &value, &slot)) {
      return absl::InvalidArgumentError(absl::StrCat(
          entry.full_name, ": result ", i, ": expected ",
          takt_value_kind_name(
              FromSlot(entry.convention.results[i], vm::Slot{.i64 = 0}).kind),
          ", got ", takt_value_kind_name(value.kind)));
    }
  }
  return absl::OkStatus();
}

absl::Status CallBack(void* self, vm::NativeCall& call) {
  const auto& entry = *static_cast<const CallbackTable::Entry*>(self);
  const auto& options = entry.table->options();
  void* state = options.create_state != nullptr
                    ? static_cast<UserState*>(call.state())->state()
                    : options.user_data;
  const Values arguments = ReadArguments(entry.convention, call.arguments());
  Values results(entry.convention.results.size(), takt_value_t{});
  absl::Status status =
      FromStatus(entry.callback(state, arguments.size(), arguments.data(),
                                results.size(), results.data()));
  TAKT_TRY {
    if (status.ok()) status = CheckResults(entry, results);
  }
  TAKT_CATCH(const std::bad_alloc&) { status = OutOfMemory(); }
  if (!status.ok()) {
    takt_values_release(results.size(), results.data());
    return status;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    StoreResult(entry.convention.results[i], &results[i], &call.results()[i]);
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const takt_native_module_options_t& options) {
  TAKT_RETURN_IF_ERROR(Require(options.name, "options: name"));
  if (*options.name == 0) {
    return absl::InvalidArgumentError("options: name is empty");
  }
  if (options.export_count != 0) {
    TAKT_RETURN_IF_ERROR(Require(options.exports, "options: exports"));
  }
  for (size_t i = 0; i < options.export_count; ++i) {
    const takt_native_export_t& entry = options.exports[i];
    if (entry.name == nullptr || *entry.name == 0 ||
        entry.convention == nullptr || entry.callback == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.name, ": export ", i,
                       ": name, convention and callback must be set"));
    }
  }
  return absl::OkStatus();
}

absl::Status AddExports(const takt_native_module_options_t& options,
                        CallbackTable* table,
                        vm::NativeModule::Builder* builder) {
  for (size_t i = 0; i < options.export_count; ++i) {
    const takt_native_export_t& given = options.exports[i];
    auto convention = vm::CallingConvention::Parse(given.convention);
    if (!convention.ok()) {
      return Annotate(convention.status(),
                      absl::StrCat(options.name, ".", given.name));
    }
    auto entry = std::make_unique<CallbackTable::Entry>();
    entry->table = table;
    entry->full_name = absl::StrCat(options.name, ".", given.name);
    entry->convention = *std::move(convention);
    entry->callback = given.callback;
    builder->ExportRaw(given.name, given.convention, &CallBack, entry.get());
    table->entries().push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ref<vm::Module>> CreateNativeModule(
    runtime::Instance* instance, const takt_native_module_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_native_module_options_t given,
                        ReadOptions(options, &takt_native_module_options_init));
  TAKT_RETURN_IF_ERROR(CheckOptions(given));
  auto table = std::make_shared<CallbackTable>(
      Ref<runtime::Instance>::Retain(instance), given);
  vm::NativeModule::Builder builder(given.name, given.version);
  TAKT_RETURN_IF_ERROR(AddExports(given, table.get(), &builder));
  builder.SetOwner(table);
  builder.SetInitializersRepeatable(given.initializers_repeatable);
  if (given.create_state != nullptr) {
    // The module owns the factory, and the table does not own the module. So
    // the strong pointer makes no cycle.
    builder.SetStateFactory(
        [table]() -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
          auto state = std::make_unique<UserState>(table);
          TAKT_RETURN_IF_ERROR(state->Create());
          return state;
        });
  }
  TAKT_ASSIGN_OR_RETURN(Ref<vm::NativeModule> module,
                        std::move(builder).Build());
  table->Arm();
  return Ref<vm::Module>(std::move(module));
}

}  // namespace
}  // namespace takt::api

takt_status_t takt_native_module_create(
    takt_instance_t* instance, const takt_native_module_options_t* options,
    takt_module_t** out_module) {
  TAKT_REQUIRE(instance, options, out_module);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::CreateNativeModule(takt::api::Unwrap(instance), options),
        out_module);
  }
  TAKT_CATCH_ALL(instance, options, out_module);
}
