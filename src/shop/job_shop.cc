// The methods that other threads call, and how a thread becomes the decider.
#include "shop/job_shop.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/exceptions.h"
#include "base/sleeper.h"
#include "base/status.h"
#include "shop/advisor_switch.h"

namespace takt::shop {

void ScheduledStream::Release() const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    shop_->EndStream(*this);
  }
}

void ScheduledJob::Release() const {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    shop_->EndJob(*this);
  }
}

// A call of Run(), whose thread waits for it.
struct JobShop::Call : ShopEvent {
  Call(JobShop* shop_in,
       absl::FunctionRef<void(sched::Scheduler&, int64_t)> function_in)
      : shop(shop_in), function(function_in) {
    apply = [](ShopEvent* event) {
      auto* const self = static_cast<Call*>(event);
      TAKT_TRY { self->function(*self->shop->scheduler_, self->shop->at_ns_); }
      TAKT_CATCH(const std::bad_alloc&) { self->is_out_of_memory = true; }
      self->sleeper.Raise(kDone);  // The call may be gone now.
    };
  }
  static constexpr uint32_t kDone = 1;
  JobShop* const shop;
  absl::FunctionRef<void(sched::Scheduler&, int64_t)> function;
  bool is_out_of_memory = false;
  Sleeper sleeper;
};

absl::StatusOr<Ref<JobShop>> JobShop::Create(Ref<exec::Executor> executor,
                                             const JobShopOptions& options) {
  TAKT_ASSIGN_OR_RETURN(ResourceMap resources,
                        ResourceMap::Create(*executor, options.topology,
                                            options.is_placed, options.npus));
  auto shop = Ref<JobShop>::Adopt(
      new JobShop(std::move(executor), std::move(resources), options));
  sched::SchedulerOptions scheduler = options.scheduler;
  scheduler.advisor = shop->advisor_.get();
  // The executor's lanes run urgent tiles first on each thread.
  scheduler.yields_at_once = true;
  TAKT_ASSIGN_OR_RETURN(
      shop->scheduler_,
      sched::Scheduler::Create(shop->resource_map_.machine(), scheduler));
  shop->policy_name_ = shop->scheduler_->policy().name();
  shop->SetSpareBytes();
  shop->spare_.Provide(shop->spare_bytes_.load(std::memory_order_relaxed));
  return shop;
}

JobShop::JobShop(Ref<exec::Executor> executor, ResourceMap resources,
                 const JobShopOptions& options)
    : Object(&kType),
      executor_(std::move(executor)),
      timers_(options.timers),
      now_(options.now_ns),
      blocks_(BlockPool::Create()),
      resource_map_(std::move(resources)),
      advisor_(std::make_unique<AdvisorSwitch>()),
      trace_(executor_->tracer(), resource_map_.machine()) {
  timer_.shop = this;
  timer_.fire = &JobShop::OnTimer;
  timer_.fires_anywhere = true;
}

JobShop::~JobShop() {
  TAKT_CHECK(queue_.empty());
  TAKT_CHECK(notices_.empty());
  // No thread decides now, so they cannot end by an event.
  for (Ref<ScheduledStream>& stream : shared_streams_) delete stream.release();
}

void JobShop::Shutdown() {
  bool is_cancelled = false;
  {
    MutexLock lock(&timer_mutex_);
    is_shut_down_ = true;
    is_cancelled = armed_ns_ != kInfiniteFuture && timers_->Cancel(&timer_);
    if (is_cancelled) armed_ns_ = kInfiniteFuture;
  }
  if (is_cancelled) Release();
}

absl::StatusOr<Ref<ScheduledStream>> JobShop::AddStream(
    StreamRequirements requirements) {
  auto stream = Ref<ScheduledStream>::Adopt(
      new ScheduledStream(this, std::move(requirements)));
  absl::Status status;
  Run([&](sched::Scheduler&, int64_t) { status = TryAddStream(*stream); });
  TAKT_RETURN_IF_ERROR(status);
  return stream;
}

