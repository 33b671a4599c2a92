// ExclusiveCode is code that may hold a resource exclusively while it runs,
// such as an NPU. Before such code runs a dispatch, its route asks the resource
// how long the dispatch would have to wait.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_ROUTE_EXCLUSIVE_CODE_H_
#define TAKT_ROUTE_EXCLUSIVE_CODE_H_

#include <cstdint>

#include "cpu/loaded_executable.h"
#include "exec/job.h"

namespace takt::route {

class ExclusiveResource {
 public:
  virtual ~ExclusiveResource() = default;

  // The time that a job with these traits would wait now. kInfiniteFuture: the
  // resource is out of order.
  virtual int64_t ExpectedWaitNs(const exec::JobTraits& traits) const = 0;

  // Counts the choice for a dispatch that the CPU can run, too: the resource
  // was chosen, or not.
  virtual void CountChoice(bool is_taken) = 0;
};

class ExclusiveCode : public cpu::ExecutableCode {
 public:
  // The code of `executable` if it is of this kind, else null.
  static const ExclusiveCode* From(const cpu::LoadedExecutable& executable) {
    const cpu::ExecutableCode& code = *executable.code();
    return code.implementation() == &kImplementation
               ? static_cast<const ExclusiveCode*>(&code)
               : nullptr;
  }
  // The resource that `executable` needs; null: none.
  static ExclusiveResource* ResourceOf(
      const cpu::LoadedExecutable& executable) {
    const ExclusiveCode* const code = From(executable);
    return code != nullptr ? code->resource() : nullptr;
  }

  const void* implementation() const final { return &kImplementation; }

  // Lives as long as the code. Null: the code needs nothing but a thread.
  virtual ExclusiveResource* resource() const = 0;

 private:
  static constexpr char kImplementation = 0;
};

}  // namespace takt::route

#endif  // TAKT_ROUTE_EXCLUSIVE_CODE_H_
