// Set-up, and the slots of jobs and operations.
#include "sched/scheduler.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"

namespace takt::sched {

absl::StatusOr<std::unique_ptr<Scheduler>> Scheduler::Create(
    Machine machine, const SchedulerOptions& options) {
  TAKT_RETURN_IF_ERROR(machine.Validate());
  if (options.aging_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("scheduler: aging takes ", options.aging_ns, " ns"));
  }
  for (const ModeSettings& mode : options.modes) {
    if (mode.guard_permille <= 10'000) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("scheduler: a guard of ", mode.guard_permille,
                     " thousandths; expected at most 10000"));
  }
  return std::unique_ptr<Scheduler>(new Scheduler(std::move(machine), options));
}

Scheduler::Scheduler(Machine machine, const SchedulerOptions& options)
    : machine_(std::move(machine)),
      options_(options),
      policy_(options.policy != nullptr ? *options.policy
                                        : *FindPolicy("job-shop")),
      costs_(&machine_),
      pools_(machine_.pools.size()),
      running_on_(machine_.resource_count(), nullptr),
      leased_to_(machine_.resource_count()) {
  for (uint32_t i = 0; i < pools_.size(); ++i) {
    pools_[i].resources = machine_.ResourcesOf(i);
  }
  available_ = ResourceSet::Range(0, machine_.resource_count());
  free_ = available_;
  placements_.reserve(CostModel::kMaxAlternatives);
  ApplyMode();
  if (options_.advisor != nullptr) options_.advisor->OnAttached(*this);
}

absl::StatusOr<uint32_t> Scheduler::AddPool(Pool pool) {
  Machine grown = machine_;
  grown.pools.push_back(std::move(pool));
  TAKT_RETURN_IF_ERROR(grown.Validate());
  machine_ = std::move(grown);
  const auto index = static_cast<uint32_t>(pools_.size());
  pools_.emplace_back();
  pools_[index].resources = machine_.ResourcesOf(index);
  available_ = available_ | pools_[index].resources;
  free_ = free_ | pools_[index].resources;
  running_on_.resize(machine_.resource_count(), nullptr);
  leased_to_.resize(machine_.resource_count());
  for (const std::unique_ptr<StreamRecord>& stream : streams_) {
    if (stream == nullptr || stream->is_removed) continue;
    const StreamOptions& options = stream->options;
    stream->allowed = machine_.Allowed(options.pools, options.affinity);
    if (options.share_permille == 0) continue;
    stream->share.Resize(options.share_permille, SharedCores(stream->allowed));
  }
  return index;
}

absl::StatusOr<KernelId> Scheduler::AddKernel(
    const KernelKey& key, absl::Span<const AlternativeOptions> alternatives) {
  return costs_.Add(key, alternatives);
}

absl::StatusOr<ProgramId> Scheduler::AddProgram(
    absl::Span<const ProgramOperation> operations) {
  TAKT_ASSIGN_OR_RETURN(JobProgram program,
                        JobProgram::Create(operations, costs_));
  programs_.push_back(std::move(program));
  return static_cast<ProgramId>(programs_.size() - 1);
}

ResourceSet Scheduler::ResourcesFor(KernelId kernel) const {
  ResourceSet resources;
  for (const auto& alternative : costs_.kernel(kernel).alternatives) {
    resources = resources | pools_[alternative.pool].resources;
  }
  return resources;
}

// Every operation must have an alternative within the stream's terms.
absl::Status Scheduler::CheckPlaces(const StreamOptions& options) const {
  const JobProgram& program = programs_[options.program];
  for (uint32_t i = 0; i < program.size(); ++i) {
    bool has_place = false;
    for (const auto& a : costs_.kernel(program.kernel(i)).alternatives) {
      const uint32_t count =
          (pools_[a.pool].resources & options.affinity).count();
      has_place |= ((options.pools >> a.pool) & 1) != 0 && count >= a.shards;
    }
    if (!has_place) {
      return absl::InvalidArgumentError(absl::StrCat(
          "stream: operation ", i,
          " of its program can run nowhere within affinity and pools"));
    }
  }
  return absl::OkStatus();
}

