// Windows: what there is to plan.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "follow/window_advisor.h"

namespace takt::follow {

using sched::AdvisedJob;

// What jobs of the stream are made of, as far as anybody knows.
absl::Span<const sched::ProgramOperation> WindowAdvisor::ProgramOf(
    sched::StreamId stream) {
  if (chains_.size() <= stream) chains_.resize(stream + 1);
  std::vector<sched::ProgramOperation>& chain = chains_[stream];
  const sched::ProgramId id = scheduler_->stream_options(stream).program;
  if (id != sched::kNoProgram) {
    const sched::JobProgram& program = scheduler_->program(id);
    if (chain.size() == program.size()) return chain;
    chain.resize(program.size());
    for (uint32_t i = 0; i < program.size(); ++i) {
      chain[i].kernel = program.kernel(i);
      for (const uint32_t next : program.successors(i)) {
        chain[next].after.push_back(i);
      }
    }
    return chain;
  }
  chain.clear();
  for (const sched::KernelId kernel : scheduler_->last_sequence(stream)) {
    const auto count = static_cast<uint32_t>(chain.size());
    chain.push_back({kernel, {}});
    if (count > 0) chain.back().after = {count - 1};
  }
  return chain;
}

// As long as it takes at the speeds of now.
plan::Kernel WindowAdvisor::KernelOf(sched::KernelId id) const {
  plan::Kernel kernel;
  kernel.name = absl::StrCat("kernel ", id);
  for (const auto& way : scheduler_->costs().kernel(id).alternatives) {
    const int64_t permille = scheduler_->speed_permille(way.pool);
    sched::AlternativeOptions option;
    option.pool = way.pool;
    option.shards = way.shards;
    option.tile_ns = way.tile_ns;
    option.guess_ns = std::max<int64_t>(way.expected_ns * 1000 / permille, 1);
    kernel.alternatives.push_back(option);
  }
  return kernel;
}

uint32_t WindowAdvisor::AddKernel(Window* window, sched::KernelId kernel) {
  const auto found = kernels_.find(kernel);
  if (found != kernels_.end()) return found->second;
  return kernels_[kernel] = window->AddKernel(KernelOf(kernel));
}

// Adds what is left of the job; false if there is nothing to plan.
bool WindowAdvisor::AddJob(Window* window, const AdvisedJob& job,
                           const LiveJob* live, int64_t earliest_ns) {
  const auto known = ProgramOf(job.stream);
  const sched::StreamOptions& options = scheduler_->stream_options(job.stream);
  if (known.empty() || options.criticality == sched::Criticality::kBestEffort ||
      options.lease == sched::LeaseScope::kJob) {
    return false;
  }
  const auto state_of = [&](uint32_t index) {
    return live != nullptr && index < live->operations.size()
               ? live->operations[index].state
               : State::kWaiting;
  };
  WindowJob planned{job.stream, job.release_ns, job.deadline_ns, {}};
  std::vector<sched::ProgramOperation> operations;
  std::vector<uint32_t> place_of(known.size(), UINT32_MAX);
  // What runs delays what comes after it.
  int64_t ready_ns = std::max(job.release_ns, earliest_ns);
  for (uint32_t i = 0; i < known.size(); ++i) {
    if (state_of(i) == State::kDone) continue;
    if (state_of(i) == State::kRunning) {
      ready_ns = std::max(ready_ns, ExpectedEnd(live->operations[i]));
      continue;
    }
    place_of[i] = static_cast<uint32_t>(operations.size());
    sched::ProgramOperation operation;
    operation.kernel = AddKernel(window, known[i].kernel);
    for (const uint32_t before : known[i].after) {
      if (place_of[before] != UINT32_MAX) {
        operation.after.push_back(place_of[before]);
      }
    }
    operations.push_back(std::move(operation));
    planned.ordinals.push_back(i);
  }
  if (operations.empty()) return false;
  window->AddJob(
      std::move(planned), std::move(operations), ready_ns,
      scheduler_->machine().Allowed(options.pools, options.affinity));
  return true;
}

int64_t WindowAdvisor::ExpectedEnd(const LiveOperation& operation) const {
  uint32_t shards = operation.resources.count();
  int64_t longest_ns = 0;
  for (const auto& way :
       scheduler_->costs().kernel(operation.kernel).alternatives) {
    if (!operation.resources.Intersects(
            scheduler_->machine().ResourcesOf(way.pool))) {
      continue;
    }
    if (way.shards == shards || longest_ns == 0) {
      longest_ns = way.expected_ns;
    }
  }
  return operation.since_ns + longest_ns;
}

// What is there now, and what is expected. Null: nothing to plan.
std::shared_ptr<Window> WindowAdvisor::LookAround(int64_t now_ns) {
  kernels_.clear();
  std::vector<std::pair<AdvisedJob, const LiveJob*>> jobs;
  for (const LiveJob& live : live_) {
    if (live.job.job.generation != 0) jobs.emplace_back(live.job, &live);
  }
  // Until the next one is in force.
  const int64_t end_ns =
      now_ns + options_.length_ns + options_.planning.budget_ns;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    const sched::StreamOptions& options = scheduler_->stream_options(i);
    const int64_t last_ns = streams_[i].last_release_ns;
    // One that has missed a release has stopped.
    if (options.period_ns <= 0 || last_ns < now_ns - 2 * options.period_ns) {
      continue;
    }
    for (int64_t release_ns = last_ns + options.period_ns; release_ns < end_ns;
         release_ns += options.period_ns) {
      jobs.push_back(
          {{{}, i, release_ns, DeadlineAfter(release_ns, options.deadline_ns)},
           nullptr});
      if (jobs.size() > options_.operation_count_max) break;
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    return a.first.release_ns < b.first.release_ns;
  });
  if (jobs.empty()) return nullptr;
  window_end_ns_ = end_ns;
  auto window = std::make_shared<Window>(
      scheduler_->machine(),
      sched::ResourceSet::Range(0, scheduler_->machine().resource_count()) -
          scheduler_->available(),
      std::min(now_ns, jobs[0].first.release_ns), force_ns_);
  for (const auto& [job, live] : jobs) {
    if (window->operation_count() > options_.operation_count_max) break;
    AddJob(window.get(), job, live, force_ns_);
  }
  if (window->jobs().empty()) return nullptr;
  for (const LiveJob& live : live_) {
    for (const LiveOperation& operation : live.operations) {
      if (operation.state == State::kRunning) {
        window->AddBusy(operation.resources, ExpectedEnd(operation));
      }
    }
  }
  return window;
}

}  // namespace takt::follow
