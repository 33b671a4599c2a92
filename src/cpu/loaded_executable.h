// A LoadedExecutable is a module's handle of loaded code. All contexts that
// load the same content share the code.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_CPU_LOADED_EXECUTABLE_H_
#define TAKT_CPU_LOADED_EXECUTABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/job_attributes.h"
#include "base/tracer.h"
#include "cpu/dispatch_cost.h"
#include "exec/executor.h"
#include "hal/executable.h"

namespace takt::cpu {

inline constexpr size_t kMaxBindings = 256;

// The arguments of a dispatch for its workgroups. Everything is borrowed.
struct DispatchArguments {
  std::array<uint32_t, 3> workgroup_count = {1, 1, 1};  // z below 2^16.
  // As many as the function declares.
  const uint32_t* constants = nullptr;
  size_t constant_count = 0;
  // 64-aligned starts of the bound ranges and their lengths; they may alias.
  // As many as the function declares.
  void* const* bindings = nullptr;
  const size_t* binding_lengths = nullptr;
  size_t binding_count = 0;
  // Bit i % 64 of word i / 64: binding i must not be written. Code that is not
  // trusted is checked against it.
  std::array<uint64_t, kMaxBindings / 64> read_only_bindings = {};
  uint32_t max_concurrency = 1;
  // The traits of its job; null: none in particular.
  const exec::JobTraits* traits = nullptr;
  // The policy of the job; null: none in particular.
  const JobFaultPolicy* faults = nullptr;
  Cancellation* cancellation = nullptr;  // Of the call; null: none.

  bool is_read_only(size_t binding) const {
    return (read_only_bindings[binding / 64] >> binding % 64 & 1) != 0;
  }
};

// Loaded code; each format has a subclass. All LoadedExecutables of the same
// content share it, and the last one destroys it.
class ExecutableCode {
 public:
  struct Function {
    std::string name;
    uint32_t constant_count = 0;
    uint32_t binding_count = 0;
    uint32_t local_memory_bytes = 0;
    bool is_sequential = false;  // Workgroups in order, one at a time.
    std::array<uint32_t, 3> workgroup_size = {1, 1, 1};
  };

  virtual ~ExecutableCode() = default;

  // Identifies the kind of code, so that its makers recognize it. The address
  // is only compared. Null: not needed.
  virtual const void* implementation() const { return nullptr; }

  // Runs the workgroups whose linear index (x fastest) lies in [begin, end).
  // See LoadedExecutable::RunWorkgroups.
  virtual absl::Status RunWorkgroups(size_t function,
                                     const DispatchArguments& arguments,
                                     uint32_t begin, uint32_t end,
                                     exec::Worker& worker) = 0;

  const std::vector<Function>& functions() const { return functions_; }
  DispatchCosts& costs(size_t function) const { return costs_[function]; }
  // The name of a function in the trace of the device's instance.
  uint32_t trace_name(size_t function, Tracer& tracer) const {
    return trace_names_[function].Find(tracer, functions_[function].name);
  }

  // Keeps the source of the code alive as long as the code. The loader calls
  // this before other threads see the code.
  void SetSource(Ref<Object> source) { source_ = std::move(source); }

  // The hash of the source, by which profiles identify the code. Set in the
  // same way.
  uint64_t content_hash() const { return content_hash_; }
  void SetContentHash(uint64_t hash) { content_hash_ = hash; }

 protected:
  // Called once, by the subclass's factory.
  void SetFunctions(std::vector<Function> functions) {
    functions_ = std::move(functions);
    costs_ = std::make_unique<DispatchCosts[]>(functions_.size());
    trace_names_ = std::make_unique<TraceName[]>(functions_.size());
  }

 private:
  std::vector<Function> functions_;
  std::unique_ptr<DispatchCosts[]> costs_;
  std::unique_ptr<TraceName[]> trace_names_;
  Ref<Object> source_;
  uint64_t content_hash_ = 0;
};

class LoadedExecutable final : public hal::Executable {
 public:
  explicit LoadedExecutable(std::shared_ptr<ExecutableCode> code)
      : code_(std::move(code)) {}

  // `executable` if it is one of these, else nullptr.
  static const LoadedExecutable* From(const hal::Executable* executable) {
    return executable->implementation() == &kImplementation
               ? static_cast<const LoadedExecutable*>(executable)
               : nullptr;
  }

  // hal::Executable. `function` is below function_count().
  const void* implementation() const override { return &kImplementation; }
  size_t function_count() const override { return code_->functions().size(); }
  absl::string_view function_name(size_t function) const override {
    return code_->functions()[function].name;
  }
  size_t constant_count(size_t function) const override {
    return code_->functions()[function].constant_count;
  }
  size_t binding_count(size_t function) const override {
    return code_->functions()[function].binding_count;
  }
  size_t local_memory_bytes(size_t function) const {
    return code_->functions()[function].local_memory_bytes;
  }
  bool is_sequential(size_t function) const {
    return code_->functions()[function].is_sequential;
  }
  uint32_t trace_name(size_t function, Tracer& tracer) const {
    return code_->trace_name(function, tracer);
  }
  // The cost of a dispatch of this grid; see DispatchCosts::Find().
  DispatchCost& cost(size_t function, const DispatchCosts::Grid& grid) const {
    return code_->costs(function).Find(grid);
  }

  // Runs the workgroups whose linear index (x fastest) lies in [begin, end),
  // in order, on this thread. Several threads may run ranges of one dispatch
  // at once, each with its own `worker`, whose local memory is at least
  // local_memory_bytes(function).
  //
  // The caller has checked the counts of constants and bindings, has set the
  // floating-point environment that kernels expect (denormals flushed), and
  // keeps this object alive meanwhile.
  //
  // Stops early where worker.reached asks for it.
  //
  // Errors name the function; workgroups before the failing one have run.
  // Allocates nothing once warm. Blocks: never.
  absl::Status RunWorkgroups(uint64_t function,
                             const DispatchArguments& arguments, uint32_t begin,
                             uint32_t end, exec::Worker& worker) const {
    return code_->RunWorkgroups(function, arguments, begin, end, worker);
  }

  uint64_t content_hash() const { return code_->content_hash(); }
  const std::shared_ptr<ExecutableCode>& code() const { return code_; }

 private:
  static constexpr char kImplementation = 0;

  const std::shared_ptr<ExecutableCode> code_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_LOADED_EXECUTABLE_H_