Ref<ScheduledStream> JobShop::StreamOf(uint8_t priority,
                                       const exec::WorkerSet* allowed) {
  MutexLock lock(&mutex_);
  for (const Ref<ScheduledStream>& stream : shared_streams_) {
    const StreamRequirements& requirements = stream->requirements();
    if (requirements.priority == priority && requirements.allowed == allowed)
      return stream;
  }
  shared_streams_.reserve(shared_streams_.size() + 1);
  StreamRequirements requirements;
  requirements.name = "calls";
  requirements.priority = priority;
  requirements.allowed = allowed;
  shared_streams_.push_back(Ref<ScheduledStream>::Adopt(
      new ScheduledStream(this, std::move(requirements))));
  return shared_streams_.back();
}

Ref<ScheduledJob> JobShop::ReleaseJob(ScheduledStream& stream,
                                      int64_t release_ns, int64_t deadline_ns,
                                      bool is_counted, uint64_t trace_id,
                                      bool may_miss) {
  spare_.Provide(spare_bytes_.load(std::memory_order_relaxed));
  if (trace_id == 0) trace_id = executor_->tracer().NewId();
  auto job = Ref<ScheduledJob>::Adopt(new (*blocks_) ScheduledJob(
      this, &stream, release_ns, deadline_ns, trace_id, may_miss));
  if (is_counted) {
    NotePosted(*job);
    Post<&JobShop::EnsureReleased>(&job->release_event_);
  }
  return job;
}

void JobShop::NotePosted(ScheduledJob& job) {
  // Sequentially consistent: ReviewLoan() sees it, or the decider the loan.
  if (!job.is_posted_.load(std::memory_order_relaxed)) {
    job.is_posted_.store(true, std::memory_order_seq_cst);
  }
}

void JobShop::Submit(ScheduledJob& job, Work* work) {
  TAKT_CHECK(work->tile_count > 0);
  spare_.Provide(spare_bytes_.load(std::memory_order_relaxed));
  auto* task = new (*blocks_) Task(this, &job, work);
  NotePosted(job);
  task->unseen_count_ = job.unseen_count_.load(std::memory_order_relaxed);
  Post<&JobShop::ApplyReady>(&task->event_);
}

void JobShop::EndShard(Task& task, Task::Outcome outcome,
                       exec::Worker& worker) {
  const Ref<JobShop> self = Ref<JobShop>::Retain(this);
  Work* const work = task.work_;
  switch (outcome) {
    case Task::Outcome::kGivenBack:
      task.SubmitMissing();
      return;
    case Task::Outcome::kShrunk:
      task.Retain();
      Post<&JobShop::ApplyShrunk>(&task.shrunk_event_);
      break;
    case Task::Outcome::kGivenUp:
      task.Release();
      work->GiveUp();
      break;
    case Task::Outcome::kStopped:
      Post<&JobShop::ApplyStopped>(&task.event_);
      break;
    default:
      TAKT_CHECK(outcome == Task::Outcome::kDone);
      Post<&JobShop::ApplyDone>(&task.event_);
      // This comes before the decision, because work that follows may need the
      // same cores.
      work->Finish(worker);
  }
  Flush();
}

void JobShop::EndStream(const ScheduledStream& stream) {
  Post<&JobShop::ApplyStreamEnd>(&stream.end_event_);
  Decide();
}

void JobShop::EndJob(const ScheduledJob& job) {
  if (!job.is_posted_.load(std::memory_order_acquire)) {
    delete &job;
    return;
  }
  Post<&JobShop::ApplyEnd>(&job.end_event_);
  Decide();
}

void JobShop::Drop(ScheduledJob& job) {
  if (job.is_drop_posted_.exchange(true, std::memory_order_acq_rel)) return;
  NotePosted(job);
  // The event holds the job until it is applied.
  job.Retain();
  Post<&JobShop::ApplyDrop>(&job.drop_event_);
  Decide();
}

