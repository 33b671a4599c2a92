#include "exec/stealing_executor.h"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"

namespace takt::exec {
namespace {

// What is done before a thread that is woken for it has come.
constexpr int64_t kHelperNs = 15'000;
constexpr int64_t kSmallJobNs = 2 * kHelperNs;

// What has to be left of a job that runs before a backup_threads joins in. It
// may be another prompt thread that gives way to it, which then waits for a
// tick.
constexpr int64_t kBackupWorthNs = 100'000;
// Threads that one thread wakes for a job; each of them wakes as many.
constexpr uint32_t kWakeBranches = 2;

// Small enough to be left to the helper that submits it.
bool IsSmall(const Job& job) {
  if (job.expected_tile_ns <= 0) return job.tile_count == 1;
  return job.expected_tile_ns < kSmallJobNs / job.tile_count;
}

int64_t ExpectedNs(const Job& job, uint64_t tile_count) {
  if (job.expected_tile_ns <= 0) return kHelperNs;
  const auto tiles = static_cast<int64_t>(tile_count);
  return job.expected_tile_ns > std::numeric_limits<int64_t>::max() / tiles
             ? std::numeric_limits<int64_t>::max()
             : job.expected_tile_ns * tiles;
}

}  // namespace

ExecutorStatistics::Counts StealingExecutor::Counters::Read() const {
  return {jobs.value(),        tiles.value(),      ranges.value(),
          near_steals.value(), far_steals.value(), preemptions.value(),
          parks.value(),       wakes.value()};
}

StealingExecutor::Member*& StealingExecutor::ThisThread() {
  // Eight bytes that a library has without asking its loader each time.
  [[gnu::tls_model("initial-exec")]] thread_local Member* innermost = nullptr;
  return innermost;
}

Worker& StealingExecutor::ThisThreadsScratch() {
  thread_local Worker scratch;
  return scratch;
}

absl::StatusOr<Ref<Executor>> StealingExecutor::Create(const Options& options) {
  if (!options.placement.empty() &&
      options.placement.size() != options.worker_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("a placement of ", options.placement.size(),
                     " workers, and there are ", options.worker_count));
  }
  auto executor = Ref<StealingExecutor>::Adopt(new StealingExecutor(options));
  executor->PlaceWorkers(options);
  TAKT_RETURN_IF_ERROR(executor->StartWorkers(options));
  return Ref<Executor>(std::move(executor));
}

StealingExecutor::StealingExecutor(const Options& options)
    : Executor(options.tracer),
      concurrency_(options.concurrency_max > 0 ? options.concurrency_max
                                               : AvailableConcurrency()),
      spin_ns_(options.spin_ns),
      linger_ns_(std::max(options.linger_ns, options.spin_ns)),
      patience_ns_(options.linger_ns),
      donor_spin_max_ns_(options.worker_count >= concurrency_
                             ? patience_ns_
                             : kInfiniteFuture),
      is_placed_(!options.placement.empty()),
      timers_(options.timers),
      watches_jobs_(options.fifo_priority > 0 ||
                    (options.backup_threads && options.worker_count > 0 &&
                     options.hooks.create == nullptr)),
      is_pinned_(!options.placement.empty()) {}

void StealingExecutor::PlaceWorkers(const Options& options) {
  const CpuSet usable = options.topology != nullptr
                            ? options.topology->cpu_set()
                            : topology::AllowedCpus();
  int32_t cpu = -1;
  if (concurrency_ > 1 && usable.count() > 1) {
    for (uint32_t i = 0; i <= usable.count() / 2; ++i) {
      back_cpu_ = usable.Next(static_cast<uint32_t>(back_cpu_ + 1));
    }
  }
  for (uint32_t i = 0; i < options.worker_count; ++i) {
    auto seat = std::make_unique<Seat>();
    seat->index = i;
    if (is_placed_) {
      seat->placement = options.placement[i];
    } else {  // One each, over and over.
      cpu = usable.Next(static_cast<uint32_t>(cpu + 1));
      if (cpu < 0) cpu = usable.Next(0);
      if (cpu >= 0) seat->placement.Add(static_cast<uint32_t>(cpu));
    }
    const topology::CpuInfo* info =
        options.topology != nullptr && !seat->placement.empty()
            ? options.topology->FindCpu(
                  static_cast<uint32_t>(seat->placement.Next(0)))
            : nullptr;
    if (info != nullptr) seat->cluster = info->cluster;
    is_flat_ = is_flat_ && (i == 0 || workers_[0]->cluster == seat->cluster);
    seat->worker.index = i;
    seat->member.executor = this;
    seat->member.seat = seat.get();
    seat->member.place = i;
    seat->member.worker = &seat->worker;
    seat->member.counters = &seat->counters;
    seat->member.is_working = true;
    workers_.push_back(std::move(seat));
  }
  started_count_.store(options.worker_count, std::memory_order_relaxed);
}

