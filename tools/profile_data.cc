#include "tools/profile_data.h"

#include <algorithm>
#include <utility>

namespace takt::tools {
namespace {

CpuMask MaskOf(const std::vector<uint32_t>& cpus) {
  CpuMask mask;
  for (const uint32_t cpu : cpus) {
    if (mask.size() <= cpu / 64) mask.resize(cpu / 64 + 1);
    mask[cpu / 64] |= uint64_t{1} << (cpu % 64);
  }
  return mask;
}

// The code of an NPU may have another grid than that of the cores.
bool IsSame(const Dispatch& known, const Dispatch& dispatch) {
  return known.npu == dispatch.npu ? known.Name() == dispatch.Name()
                                   : known.function == dispatch.function;
}

}  // namespace

ProfileData::ProfileData(const MeasuredMachine& machine) {
  std::vector<uint32_t> all;
  for (const MeasuredCluster& cluster : machine.clusters) {
    all.insert(all.end(), cluster.cpus.begin(), cluster.cpus.end());
  }
  for (const MeasuredCluster& cluster : machine.clusters) {
    for (uint32_t k = 1; k <= cluster.cpus.size(); ++k) {
      const std::vector<uint32_t> cpus(cluster.cpus.begin(),
                                       cluster.cpus.begin() + k);
      std::vector<uint32_t> rest;
      for (const uint32_t cpu : all) {
        if (std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) {
          rest.push_back(cpu);
        }
      }
      alternatives_.push_back(
          {cluster.name, k, MaskOf(cpus), MaskOf(rest.empty() ? all : rest)});
    }
  }
  core_alternative_count_ = alternatives_.size();
  for (size_t n = 0; n < machine.npus.size(); ++n) {
    alternatives_.push_back({machine.npus[n].name, 1, CpuMask(), MaskOf(all),
                             static_cast<int32_t>(n)});
  }
}

void ProfileData::Begin(const std::string& name) {
  program_ = Program();
  program_.name = name;
  whole_.assign(alternatives_.size(), Samples());
  rows_.clear();
}

void ProfileData::SetShape(const std::vector<Dispatch>& dispatches) {
  program_.shape = dispatches;
  program_.is_whole = dispatches.empty();
  rows_.assign(dispatches.size(), std::vector<Samples>(alternatives_.size()));
}

void ProfileData::Add(size_t a, int64_t duration_ns,
                      const std::vector<Dispatch>& dispatches) {
  whole_[a].push_back(duration_ns);
  if (!program_.is_whole) Match(dispatches, a);
}

void ProfileData::End(const std::string& module) {
  if (program_.is_whole) {
    KeepWhole(module);
  } else {
    KeepOperations(module);
  }
  calls_.push_back(whole_);
  programs_.push_back(std::move(program_));
}

// Adds the samples of a call to the operations of the same name, in order.
void ProfileData::Match(const std::vector<Dispatch>& dispatches, size_t a) {
  std::vector<bool> is_taken(program_.shape.size(), false);
  bool fits = dispatches.size() == program_.shape.size();
  for (size_t d = 0; fits && d < dispatches.size(); ++d) {
    size_t o = 0;
    while (o < is_taken.size() &&
           (is_taken[o] || !IsSame(program_.shape[o], dispatches[d]))) {
      ++o;
    }
    fits = o < is_taken.size();
    if (!fits) break;
    is_taken[o] = true;
    const int32_t npu = dispatches[d].npu;
    if (npu == kNoNpu && alternatives_[a].npu != kNoNpu) continue;
    rows_[o][npu == kNoNpu ? a : AlternativeOf(npu)].push_back(
        dispatches[d].end_ns - dispatches[d].begin_ns);
  }
  if (!fits) program_.is_whole = true;
}

void ProfileData::KeepWhole(const std::string& module) {
  Kernel& kernel = kernels_[program_.name];
  kernel = {module, program_.name, {1, 1, 1}, whole_};
  // No NPU runs the whole call.
  for (size_t a = core_alternative_count_; a < alternatives_.size(); ++a) {
    kernel.samples[a] = Samples();
  }
  program_.kernels = {program_.name};
  program_.after = {{}};
}

// Operations of a group follow all operations of the group before, because
// there was a barrier between the groups.
void ProfileData::KeepOperations(const std::string& module) {
  size_t group_begin = 0;
  size_t before_begin = 0;
  for (size_t o = 0; o < program_.shape.size(); ++o) {
    const Dispatch& dispatch = program_.shape[o];
    if (o > 0 && program_.shape[o - 1].group != dispatch.group) {
      before_begin = group_begin;
      group_begin = o;
    }
    program_.after.emplace_back();
    for (size_t b = before_begin; b < group_begin; ++b) {
      program_.after.back().push_back(b);
    }
    const std::string name = module + "." + dispatch.Name();
    program_.kernels.push_back(name);
    Kernel& kernel = kernels_[name];
    if (kernel.samples.empty()) {
      kernel.module = module;
      kernel.function = dispatch.function;
      std::copy_n(dispatch.grid, 3, kernel.grid);
      kernel.samples.resize(alternatives_.size());
    }
    for (size_t a = 0; a < alternatives_.size(); ++a) {
      Samples& all = kernel.samples[a];
      all.insert(all.end(), rows_[o][a].begin(), rows_[o][a].end());
    }
  }
}

size_t ProfileData::AlternativeOf(int32_t npu) const {
  return core_alternative_count_ + static_cast<size_t>(npu);
}

}  // namespace takt::tools