void JobShop::ReviewLoan(ScheduledJob& job) {
  if (job.borrower() == nullptr ||
      !job.is_posted_.load(std::memory_order_seq_cst) ||
      job.is_loan_posted_.exchange(true, std::memory_order_acq_rel)) {
    return;
  }
  // The event holds the job until it is applied.
  job.Retain();
  Post<&JobShop::ApplyLoan>(&job.loan_event_);
  Decide();
}

void JobShop::Decide() {
  if (!queue_.Enter()) return;
  // A callback may release the shop.
  const Ref<JobShop> self = Ref<JobShop>::Retain(this);
  Notices notices;
  do {
    Drain(&notices);
  } while (!queue_.Leave());
  if (!notices.empty()) Notify(std::move(notices));
}

void JobShop::Run(
    absl::FunctionRef<void(sched::Scheduler&, int64_t now_ns)> function) {
  Call call(this, function);
  queue_.Post(&call);
  Decide();
  while ((call.sleeper.raised() & Call::kDone) == 0) {
    call.sleeper.Sleep(kInfiniteFuture);
  }
  if (call.is_out_of_memory) ThrowBadAlloc();
}

sched::AdmissionReport JobShop::Assess(ScheduledStream& stream) {
  return AskAdmission(stream, [&](sched::Scheduler& scheduler) {
    return scheduler.AssessStream(stream.id_);
  });
}

sched::AdmissionReport JobShop::Admit(ScheduledStream& stream) {
  return AskAdmission(stream, [&](sched::Scheduler& scheduler) {
    return scheduler.Admit(stream.id_);
  });
}

sched::AdmissionReport JobShop::AskAdmission(
    ScheduledStream& stream,
    absl::FunctionRef<sched::AdmissionReport(sched::Scheduler&)> ask) {
  sched::AdmissionReport report;
  Run([&](sched::Scheduler& scheduler, int64_t) {
    EnsureKnown(stream);
    ExpectLast(stream);
    report = ask(scheduler);
    RecordAdmission(stream, report);
  });
  return report;
}

sched::StreamId JobShop::IdOf(ScheduledStream& stream) {
  sched::StreamId id = 0;
  Run([&](sched::Scheduler&, int64_t) {
    EnsureKnown(stream);
    id = stream.id_;
  });
  return id;
}

bool JobShop::SwapAdvisor(sched::PlacementAdvisor* expected,
                          sched::PlacementAdvisor* advisor, bool sees_all) {
  bool is_expected = false;
  Run([&](sched::Scheduler& scheduler, int64_t now_ns) {
    is_expected = advisor_->set() == expected;
    if (!is_expected) return;
    advisor_->Set(advisor);
    schedules_all_.store(advisor != nullptr && sees_all,
                         std::memory_order_relaxed);
    scheduler.ReviewAdvised(now_ns);
  });
  return is_expected;
}

void JobShop::SetStandingAdvisor(sched::PlacementAdvisor* advisor) {
  Run([&](sched::Scheduler& scheduler, int64_t now_ns) {
    advisor_->SetStanding(advisor);
    scheduler.ReviewAdvised(now_ns);
  });
}

absl::StatusOr<uint32_t> JobShop::AddNpu(const NpuPlace& place) {
  absl::StatusOr<uint32_t> pool;
  Run([&](sched::Scheduler& scheduler, int64_t) {
    if (const auto reused = npus_.Reuse(place)) {
      pool = *reused;
      return;
    }
    NpuPlace known = place;
    sched::Pool added = resource_map_.PoolOf(place);
    added.name = NewPoolName(machine(), place.name);
    npus_.Reserve();
    resource_map_.ReserveNpu();
    pool = scheduler.AddPool(added);
    if (!pool.ok()) return;
    resource_map_.AddNpu(std::move(added));
    npus_.Add(std::move(known), *pool);
  });
  return pool;
}