absl::Status StealingExecutor::StartWorkers(const Options& options) {
  // The order of victims, before anyone runs.
  const auto count = static_cast<uint32_t>(workers_.size());
  const auto distance = [&](uint32_t a, uint32_t b) {
    const auto place = [&](uint32_t worker) -> const topology::CpuInfo* {
      const int32_t cpu = workers_[worker]->placement.Next(0);
      return cpu < 0 || options.topology == nullptr
                 ? nullptr
                 : options.topology->FindCpu(static_cast<uint32_t>(cpu));
    };
    const topology::CpuInfo* x = place(a);
    const topology::CpuInfo* y = place(b);
    if (x == nullptr || y == nullptr) return 0;
    return x->package != y->package       ? 4
           : x->numa_node != y->numa_node ? 3
           : x->cluster != y->cluster     ? 2
           : x->core != y->core           ? 1
                                          : 0;
  };
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<uint32_t>& victims = workers_[i]->victims;
    // From the next one on, so that they don't all start with the first.
    for (uint32_t j = 1; j < count; ++j) victims.push_back((i + j) % count);
    if (options.topology == nullptr) continue;
    std::stable_sort(victims.begin(), victims.end(),
                     [&](uint32_t a, uint32_t b) {
                       return distance(i, a) < distance(i, b);
                     });
  }
  uint32_t started = 0;
  absl::Status error;
  active_.store(count, std::memory_order_relaxed);
  for (; started < count; ++started) {
    Seat& seat = *workers_[started];
    const WorkerThread::Options thread = ThreadOptions(options, seat);
    seat.trace_name = thread.TraceName();
    error = seat.thread.Start(thread, &RunThread, &seat);
    if (!error.ok()) break;
  }
  StartBackups(options);
  if (started == count) return absl::OkStatus();
  // Those that run may look at the seats of the others, so they stay.
  active_.fetch_sub(count - started, std::memory_order_seq_cst);
  started_count_.store(started, std::memory_order_seq_cst);
  if (started > 0) return absl::OkStatus();
  Shutdown();
  return error;
}

WorkerThread::Options StealingExecutor::ThreadOptions(const Options& options,
                                                      const Seat& seat) const {
  WorkerThread::Options thread;
  thread.name = absl::StrCat(options.name, "-", seat.index);
  thread.worker = seat.index;
  thread.stack_bytes = options.stack_bytes;
  if (is_placed_) thread.cpus = seat.placement;
  thread.fifo_priority = options.fifo_priority;
  thread.hooks = options.hooks;
  thread.reports_faults = options.reports_faults;
  thread.on_report = options.on_thread;
  return thread;
}

StealingExecutor::~StealingExecutor() {
  Shutdown();
  TAKT_CHECK(shared_mailbox_.lanes() == 0);
}

void StealingExecutor::Shutdown() {
  {
    MutexLock lock(&mutex_);
    if (stopping_.load(std::memory_order_relaxed)) return;
    stopping_.store(true, std::memory_order_seq_cst);
  }
  if (Member* const member = MemberHere()) SpillNext(*member);
  idle_.ForEach(
      [](IdleNode& node) { static_cast<Member&>(node).sleeper.Raise(kWork); });
  for (uint32_t i = 0; i < worker_count(); ++i) {
    Seat& seat = *workers_[i];
    seat.holds_executor = DetachOrJoin(seat.thread);
    if (seat.backup_threads == nullptr) continue;
    seat.backup_threads->member.sleeper.Raise(kWork);
    seat.backup_threads->holds_executor =
        DetachOrJoin(seat.backup_threads->thread);
  }
  timers_.reset();  // Whoever holds the executor holds no thread by that.
  if (!IsWorking()) RunHere();
}

bool StealingExecutor::DetachOrJoin(WorkerThread& thread) {
  if (!thread.IsThisThread()) {
    thread.Join();
    return false;
  }
  // A thread lets its own executor go: it can't wait for itself.
  Retain();
  thread.Detach();
  return true;
}