// The cores that a share is a part of; the NPUs of a stream without cores.
uint32_t Scheduler::SharedCores(const ResourceSet& allowed) const {
  uint32_t count = 0;
  for (uint32_t i = 0; i < pools_.size(); ++i) {
    if (machine_.pools[i].kind != ResourceKind::kCore) continue;
    count += (allowed & pools_[i].resources).count();
  }
  return count != 0 ? count : allowed.count();
}

// All shares must fit beside each other.
absl::Status Scheduler::CheckShares(const StreamRecord& stream) const {
  if (stream.options.share_permille == 0) return absl::OkStatus();
  ResourceSet all;
  uint64_t sum = 0;
  const auto count = [&](const StreamRecord& other) {
    all = all | other.allowed;
    sum += uint64_t{other.options.share_permille} * SharedCores(other.allowed);
  };
  for (const StreamRecord* other : sharing_) count(*other);
  count(stream);
  const uint64_t most = uint64_t{1000} * SharedCores(all);
  if (sum <= most) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("stream: its share of ", stream.options.share_permille,
                   " thousandths and those of others are ", sum,
                   " thousandths of a core; there are ", most));
}

// With the first weight, and without the last, best-effort work has another
// order.
void Scheduler::CountWeight(const StreamRecord& stream, int change) {
  if (stream.options.weight == 0) return;
  weight_count_ += static_cast<uint32_t>(change);
  const bool by_weight = weight_count_ > 0;
  if (by_weight == situation_.by_weight) return;
  situation_.by_weight = by_weight;
  RankAll();
}

absl::Status Scheduler::CheckTerms(const StreamOptions& options) const {
  const auto fault = [](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat("stream: ", reason));
  };
  const bool has_deadline = options.deadline_ns != kInfiniteFuture;
  const bool is_hard = options.criticality == Criticality::kHard;
  if (options.program != kNoProgram && options.program >= programs_.size()) {
    return fault(absl::StrCat("there is no program ", options.program));
  }
  if (options.period_ns < 0) {
    return fault(absl::StrCat("a period of ", options.period_ns, " ns"));
  }
  if (options.deadline_ns <= 0) {
    return fault(absl::StrCat("a deadline ", options.deadline_ns,
                              " ns after the release"));
  }
  if (!has_deadline && is_hard) return fault("a hard stream needs a deadline");
  if (!has_deadline && options.late != LatePolicy::kRunOn &&
      options.late != LatePolicy::kLatestOnly) {
    return fault("a late policy needs a deadline");
  }
  const std::string window_fault =
      CheckMetWindow(options.met_min, options.met_window, has_deadline);
  if (!window_fault.empty()) return fault(window_fault);
  const std::string share_fault =
      CheckShare(options.share_permille, options.weight, is_hard);
  if (!share_fault.empty()) return fault(share_fault);
  return absl::OkStatus();
}

// No promise may have been made without the leases of the stream.
absl::Status Scheduler::CheckLeases(const StreamOptions& options) const {
  if (options.lease != LeaseScope::kJob) return absl::OkStatus();
  for (const auto& other : streams_) {
    if (other->band != Band::kPromised || other->is_removed) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("stream: would keep an NPU between its operations, which "
                     "the promise to stream ",
                     other->id, " does not allow for"));
  }
  return absl::OkStatus();
}

StreamId Scheduler::NewStreamId() {
  if (free_streams_.empty()) {
    free_streams_.push_back(static_cast<StreamId>(streams_.size()));
    streams_.emplace_back();
  }
  const StreamId id = free_streams_.back();
  free_streams_.pop_back();
  return id;
}