void JobShop::RemoveNpu(uint32_t pool) { npus_.Remove(pool); }

sched::ResourceSet JobShop::gone() {
  sched::ResourceSet gone;
  Run([&](sched::Scheduler&, int64_t) {
    const uint32_t pools = npus_.gone_pools();
    for (uint32_t i = 0; i < machine().pools.size(); ++i) {
      if ((pools >> i & 1) != 0) gone = gone | machine().ResourcesOf(i);
    }
  });
  return gone;
}

absl::StatusOr<uint32_t> JobShop::FindPool(absl::string_view name) {
  int32_t index = -1;
  std::string names;
  Run([&](sched::Scheduler&, int64_t) {
    index = machine().FindPool(name);
    for (const sched::Pool& each : machine().pools) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", each.name);
    }
  });
  if (index >= 0) return static_cast<uint32_t>(index);
  return absl::NotFoundError(
      absl::StrCat("there is no pool ", name, "; there are ", names));
}

absl::Status JobShop::SetSpeed(uint32_t pool, uint32_t permille) {
  absl::Status status;
  Run([&](sched::Scheduler& scheduler, int64_t now_ns) {
    if (pool >= machine().pools.size()) {
      status = absl::InvalidArgumentError(
          absl::StrCat("pool ", pool, ": there are ", machine().pools.size()));
    } else if (permille == 0 || permille > 1'000'000) {
      status = absl::InvalidArgumentError(
          absl::StrCat(machine().pools[pool].name, ": a speed of ", permille,
                       " thousandths; expected 1 to 1000000"));
    } else if (scheduler.speed_permille(pool) != permille) {
      scheduler.SetSpeed(pool, permille, now_ns);
      if (trace_.is_on()) trace_.OnSpeed(now_ns, pool, permille);
    }
  });
  return status;
}

absl::Status JobShop::SetAvailable(uint32_t resource, bool is_available) {
  absl::Status status;
  Run([&](sched::Scheduler&, int64_t) {
    const uint32_t count = machine().resource_count();
    if (resource >= count) {
      status = absl::InvalidArgumentError(
          absl::StrCat("resource ", resource, ": there are ", count));
    } else {
      ApplyAvailable(resource, is_available);
    }
  });
  return status;
}

void JobShop::SetHot(HeatSource source, bool is_hot) {
  Run([&](sched::Scheduler&, int64_t) {
    is_hot_[static_cast<uint32_t>(source)] = is_hot;
    ApplyHeat();
  });
}

void JobShop::SetNpuHot(uint32_t pool, bool is_hot) {
  Run([&](sched::Scheduler&, int64_t) {
    TAKT_CHECK(machine().pools[pool].kind == sched::ResourceKind::kNpu);
    hot_npus_ = (hot_npus_ & ~(1u << pool)) | uint32_t{is_hot} << pool;
    ApplyHeat();
  });
}

void JobShop::SetNpuWorks(uint32_t pool, bool works) {
  Run([&](sched::Scheduler&, int64_t) {
    TAKT_CHECK(machine().pools[pool].kind == sched::ResourceKind::kNpu);
    const SpareVector<Task*> waiting = npu_tasks_;
    broken_npus_ = (broken_npus_ & ~(1u << pool)) | uint32_t{!works} << pool;
    for (Task* task : waiting) {
      if (IsStranded(*task)) StartUndecided(*task);
    }
    ApplyAvailable(machine().FirstOf(pool), works);
  });
}

std::vector<ResourceState> JobShop::resources() {
  std::vector<ResourceState> states;
  Run([&](sched::Scheduler& scheduler, int64_t) {
    for (uint32_t i = 0; i < machine().resource_count(); ++i) {
      const uint32_t pool = machine().PoolOf(i);
      states.push_back({machine().pools[pool].name, machine().pools[pool].kind,
                        resource_map_.cpus(i),
                        scheduler.available().Contains(i),
                        scheduler.speed_permille(pool)});
    }
  });
  return states;
}