uint32_t StealingExecutor::max_concurrency() const {
  return std::min(concurrency_, worker_count() + 1);
}

StealingExecutor::Member* StealingExecutor::MemberHere() const {
  for (Member* m = ThisThread(); m != nullptr; m = m->outer) {
    if (m->executor == this) return m;
  }
  return nullptr;
}

StealingExecutor::Member* StealingExecutor::WorkingMemberHere() const {
  Member* const member = MemberHere();
  return member != nullptr && member->is_working ? member : nullptr;
}

Worker* StealingExecutor::current_worker() {
  Member* const member = MemberHere();
  return member != nullptr ? member->worker : nullptr;
}

uint32_t StealingExecutor::HelpersWorth(const Job& job) const {
  uint64_t helpers = job.unclaimed_count(std::memory_order_relaxed);
  if (job.is_single() || helpers == 0) return 0;
  if (job.expected_tile_ns > 0) {
    helpers = std::min<uint64_t>(
        helpers, static_cast<uint64_t>(ExpectedNs(job, helpers) / kHelperNs));
  }
  if (job.allowed != nullptr) {
    helpers = std::min<uint64_t>(helpers, job.allowed->count());
  }
  return static_cast<uint32_t>(std::min<uint64_t>(helpers, concurrency_));
}

bool StealingExecutor::IsWorthBackup(const Job& job) const {
  const uint32_t unclaimed = job.unclaimed_count(std::memory_order_relaxed);
  return unclaimed > 0 && (job.expected_tile_ns <= 0 ||
                           ExpectedNs(job, unclaimed) >= kBackupWorthNs);
}

void StealingExecutor::Submit(Job* job) {
  TAKT_DCHECK(job->tile_count > 0 && job->lane < kLaneCount);
  job->claimed_.store(0, std::memory_order_relaxed);
  job->tickets_.store(1, std::memory_order_relaxed);
  job->is_posted_.store(false, std::memory_order_relaxed);
  job->is_being_posted_.store(false, std::memory_order_relaxed);
  if (job->scope != nullptr) job->scope->Begin();
  if (has_backups_ &&
      (used_lanes_.load(std::memory_order_relaxed) >> job->lane & 1) == 0) {
    used_lanes_.fetch_or(1u << job->lane, std::memory_order_relaxed);
  }
  Member* const member = MemberHere();
  if (member != nullptr && member->is_working) {
    SubmitWorking(*member, job);
    return;
  }
  const bool stopping = stopping_.load(std::memory_order_seq_cst);
  if (job->allowed != nullptr && !stopping) {
    PostLimited(job);
    return;
  }
  // A helper is one that comes by itself: if it is here that its thread waits
  // next, and not elsewhere.
  const bool is_donor = member != nullptr && member == ThisThread() &&
                        job->lane >= member->worker->lane_min_;
  if (is_donor && member->next == nullptr && job->is_single() &&
      IsSmall(*job) && !stopping) {
    member->next = job;
    return;
  }
  uint32_t threads = 0;
  if (!is_donor || !IsSmall(*job)) {
    const uint32_t helpers = HelpersWorth(*job);
    threads = std::clamp<uint32_t>(helpers, 1, kWakeBranches);
  }
  const uint32_t lane = job->lane;
  shared_mailbox_.Post(job);  // It may be gone now.
  SetUrgent(lane);
  Wake(threads, lane, nullptr, nullptr, is_donor ? 1 : 0);
  if (!is_donor) WakeBackupIfNeeded(lane, nullptr);
  if (stopping) RunHere();
}

void StealingExecutor::SubmitWorking(Member& member, Job* job) {
  if (job->allowed != nullptr &&
      (!job->is_single() || !Mailbox::MayRun(*job, MailWorker(member)))) {
    PostLimited(job);
    return;
  }
  if (member.is_finishing && job->lane >= member.lane_min) {
    // Last in, first out: what it needs is in the cache.
    Job* other = std::exchange(member.next, job);
    if (other == nullptr) return;
    if (other->lane == job->lane && other->deadline_ns < job->deadline_ns) {
      std::swap(other, member.next);
    }
    PushSurplus(member, other);
    return;
  }
  if (job->allowed != nullptr) {
    PostLimited(job);
    return;
  }
  const uint32_t lane = job->lane;
  const uint32_t threads =
      std::clamp<uint32_t>(HelpersWorth(*job), 1, kWakeBranches);
  const bool is_small =
      lane >= member.lane_min && job->expected_tile_ns > 0 && IsSmall(*job);
  const bool is_own = member.seat != nullptr && !job->has_deadline();
  (is_own ? member.seat->mailbox : shared_mailbox_).Post(job);
  SetUrgent(lane);
  if (!is_small) Wake(threads, lane, nullptr, &member, 0);
}