absl::StatusOr<StreamId> Scheduler::AddStream(const StreamOptions& options) {
  TAKT_RETURN_IF_ERROR(CheckTerms(options));
  TAKT_RETURN_IF_ERROR(CheckLeases(options));
  auto stream = std::make_unique<StreamRecord>();
  stream->options = options;
  stream->allowed = machine_.Allowed(options.pools, options.affinity);
  if (stream->allowed.empty()) {
    return absl::InvalidArgumentError(
        "stream: its affinity and pools leave no resource of this machine");
  }
  if (options.program != kNoProgram) {
    TAKT_RETURN_IF_ERROR(CheckPlaces(options));
  }
  stream->band = BandOf(options.criticality);
  stream->window = MetWindow(options.met_min, options.met_window);
  stream->fair = FairQueue(options.weight);
  TAKT_RETURN_IF_ERROR(CheckShares(*stream));
  UpdateDemand(stream.get());
  if (options.share_permille != 0) {
    stream->share =
        ShareAccount(options.share_permille, SharedCores(stream->allowed));
    sharing_.push_back(stream.get());
  }
  CountWeight(*stream, 1);
  const StreamId id = NewStreamId();
  stream->id = id;
  streams_[id] = std::move(stream);
  return id;
}

AdmissionTask Scheduler::TaskOf(const StreamRecord& stream) const {
  AdmissionTask task;
  task.stream = stream.id;
  task.options = stream.options;
  task.allowed = stream.allowed & available_;
  task.program = stream.options.program != kNoProgram
                     ? &programs_[stream.options.program]
                     : stream.expected.get();
  return task;
}

AdmissionReport Scheduler::AssessStream(StreamId id) const {
  TAKT_CHECK(id < streams_.size());
  std::vector<AdmissionTask> promised;
  bool has_job_leases = false;
  for (const auto& stream : streams_) {
    if (stream->is_removed) continue;
    has_job_leases |= stream->options.lease == LeaseScope::kJob;
    if (stream->band == Band::kPromised && stream->id != id) {
      promised.push_back(TaskOf(*stream));
    }
  }
  std::vector<uint32_t> speeds_permille;
  for (const PoolState& pool : pools_) {
    speeds_permille.push_back(pool.permille);
  }
  AdmissionReport report =
      Assess(TaskOf(*streams_[id]), promised, costs_, speeds_permille, policy_);
  const char* obstacle = nullptr;
  if (has_job_leases) obstacle = "a stream keeps an NPU between its operations";
  if (options_.advisor != nullptr && options_.advisor->is_prescribing()) {
    obstacle = "planned operations go before it";
  }
  if (obstacle == nullptr) return report;
  report.response_bound_ns = kInfiniteFuture;
  if (report.verdict == Verdict::kWillFit) {
    report.verdict = Verdict::kMightNot;
    report.reason = obstacle;
  }
  return report;
}

AdmissionReport Scheduler::Admit(StreamId id) {
  AdmissionReport report = AssessStream(id);
  StreamRecord& stream = *streams_[id];
  if (report.verdict == Verdict::kWillFit &&
      stream.options.criticality == Criticality::kHard) {
    stream.band = Band::kPromised;
  }
  return report;
}

void Scheduler::Withdraw(StreamId id) {
  TAKT_CHECK(id < streams_.size());
  StreamRecord& stream = *streams_[id];
  if (stream.band == Band::kPromised) stream.band = Band::kHard;
}

absl::Status Scheduler::SetExpected(
    StreamId id, absl::Span<const ProgramOperation> operations) {
  TAKT_CHECK(id < streams_.size());
  StreamRecord& stream = *streams_[id];
  TAKT_CHECK(stream.options.program == kNoProgram);
  TAKT_ASSIGN_OR_RETURN(JobProgram program,
                        JobProgram::Create(operations, costs_));
  stream.expected = std::make_unique<JobProgram>(std::move(program));
  UpdateDemand(&stream);
  return absl::OkStatus();
}

bool Scheduler::HasJobs(StreamId id) const {
  TAKT_CHECK(id < streams_.size());
  return streams_[id]->oldest != nullptr;
}

void Scheduler::RemoveStream(StreamId id) {
  TAKT_CHECK(!HasJobs(id) && !streams_[id]->is_removed);
  StreamRecord* stream = streams_[id].get();
  stream->is_removed = true;
  stream->expected.reset();
  sharing_.erase(std::remove(sharing_.begin(), sharing_.end(), stream),
                 sharing_.end());
  CountWeight(*stream, -1);
  free_streams_.push_back(id);
}

