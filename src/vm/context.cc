#include "vm/context.h"

#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/nearest_names.h"
#include "base/status.h"
#include "vm/bytecode_module.h"
#include "vm/invocation.h"

namespace takt::vm {
namespace {

// A copy of `object` (may be null) in *copy; false if it cannot be copied.
bool CloneRef(Object* object, CloneMap& clones, Ref<Object>* copy) {
  if (object == nullptr) return true;
  auto* const clone = object->type()->clone;
  if (clone == nullptr) return false;
  *copy = Ref<Object>::Adopt(clone(*object, clones));
  return *copy != nullptr;
}

// The names that a caller may have meant. Native modules have many functions
// that callers cannot use, so those of one are listed only if the caller named
// it.
std::string NearestExports(const std::vector<Ref<Module>>& modules,
                           absl::string_view wanted) {
  const absl::string_view module_name = wanted.substr(0, wanted.find('.'));
  std::vector<std::string> names;
  for (const Ref<Module>& module : modules) {
    if (module->kind() == Module::Kind::kNative &&
        module->name() != module_name) {
      continue;
    }
    for (const ExportInfo& info : module->exports()) {
      if (absl::StartsWith(info.name, "__")) continue;  // Initializers.
      names.push_back(absl::StrCat(module->name(), ".", info.name));
    }
  }
  return NearestNames(names, wanted, "functions");
}

const Program& ProgramOf(const Module& module) {
  return static_cast<const BytecodeModule&>(module).program();
}

}  // namespace

absl::StatusOr<Ref<Context>> Context::Create(
    absl::Span<const Ref<Module>> modules, Waiter* waiter,
    uint64_t special_step_limit, uint64_t memory_limit) {
  TAKT_ASSIGN_OR_RETURN(Ref<Linkage> linkage, Linkage::Get(modules));
  auto context = Ref<Context>::Adopt(new Context(
      modules, std::move(linkage), waiter, special_step_limit, memory_limit));
  TAKT_RETURN_IF_ERROR(context->CreateStates());
  const Linkage& shared = *context->linkage_;
  if (shared.initializers_repeatable()) {
    std::shared_ptr<const Snapshot> snapshot = shared.snapshot();
    if (snapshot != nullptr && context->Restore(*snapshot)) return context;
  }
  TAKT_RETURN_IF_ERROR(context->RunInitializers());
  if (shared.initializers_repeatable()) {
    context->linkage_->Publish(context->TakeSnapshot());
  }
  return context;
}

Context::Context(absl::Span<const Ref<Module>> modules, Ref<Linkage> linkage,
                 Waiter* waiter, uint64_t special_step_limit,
                 uint64_t memory_limit)
    : Object(&kType),
      modules_(modules.begin(), modules.end()),
      linkage_(std::move(linkage)),
      waiter_(waiter),
      special_step_limit_(special_step_limit),
      memory_limit_(memory_limit != 0 ? memory_limit
                                      : MemoryAccount::DefaultLimit()),
      states_(modules.size()),
      state_pointers_(modules.size()),
      instances_(modules.size()) {}

Context::~Context() {
  for (size_t i = initialized_; i-- > 0;) {
    // The error of a destructor has no caller to return to.
    TAKT_TRY { CallSpecial(i, "__deinit", nullptr).IgnoreError(); }
    TAKT_CATCH(const std::bad_alloc&) {}
  }
  // Later modules may hold objects of earlier ones.
  while (!states_.empty()) states_.pop_back();
}

absl::Status Context::CreateStates() {
  for (size_t i = 0; i < modules_.size(); ++i) {
    absl::StatusOr<std::unique_ptr<ModuleState>> state =
        modules_[i]->CreateState();
    if (!state.ok()) return Annotate(state.status(), modules_[i]->name());
    states_[i] = *std::move(state);
    state_pointers_[i] = states_[i].get();
    if (BytecodeState* bytecode = bytecode_state(i)) {
      bytecode->Link(linkage_->imports(i).data(), state_pointers_.data(),
                     instances_.data());
      instances_[i] = &bytecode->instance();
    }
  }
  return absl::OkStatus();
}

BytecodeState* Context::bytecode_state(size_t module) const {
  return modules_[module]->kind() == Module::Kind::kBytecode
             ? static_cast<BytecodeState*>(states_[module].get())
             : nullptr;
}

absl::Status Context::RunInitializers() {
  for (size_t i = 0; i < modules_.size(); ++i) {
    TAKT_RETURN_IF_ERROR(CallSpecial(i, "__init", nullptr));
    initialized_ = i + 1;
  }
  return absl::OkStatus();
}

absl::Status Context::CallSpecial(size_t module, absl::string_view name,
                                  const int32_t* argument) {
  const absl::optional<size_t> e = modules_[module]->FindExport(name);
  if (!e.has_value()) return absl::OkStatus();
  const std::string& convention =
      modules_[module]->exports()[*e].convention.text;
  const absl::string_view expected = argument != nullptr ? "0i_v" : "0v_v";
  if (convention != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(modules_[module]->name(), ".", name, ": expected ",
                     expected, ", found ", convention));
  }
  // Holds no reference to the context, which may be in its destructor.
  Ref<Invocation> invocation = Invocation::Make(
      *this, {static_cast<uint32_t>(module), static_cast<uint32_t>(*e)},
      /*keep_arguments=*/false, /*hold=*/false);
  if (argument != nullptr) {
    Value value = Value::I32(*argument);
    TAKT_RETURN_IF_ERROR(invocation->SetArguments(
        absl::MakeSpan(&value, 1), Invocation::ArgumentRefs::kRetain));
  }
  Ref<Cancellation> cancellation;
  if (special_step_limit_ != 0) {
    invocation->SetStepLimit(special_step_limit_);
    // Kernels that it dispatches are limited, too.
    cancellation = Cancellation::Create(pool(), Cancellation::Scope::kKernels,
                                        special_step_limit_);
    JobAttributes job;
    job.cancellation = cancellation.get();
    invocation->SetJob(job);
  }
  return invocation->RunToEnd();
}