void StealingExecutor::PushSurplus(Member& member, Job* job) {
  if (job->allowed != nullptr) {
    PostLimited(job);
    return;
  }
  const uint32_t lane = job->lane;
  member.backlog_ns += std::min(ExpectedNs(*job, job->tile_count), kHelperNs);
  const bool is_own = member.seat != nullptr && !job->has_deadline();
  bool is_pushed = false;
  if (is_own) {
    Seat& seat = *member.seat;
    const uint32_t lanes = seat.deque_lanes.load(std::memory_order_relaxed);
    if ((lanes >> lane & 1) == 0) {
      seat.deque_lanes.store(lanes | 1u << lane, std::memory_order_seq_cst);
    }
    is_pushed = seat.deques[lane].Push(job);
  }
  if (!is_pushed) {
    (is_own ? member.seat->mailbox : shared_mailbox_).Post(job);
  }
  SetUrgent(lane);
  if (member.backlog_ns >= kHelperNs) {
    member.backlog_ns = 0;
    Wake(1, lane, nullptr, &member, 0);
  }
}

void StealingExecutor::SpillNext(Member& member) {
  if (Job* const job = std::exchange(member.next, nullptr)) {
    const uint32_t lane = job->lane;
    const bool is_limited = job->allowed != nullptr;
    PushSurplus(member, job);
    if (!is_limited)
      WakeBackupIfNeeded(lane, nullptr);  // Else PushSurplus() has.
  }
}

void StealingExecutor::PostLimited(Job* job) {
  // To one that sleeps if there is one, else to whom has the least to do.
  const WorkerSet& allowed = *job->allowed;
  Seat* target = nullptr;
  for (auto& seat : workers_) {
    if (!allowed.Contains(seat->index)) continue;
    if (target == nullptr || seat->mailbox.size() < target->mailbox.size()) {
      target = seat.get();
    }
  }
  TAKT_CHECK(target != nullptr);
  const uint32_t lane = job->lane;
  const uint32_t threads =
      std::clamp<uint32_t>(HelpersWorth(*job), 1, kWakeBranches);
  target->mailbox.Post(job);
  // The job may be gone; the set is the executor's.
  for (auto& seat : workers_) {
    if (!allowed.Contains(seat->index)) continue;
    Want(*seat, lane);
  }
  Wake(threads, lane, &allowed, nullptr, 0);
  WakeBackupIfNeeded(lane, &allowed);
  if (stopping_.load(std::memory_order_seq_cst) && !IsWorking()) RunHere();
}

void StealingExecutor::Want(Seat& seat, uint32_t lane) {
  for (Member* member : {&seat.member, seat.backup_threads != nullptr
                                           ? &seat.backup_threads->member
                                           : nullptr}) {
    if (member == nullptr) continue;
    std::atomic<uint32_t>& wanted = member->wanted_lanes;
    if ((wanted.load(std::memory_order_seq_cst) >> lane & 1) == 0) {
      wanted.fetch_or(1u << lane, std::memory_order_seq_cst);
    }
  }
}

void StealingExecutor::SetUrgent(uint32_t lane) {
  // Mostly set already, and then the line stays shared.
  if ((urgent_lanes_.load(std::memory_order_seq_cst) >> lane & 1) == 0) {
    urgent_lanes_.fetch_or(1u << lane, std::memory_order_seq_cst);
  }
}

void StealingExecutor::Wake(uint32_t count, uint32_t lane,
                            const WorkerSet* allowed, const Member* from,
                            uint32_t others) {
  if (count == 0 || !idle_.HasIdle()) return;
  if (allowed == nullptr) {
    // Those that look already will find it.
    const uint32_t searching = searching_.load(std::memory_order_seq_cst);
    if (count <= searching) return;
    count -= searching;
  }
  for (; count > 0; --count) {
    if (allowed == nullptr &&
        active_.load(std::memory_order_seq_cst) + others >= concurrency_) {
      return;
    }
    if (!WakeOne(lane, allowed, from)) return;
  }
}

