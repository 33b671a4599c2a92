// The samples that takt-plan profile collects: which operations a function has,
// and how long each of them took under each alternative.
#ifndef TAKT_TOOLS_PROFILE_DATA_H_
#define TAKT_TOOLS_PROFILE_DATA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/plan_machine.h"
#include "tools/profile_recorder.h"

namespace takt::tools {

using CpuMask = std::vector<uint64_t>;

// Durations of one operation or kernel under one alternative, in ns.
using Samples = std::vector<int64_t>;

// A set of resources that a call may run on.
struct Alternative {
  std::string pool;
  uint32_t shards;
  CpuMask mask;  // Empty: any CPU, because the NPU's threads may use any.
  CpuMask rest;  // The other CPUs; all of them if there is no other.
  int32_t npu = kNoNpu;
};

struct Kernel {
  std::string module;
  std::string function;
  uint32_t grid[3];
  std::vector<Samples> samples;  // By alternative.
};

// The operations of a function, as its first call ran them.
struct Program {
  std::string name;
  std::vector<Dispatch> shape;
  std::vector<std::string> kernels;        // By operation.
  std::vector<std::vector<size_t>> after;  // By operation.
  bool is_whole = false;  // Calls differ: the whole call is one operation.
};

class ProfileData {
 public:
  // The alternatives of the machine: each number of cores of each cluster, then
  // each NPU.
  explicit ProfileData(const MeasuredMachine& machine);

  const std::vector<Alternative>& alternatives() const { return alternatives_; }
  const std::map<std::string, Kernel>& kernels() const { return kernels_; }
  const std::vector<Program>& programs() const { return programs_; }
  // Durations of whole calls, by function and alternative.
  const std::vector<std::vector<Samples>>& calls() const { return calls_; }

  // The alternative of one core of the pool of `alternative`.
  size_t OneCoreOf(size_t alternative) const {
    return alternative - (alternatives_[alternative].shards - 1);
  }

  // Begins a function.
  void Begin(const std::string& name);
  // The first call of the function: its dispatches become its operations.
  void SetShape(const std::vector<Dispatch>& dispatches);
  // Adds the samples of one call under alternative `a`.
  void Add(size_t a, int64_t duration_ns,
           const std::vector<Dispatch>& dispatches);
  // Ends the function, which is of `module`.
  void End(const std::string& module);

 private:
  void Match(const std::vector<Dispatch>& dispatches, size_t a);
  void KeepWhole(const std::string& module);
  void KeepOperations(const std::string& module);
  size_t AlternativeOf(int32_t npu) const;

  // Those of cores, then one for each NPU.
  std::vector<Alternative> alternatives_;
  size_t core_alternative_count_ = 0;
  std::map<std::string, Kernel> kernels_;
  std::vector<Program> programs_;
  std::vector<std::vector<Samples>> calls_;
  // The function between Begin() and End().
  Program program_;
  std::vector<Samples> whole_;              // By alternative.
  std::vector<std::vector<Samples>> rows_;  // By operation and alternative.
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PROFILE_DATA_H_