void Scheduler::UpdateDemand(StreamRecord* stream) {
  const StreamOptions& options = stream->options;
  JobProgram* const program = options.program != kNoProgram
                                  ? &programs_[options.program]
                                  : stream->expected.get();
  if (program == nullptr) return;
  if (program->version() != costs_.version()) program->Update(costs_);
  // Jobs without a period count as one in each deadline.
  const int64_t interval_ns =
      options.period_ns > 0 ? options.period_ns : options.deadline_ns;
  const double share = static_cast<double>(program->work_ns()) /
                       static_cast<double>(interval_ns) /
                       machine_.resource_count();
  stream->demand_ppm = static_cast<int64_t>(std::min(share, 1e6) * 1e6);
}

// nullptr if it has ended, or was given up.
JobRecord* Scheduler::FindOpenJob(JobId id) {
  return IsOpen(id) ? &jobs_[id.index] : nullptr;
}

OperationRecord* Scheduler::FindOperation(OperationId id) {
  TAKT_CHECK(IsLive(id));
  return &operations_[id.index];
}

bool Scheduler::IsLive(OperationId id) const {
  return id.index < operations_.size() &&
         operations_[id.index].state != OperationRecord::State::kFree &&
         operations_[id.index].generation == id.generation;
}

bool Scheduler::IsOpen(JobId id) const {
  return id.index < jobs_.size() && jobs_[id.index].is_live &&
         jobs_[id.index].generation == id.generation &&
         !jobs_[id.index].is_ending;
}

JobRecord* Scheduler::NewJob() {
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
    jobs_.back().index = static_cast<uint32_t>(jobs_.size() - 1);
    free_jobs_.push_back(&jobs_.back());
  }
  JobRecord* job = free_jobs_.back();
  free_jobs_.pop_back();
  SpareVector<uint32_t> pending = std::move(job->pending);
  const uint32_t index = job->index;
  const uint32_t generation = NextGeneration(job->generation);
  *job = JobRecord();
  job->pending = std::move(pending);
  job->index = index;
  job->generation = generation;
  job->is_live = true;
  ++live_job_count_;
  return job;
}

void Scheduler::FreeJob(JobRecord* job) {
  TAKT_DCHECK(job->operations == nullptr && job->running_count == 0);
  job->leased.ForEach([&](uint32_t npu) { leased_to_[npu] = {}; });
  StreamRecord* stream = job->stream;
  (job->stream_previous ? job->stream_previous->stream_next : stream->oldest) =
      job->stream_next;
  (job->stream_next ? job->stream_next->stream_previous : stream->newest) =
      job->stream_previous;
  job->is_live = false;
  --live_job_count_;
  if (stream->oldest == nullptr) stream->share.SetAsking(false, now_ns_);
  free_jobs_.push_back(job);
}

OperationRecord* Scheduler::NewOperation(JobRecord* job, KernelId kernel,
                                         uint32_t program_index) {
  if (free_operations_.empty()) {
    operations_.emplace_back();
    operations_.back().index = static_cast<uint32_t>(operations_.size() - 1);
    free_operations_.push_back(&operations_.back());
  }
  OperationRecord* operation = free_operations_.back();
  free_operations_.pop_back();
  const uint32_t index = operation->index;
  const uint32_t generation = NextGeneration(operation->generation);
  *operation = OperationRecord();
  operation->index = index;
  operation->generation = generation;
  operation->job = job;
  operation->kernel = kernel;
  operation->program_index = program_index;
  operation->job_next = job->operations;
  if (job->operations != nullptr) job->operations->job_previous = operation;
  job->operations = operation;
  return operation;
}

void Scheduler::FreeOperation(OperationRecord* operation) {
  JobRecord* job = operation->job;
  if (operation->facts.share_cores > 0) {
    auto& raised = job->stream->raised;
    raised.erase(std::remove(raised.begin(), raised.end(), operation),
                 raised.end());
  }
  if (operation->fair_expected_ns > 0) {
    job->stream->fair.Correct(operation->fair_expected_ns, operation->used_ns);
  }
  (operation->job_previous ? operation->job_previous->job_next
                           : job->operations) = operation->job_next;
  if (operation->job_next) {
    operation->job_next->job_previous = operation->job_previous;
  }
  operation->state = OperationRecord::State::kFree;
  free_operations_.push_back(operation);
}

}  // namespace takt::sched