bool StealingExecutor::WakeOne(uint32_t lane, const WorkerSet* allowed,
                               const Member* from) {
  // The kernel has a thread wake up where it slept; if that is where this one
  // is, and all processors were busy lately, it leaves both there for a while.
  const int here = sched_getcpu();
  const auto distance = [&](const IdleNode& node) {
    const auto& idle = static_cast<const Member&>(node);
    const int collides = idle.last_cpu == here ? 1 : 0;
    if (lane < idle.lane_min) return -1;
    if (allowed != nullptr &&
        (idle.seat == nullptr || !allowed->Contains(idle.seat->index))) {
      return -1;
    }
    if (is_flat_ || from == nullptr || from->seat == nullptr ||
        idle.seat == nullptr) {
      return collides;
    }
    return collides + (idle.seat->cluster == from->seat->cluster ? 0 : 2);
  };
  bool is_raised = false;
  auto* woken = static_cast<Member*>(idle_.Take(distance, [&](IdleNode& node) {
    auto& idle = static_cast<Member&>(node);
    active_.fetch_add(1, std::memory_order_seq_cst);
    // A helper takes the lock before it goes on, and may be gone after that; a
    // worker stays.
    if (idle.is_donor) {
      is_raised = true;
      idle.sleeper.Raise(kWork);
    }
  }));
  if (woken == nullptr) return false;
  if (!is_raised) woken->sleeper.Raise(kWork);
  if (from != nullptr) from->counters->wakes.Add(1);
  return true;
}

void StealingExecutor::Flush() {
  if (Member* const member = MemberHere()) {
    SpillNext(*member);
    if (member->is_working) return;
  }
  if (shared_mailbox_.lanes() == 0) return;
  if (workers_.empty() || stopping_.load(std::memory_order_acquire)) {
    RunHere();
    return;
  }
  Wake(kWakeBranches, kLaneCount - 1, nullptr, nullptr, 0);
}

void StealingExecutor::Trim() {
  trim_count_.fetch_add(1, std::memory_order_seq_cst);
  idle_.ForEach(
      [](IdleNode& node) { static_cast<Member&>(node).sleeper.Raise(kWork); });
}

absl::StatusOr<const WorkerSet*> StealingExecutor::FindAffinity(
    const CpuSet& cpus) {
  MutexLock lock(&mutex_);
  for (const Affinity& known : affinities_) {
    if (known.cpus == cpus) return known.set;
  }
  WorkerSet set;
  std::vector<std::string> places;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    const Seat& seat = *workers_[i];
    if (seat.placement.IsSubsetOf(cpus)) set.Add(i);
    places.push_back(seat.placement.ToString());
  }
  if (set.count() == 0 && worker_count() > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "affinity ", cpus.ToString(), ": no worker is there; they are on ",
        absl::StrJoin(places, ", ")));
  }
  const WorkerSet* found = nullptr;
  if (set.count() < worker_count()) found = FindWorkerSet(std::move(set));
  affinities_.push_back({cpus, found});
  return found;
}

const WorkerSet* StealingExecutor::FindWorkers(const WorkerSet& workers) {
  TAKT_CHECK(workers.count() > 0);
  MutexLock lock(&mutex_);
  if (workers.count() >= worker_count()) return nullptr;
  return FindWorkerSet(workers);
}

const WorkerSet* StealingExecutor::FindWorkerSet(WorkerSet set) {
  if (!is_pinned_) {
    is_pinned_ = true;
    for (uint32_t i = 0; i < worker_count(); ++i) {
      Seat& seat = *workers_[i];
      seat.thread.SetAffinity(seat.placement);
      if (seat.backup_threads != nullptr) {
        seat.backup_threads->thread.SetAffinity(seat.placement);
      }
    }
  }
  for (const auto& known : worker_sets_) {
    if (*known == set) return known.get();
  }
  worker_sets_.push_back(std::make_unique<WorkerSet>(std::move(set)));
  return worker_sets_.back().get();
}

ExecutorStatistics StealingExecutor::statistics() const {
  ExecutorStatistics result;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    const auto& seat = workers_[i];
    ExecutorStatistics::Worker worker;
    worker.placement = seat->placement;
    worker.thread = seat->thread.report();
    worker.local_bytes = seat->local_bytes.load(std::memory_order_relaxed);
    worker.counts = seat->counters.Read();
    result.workers.push_back(std::move(worker));
    if (seat->backup_threads != nullptr) {
      result.backup_threads += seat->backup_threads->counters.Read();
    }
  }
  {
    MutexLock lock(&mutex_);
    result.helping_callers = donor_counts_;
  }
  result.awake_count = active_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace takt::exec