absl::Status Context::Notify(Signal::Kind signal) {
  const int32_t argument = signal;
  const bool reverse =
      signal == Signal::kSuspend || signal == Signal::kLowMemory;
  for (size_t i = 0; i < modules_.size(); ++i) {
    const size_t module = reverse ? modules_.size() - 1 - i : i;
    TAKT_RETURN_IF_ERROR(CallSpecial(module, "__notify", &argument));
  }
  return absl::OkStatus();
}

std::shared_ptr<const Snapshot> Context::TakeSnapshot() const {
  auto snapshot = std::make_shared<Snapshot>(modules_.size());
  CloneMap clones;
  for (size_t i = 0; i < modules_.size(); ++i) {
    if (instances_[i] == nullptr) continue;
    const Program& program = ProgramOf(*modules_[i]);
    ModuleSnapshot& module = (*snapshot)[i];
    module.globals.assign(instances_[i]->globals,
                          instances_[i]->globals + program.global_bytes);
    module.global_refs.resize(program.global_ref_count);
    for (uint32_t n = 0; n < program.global_ref_count; ++n) {
      if (!CloneRef(instances_[i]->global_refs[n], clones,
                    &module.global_refs[n])) {
        return nullptr;
      }
    }
  }
  return snapshot;
}

bool Context::Restore(const Snapshot& snapshot) {
  CloneMap clones;
  std::vector<Ref<Object>> copies;
  for (const ModuleSnapshot& module : snapshot) {
    for (const Ref<Object>& ref : module.global_refs) {
      copies.emplace_back();
      if (!CloneRef(ref.get(), clones, &copies.back())) return false;
    }
  }
  auto copy = copies.begin();
  for (size_t i = 0; i < modules_.size(); ++i) {
    const ModuleSnapshot& module = snapshot[i];
    if (!module.globals.empty()) {
      std::memcpy(instances_[i]->globals, module.globals.data(),
                  module.globals.size());
    }
    for (size_t n = 0; n < module.global_refs.size(); ++n) {
      instances_[i]->global_refs[n] = (copy++)->release();
    }
  }
  initialized_ = modules_.size();
  return true;
}

Module* Context::FindModule(absl::string_view name) const {
  for (size_t i = modules_.size(); i-- > 0;) {
    if (name == modules_[i]->name()) return modules_[i].get();
  }
  return nullptr;
}

absl::StatusOr<FunctionRef> Context::FindFunction(
    absl::string_view full_name) const {
  const size_t dot = full_name.find('.');
  if (dot != absl::string_view::npos) {
    for (size_t i = modules_.size(); i-- > 0;) {
      if (full_name.substr(0, dot) != modules_[i]->name()) continue;
      const auto e = modules_[i]->FindExport(full_name.substr(dot + 1));
      if (!e.has_value()) break;
      return FunctionRef{static_cast<uint32_t>(i), static_cast<uint32_t>(*e)};
    }
  }
  const size_t last = modules_.size() - 1;
  if (const auto e = modules_[last]->FindExport(full_name)) {
    return FunctionRef{static_cast<uint32_t>(last), static_cast<uint32_t>(*e)};
  }
  return absl::NotFoundError(absl::StrCat("no function ", full_name, "; ",
                                          NearestExports(modules_, full_name)));
}

const ExportInfo& Context::info(FunctionRef function) const {
  return modules_[function.module]->exports()[function.export_index];
}

size_t Context::memory_bytes() const {
  size_t bytes =
      sizeof(*this) +
      modules_.size() * (sizeof(modules_[0]) + sizeof(states_[0]) +
                         sizeof(state_pointers_[0]) + sizeof(instances_[0]));
  for (size_t i = 0; i < modules_.size(); ++i) {
    if (const BytecodeState* state = bytecode_state(i)) {
      bytes += state->memory_bytes();
    }
  }
  return bytes;
}

}  // namespace takt::vm