ShopStatistics JobShop::statistics() {
  ShopStatistics statistics;
  Run([&](sched::Scheduler& scheduler, int64_t) {
    statistics = statistics_;
    statistics.predictions = scheduler.prediction_errors();
  });
  return statistics;
}

std::string JobShop::WriteProfile() {
  std::string bytes;
  Run([&](sched::Scheduler& scheduler, int64_t) {
    bytes = sched::WriteProfile(scheduler.costs(), profile_);
  });
  return bytes;
}

absl::StatusOr<sched::ProfileReport> JobShop::ReadProfile(
    absl::string_view bytes) {
  TAKT_ASSIGN_OR_RETURN(sched::ProfileData data,
                        sched::ProfileData::Parse(bytes));
  sched::ProfileReport report;
  Run([&](sched::Scheduler& scheduler, int64_t) {
    report = data.ApplyTo(scheduler.mutable_costs());
    profile_ = std::move(data);
  });
  return report;
}

void JobShop::SetCallbacks(std::function<void(const JobEnd&)> on_miss,
                           std::function<void(sched::Mode)> on_mode) {
  decltype(on_miss_) miss;
  decltype(on_mode_) mode;
  if (on_miss) {
    miss = std::make_shared<const decltype(on_miss)>(std::move(on_miss));
  }
  if (on_mode) {
    mode = std::make_shared<const decltype(on_mode)>(std::move(on_mode));
  }
  Run([&](sched::Scheduler&, int64_t) {
    on_miss_.swap(miss);
    on_mode_.swap(mode);
  });
  // The former ones are destroyed here: they may own what uses the shop.
}

uint64_t JobShop::lost_advisor_count() const { return advisor_->lost_count(); }

void JobShop::Notify(Notices notices) {
  for (Notice& notice : notices) {
    if (notice.given_up != nullptr) {
      notice.given_up->GiveUp();
      continue;
    }
    TAKT_TRY {
      if (notice.on_mode != nullptr) (*notice.on_mode)(notice.mode);
      if (notice.on_miss != nullptr) (*notice.on_miss)(notice.end);
    }
    TAKT_CATCH(const std::bad_alloc&) {}  // The callbacks after it still run.
  }
}

void JobShop::ArmTimer() {
  int64_t next_ns = scheduler_->next_timer_ns();
  // The mode is checked again for as long as something is not nominal.
  bool is_nominal =
      scheduler_->mode() == sched::Mode::kNominal && !scheduler_->is_hot() &&
      scheduler_->available().count() == machine().resource_count();
  for (uint32_t i = 0; i < machine().pools.size(); ++i) {
    is_nominal = is_nominal && scheduler_->speed_permille(i) >= 1000;
  }
  if (!is_nominal) {
    next_ns = std::min(next_ns, at_ns_ + sched::ModeController::kIntervalNs);
  }
  if (next_ns == kInfiniteFuture || timers_ == nullptr) return;
  MutexLock lock(&timer_mutex_);
  // A timer that fires too soon has no effect, and costs less than arming the
  // timer anew each time.
  if (is_shut_down_ || armed_ns_ <= next_ns) return;
  if (armed_ns_ != kInfiniteFuture) {
    if (!timers_->Cancel(&timer_)) return;  // It fires now, and arms itself.
  } else {
    Retain();  // The timer holds a reference.
  }
  TAKT_CHECK(next_ns < armed_ns_);
  armed_ns_ = next_ns;
  timers_->Arm(&timer_, next_ns);
}

void JobShop::OnTimer(TimerService::Timer* timer) {
  const auto self = Ref<JobShop>::Adopt(static_cast<Timer*>(timer)->shop);
  {
    MutexLock lock(&self->timer_mutex_);
    TAKT_CHECK(self->armed_ns_ != kInfiniteFuture);
    self->armed_ns_ = kInfiniteFuture;
  }
  self->Decide();
}

}  // namespace takt::shop
