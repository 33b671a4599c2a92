#include "npu/npu_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/duration_text.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "cpu/resource_waits.h"
#include "npu/operation.h"
#include "npu/reference.h"
#include "npu/staging.h"

namespace takt::npu {
namespace {

// A retry would end the same way.
bool IsRefusal(takt_npu_result_t result) {
  return result == TAKT_NPU_RESULT_UNSUPPORTED ||
         result == TAKT_NPU_RESULT_INVALID ||
         result == TAKT_NPU_RESULT_NO_MEMORY;
}

uint64_t CountMacs(absl::Span<const takt_npu_operation_t> operations) {
  uint64_t count = 0;
  for (const takt_npu_operation_t& operation : operations) {
    if (operation.kind != TAKT_NPU_KIND_MMT4D) continue;
    const takt_npu_mmt4d_t& p = operation.mmt4d;
    count += static_cast<uint64_t>(p.m * p.m0) *
             static_cast<uint64_t>(p.n * p.n0) *
             static_cast<uint64_t>(p.k * p.k0);
  }
  return count;
}

}  // namespace

absl::StatusOr<Ref<NpuUnit>> NpuUnit::Open(
    const takt_npu_driver_t* table, Options options,
    std::shared_ptr<DriverLibrary> library) {
  TAKT_ASSIGN_OR_RETURN(const takt_npu_driver_t driver, CheckDriver(table));
  auto unit = Ref<NpuUnit>::Adopt(
      new NpuUnit(driver, std::move(options), std::move(library)));
  char error[256] = "";
  void* opened = nullptr;
  const takt_npu_result_t result =
      driver.open(&unit->host_, unit->options_.driver_options.c_str(), &opened,
                  error, sizeof(error));
  if (result != TAKT_NPU_RESULT_OK) {
    error[sizeof(error) - 1] = '\0';
    return ResultStatus(KnownResult(result),
                        absl::StrCat("NPU driver ", driver.name, ": open",
                                     error[0] != '\0' ? ": " : "", error));
  }
  unit->unit_ = opened;
  TAKT_ASSIGN_OR_RETURN(unit->capabilities_, QueryCapabilities(driver, opened));
  TAKT_RETURN_IF_ERROR(unit->Claim());
  unit->trace_.Open(driver.name);
  return unit;
}

absl::Status NpuUnit::Claim() {
  const char* const path = capabilities_.path;
  const bool is_shared = !options_.lease_path.empty();
  if (path[0] != '\0') {
    claim_ = UniqueFd(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    const std::string what = absl::StrCat("NPU ", driver_.name, ": ", path);
    if (!claim_.valid()) return absl::ErrnoToStatus(errno, what);
    if (flock(claim_.get(), (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return absl::ErrnoToStatus(errno, what);
      return absl::FailedPreconditionError(absl::StrCat(
          what,
          ": another process or device uses the unit; to share it, name "
          "the same lease_path in the options of each"));
    }
  }
  if (!is_shared) return absl::OkStatus();
  // A turn is an operation, which may be cancelled, and then a reset.
  constexpr int64_t kMarginNs = 1'000'000'000;
  const int64_t limit_ns = options_.policy.time_limit_ns;
  const int64_t turn_max_ns = limit_ns < SharedLease::kTurnMaxNs / 2
                                  ? 2 * limit_ns + kMarginNs
                                  : SharedLease::kTurnMaxNs;
  TAKT_ASSIGN_OR_RETURN(auto shared,
                        SharedLease::Join(options_.lease_path, turn_max_ns));
  lease_.Share(std::move(shared));
  return absl::OkStatus();
}

SharedLease::Statistics NpuUnit::shared_lease_statistics() const {
  return lease_.shared() != nullptr ? lease_.shared()->statistics()
                                    : SharedLease::Statistics();
}

NpuUnit::NpuUnit(const takt_npu_driver_t& driver, Options options,
                 std::shared_ptr<DriverLibrary> library)
    : Object(&kType),
      driver_(driver),
      options_(std::move(options)),
      library_(std::move(library)),
      stand_in_(std::make_unique<Reference>()),
      staging_(std::make_unique<Staging>(*this)),
      trace_(options_.tracer),
      quarantine_(options_.policy),
      watchdog_(*options_.time, [this] { CancelImport(); }) {
  std::memset(&capabilities_, 0, sizeof(capabilities_));
  host_.struct_size = sizeof(host_);
  host_.user_data = options_.time.get();
  host_.now_ns = [](void* time) {
    return static_cast<Timebase*>(time)->NowNs();
  };
  host_.schedule = [](void* time, int64_t at_ns, void (*call)(void* argument),
                      void* argument) {
    static_cast<Timebase*>(time)->Schedule(at_ns, call, argument);
  };
}

NpuUnit::~NpuUnit() {
  staging_.reset();
  options_.time->Drain();
  if (unit_ != nullptr) driver_.close(unit_);
}

void NpuUnit::OnComplete(void* user_data, uint64_t id,
                         takt_npu_result_t result) {
  auto* self = static_cast<NpuUnit*>(user_data);
  MutexLock lock(&self->mutex_);
  if (id == 0 || id != self->running_id_) {
    ++self->statistics_.stray_completion_count;
    return;
  }
  self->running_id_ = 0;
  self->running_result_ = KnownResult(result);
  // Under the lock: the thread that waits takes the lock before it continues,
  // so this object outlives the call.
  self->sleeper_.Raise(kEnded);
}

NpuUnit::Outcome NpuUnit::RunBatch(
    absl::Span<const takt_npu_operation_t> operations, const Urgency& urgency,
    int64_t time_limit_ns) {
  Timebase& time = *options_.time;
  takt_npu_batch_t batch;
  batch.struct_size = sizeof(batch);
  batch.id = ++last_id_;
  batch.operations = operations.data();
  batch.operation_count = operations.size();
  batch.complete = &NpuUnit::OnComplete;
  batch.user_data = this;
  std::list<NpuBatchRecord> record = NewRecord();
  sleeper_.Take(kEnded);
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(running_id_ == 0);  // Invariant (1).
    running_id_ = batch.id;
    ++statistics_.batch_count;
  }
  NpuBatchRecord event;
  event.id = batch.id;
  event.urgency = urgency;
  event.turn = turn_;
  event.start_ns = time.NowNs();
  const int64_t traced_ns = trace_.BeginNs();
  Outcome outcome;
  outcome.result = Submit(batch);
  if (outcome.result == TAKT_NPU_RESULT_OK) {
    outcome.result =
        WaitForBatch(batch.id, DeadlineAfter(event.start_ns, time_limit_ns),
                     &outcome.is_time_out);
  }
  event.end_ns = time.NowNs();
  event.result = outcome.result;
  event.is_time_out = outcome.is_time_out;
  if (traced_ns != 0) {
    trace_.Batch(batch.id, traced_ns, outcome.result, operations.size());
  }
  MutexLock lock(&mutex_);
  TAKT_CHECK(running_id_ == 0 || running_id_ == batch.id);
  TAKT_CHECK(event.end_ns >= event.start_ns);
  running_id_ = 0;
  statistics_.busy_ns += static_cast<uint64_t>(event.end_ns - event.start_ns);
  TAKT_CHECK(event.turn.granted == turn_.granted);  // The lease was kept.
  if (!record.empty()) record.front() = event;
  events_.splice(events_.end(), record);
  return outcome;
}

std::list<NpuBatchRecord> NpuUnit::NewRecord() {
  std::list<NpuBatchRecord> record;
  if (options_.event_count_max == 0) return record;
  MutexLock lock(&mutex_);
  TAKT_CHECK(events_.size() <= options_.event_count_max);
  if (events_.size() == options_.event_count_max) {
    record.splice(record.end(), events_, events_.begin());
  } else {
    record.emplace_back();
  }
  return record;
}

// Drivers in C++ may find no memory, too.
takt_npu_result_t NpuUnit::Submit(const takt_npu_batch_t& batch) {
  TAKT_TRY { return KnownResult(driver_.submit(unit_, &batch)); }
  TAKT_CATCH(const std::bad_alloc&) { return TAKT_NPU_RESULT_NO_MEMORY; }
}

takt_npu_result_t NpuUnit::WaitForBatch(uint64_t id, int64_t deadline_ns,
                                        bool* is_time_out) {
  if (!options_.time->Wait(sleeper_, kEnded, deadline_ns) && GiveUp()) {
    *is_time_out = true;
    return EndBatch(id);
  }
  MutexLock lock(&mutex_);
  TAKT_CHECK(running_id_ == 0);  // OnComplete() took it back.
  return running_result_;
}

// False if the batch has completed. What completes afterwards is stray: a
// driver that is asked to cancel may say so of a batch that it has not done.
bool NpuUnit::GiveUp() {
  MutexLock lock(&mutex_);
  if (running_id_ == 0) return false;
  running_id_ = 0;
  return true;
}

takt_npu_result_t NpuUnit::EndBatch(uint64_t id) {
  if (driver_.cancel(unit_, id) == TAKT_NPU_RESULT_OK)
    return TAKT_NPU_RESULT_CANCELLED;
  return Reset() ? TAKT_NPU_RESULT_CANCELLED : TAKT_NPU_RESULT_LOST;
}

bool NpuUnit::Reset() {
  NoteFault(NpuFaultAction::kReset);
  const bool works = driver_.reset(unit_) == TAKT_NPU_RESULT_OK;
  quarantine_.SetLost(!works);
  TAKT_CHECK(quarantine_.is_lost() == !works);
  MutexLock lock(&mutex_);
  TAKT_CHECK(running_id_ == 0 || running_id_ == last_id_);
  ++statistics_.reset_count;
  return works;
}

void NpuUnit::CountOutcome(const Outcome& outcome) {
  MutexLock lock(&mutex_);
  NpuStatistics& s = statistics_;
  if (outcome.is_time_out) ++s.time_out_count;
  if (IsRefusal(outcome.result)) {
    ++s.refused_count;
    return;
  }
  switch (outcome.result) {
    case TAKT_NPU_RESULT_OK:
      break;
    case TAKT_NPU_RESULT_CORRUPTED:
      ++s.corrupted_count;
      break;
    case TAKT_NPU_RESULT_CANCELLED:
      s.cancelled_count += !outcome.is_time_out;
      break;
    case TAKT_NPU_RESULT_OVERHEATED:
      ++s.overheated_count;
      break;
    case TAKT_NPU_RESULT_LOST:
      ++s.lost_count;
      break;
    default:
      ++s.failed_count;
      break;
  }
}

void NpuUnit::NoteOutcome(const Outcome& outcome) {
  CountOutcome(outcome);
  if (IsRefusal(outcome.result)) return;
  if (outcome.result == TAKT_NPU_RESULT_OK) {
    quarantine_.NoteSuccess();
    return;
  }
  bool works = outcome.result != TAKT_NPU_RESULT_LOST;
  if (!works && !outcome.is_time_out) works = Reset();
  const bool is_worn_out = quarantine_.NoteFailure();
  if (!works || outcome.result == TAKT_NPU_RESULT_OVERHEATED || is_worn_out) {
    BeginQuarantine();
  }
}

void NpuUnit::BeginQuarantine() {
  NoteFault(NpuFaultAction::kQuarantine,
            quarantine_.Begin(options_.time->NowNs()));
  TAKT_CHECK(quarantine_.is_on());
  MutexLock lock(&mutex_);
  ++statistics_.quarantine_count;
}

absl::Status NpuUnit::CheckHealth() {
  if (!quarantine_.is_on()) return absl::OkStatus();
  if (quarantine_.IsClosed(options_.time->NowNs())) {
    return absl::UnavailableError(
        absl::StrCat("NPU ", driver_.name, ": in quarantine"));
  }
  {
    MutexLock lock(&mutex_);
    ++statistics_.probe_count;
  }
  NoteFault(NpuFaultAction::kProbe);
  if ((quarantine_.is_lost() && !Reset()) || !Probe()) {
    BeginQuarantine();
    return absl::UnavailableError(
        absl::StrCat("NPU ", driver_.name, ": it failed a probe"));
  }
  quarantine_.End();
  TAKT_CHECK(!quarantine_.is_on());
  return absl::OkStatus();
}

bool NpuUnit::Probe() {
  const auto has = [this](uint32_t kind) {
    return (capabilities_.kinds >> kind & 1) != 0;
  };
  // A unit with other memory or operations is probed by its next real batch.
  if (!in_host_memory() || !has(TAKT_NPU_KIND_FILL)) return true;
  alignas(64) uint32_t words[16] = {};
  constexpr uint32_t kPattern = 0x5aa5c33c;
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = TAKT_NPU_KIND_FILL;
  operation.fill.out = {reinterpret_cast<uint8_t*>(words), 0, 0, sizeof(words)};
  operation.fill.size0 = 1;
  operation.fill.size1 = 16;
  operation.fill.stride0 = 16;
  operation.fill.stride1 = 1;
  operation.fill.pattern = kPattern;
  TAKT_DCHECK(CheckOperands(operation).ok());
  const Outcome outcome =
      RunBatch({&operation, 1}, Urgency(), options_.policy.time_limit_ns);
  if (outcome.result != TAKT_NPU_RESULT_OK) {
    if (outcome.result == TAKT_NPU_RESULT_LOST) Reset();
    return false;
  }
  return std::all_of(std::begin(words), std::end(words),
                     [](uint32_t word) { return word == kPattern; });
}

NpuUnit::Outcome NpuUnit::RunAll(
    absl::Span<const takt_npu_operation_t> operations,
    const NpuRequest& request, int64_t time_limit_ns) {
  const size_t batch_max = capabilities_.batch_max != 0
                               ? capabilities_.batch_max
                               : std::max<size_t>(operations.size(), 1);
  Outcome outcome;
  while (!operations.empty()) {
    const size_t count = std::min(batch_max, operations.size());
    TAKT_CHECK(count > 0 && count <= operations.size());
    outcome =
        RunBatch(operations.subspan(0, count), request.urgency, time_limit_ns);
    if (outcome.result != TAKT_NPU_RESULT_OK) return outcome;
    operations.remove_prefix(count);
    if (!operations.empty() && lease_.shared() != nullptr) {
      lease_.shared()->Beat();
    }
  }
  if (request.check != nullptr)
    outcome.result = KnownResult((*request.check)());
  return outcome;
}

class NpuUnit::Turn {
 public:
  Turn(NpuUnit& unit, const Urgency& urgency)
      : unit_(unit), asked_ns_(unit.trace_.BeginNs()) {
    unit.turn_ = unit.lease_.Acquire(urgency);
    TAKT_CHECK(unit.turn_.granted > unit.turn_.asked);
    granted_ns_ = ::takt::NowNs();
    cpu::ResourceWaits::NoteGrant(unit.turn_.waited_ns);
  }
  ~Turn() {
    const int64_t held_ns = ::takt::NowNs() - granted_ns_;
    TAKT_CHECK(held_ns >= 0);
    const int64_t mean_ns = unit_.turn_mean_ns_.load(std::memory_order_relaxed);
    unit_.turn_mean_ns_.store(
        mean_ns == 0 ? held_ns : mean_ns + (held_ns - mean_ns) / 8,
        std::memory_order_relaxed);
    if (asked_ns_ != 0) {
      unit_.trace_.Lease(unit_.last_id_, asked_ns_, granted_ns_);
    }
    unit_.lease_.Release();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  NpuUnit& unit_;
  const int64_t asked_ns_;  // 0: nothing is recorded.
  int64_t granted_ns_;
};

int64_t NpuUnit::ExpectedWaitNs(const Urgency& urgency,
                                uint32_t turn_count) const {
  if (quarantine_.IsClosed(options_.time->NowNs())) return kInfiniteFuture;
  const int64_t ahead = lease_.CountAhead(urgency);
  TAKT_DCHECK(turn_mean_ns_.load(std::memory_order_relaxed) >= 0);
  return ahead * turn_count * turn_mean_ns_.load(std::memory_order_relaxed);
}

absl::Status NpuUnit::Run(absl::Span<const takt_npu_operation_t> operations,
                          const NpuRequest& request) {
  const NpuFaultPolicy& policy =
      request.policy != nullptr ? *request.policy : options_.policy;
  absl::Status status;
  for (uint32_t attempt = 0;; ++attempt) {
    Outcome outcome;
    absl::Status health;
    {
      const Turn turn(*this, request.urgency);
      health = CheckHealth();
      if (health.ok()) {
        outcome = RunAll(operations, request, policy.time_limit_ns);
        NoteOutcome(outcome);
      }
    }
    if (!health.ok()) {
      // An earlier error is more precise.
      if (status.ok()) status = health;
      break;
    }
    if (outcome.result == TAKT_NPU_RESULT_OK) {
      MutexLock lock(&mutex_);
      statistics_.operation_count += operations.size();
      statistics_.mac_count += CountMacs(operations);
      return absl::OkStatus();
    }
    const std::string what = absl::StrCat("NPU ", driver_.name);
    status = outcome.is_time_out ? absl::DeadlineExceededError(absl::StrCat(
                                       what, ": an operation took more than ",
                                       DurationText(policy.time_limit_ns)))
                                 : ResultStatus(outcome.result, what);
    if (request.restore != nullptr) (*request.restore)();
    if (!request.is_repeatable || IsRefusal(outcome.result) ||
        outcome.result == TAKT_NPU_RESULT_OVERHEATED ||
        attempt >= policy.retry_max) {
      break;
    }
    TAKT_CHECK(!status.ok() && attempt < policy.retry_max);
    NoteFault(NpuFaultAction::kRetry);
    MutexLock lock(&mutex_);
    ++statistics_.retry_count;
  }
  TAKT_CHECK(!status.ok());
  MutexLock lock(&mutex_);
  ++statistics_.error_count;
  return status;
}

absl::Status NpuUnit::RunImport(const Urgency& urgency, int64_t time_limit_ns,
                                absl::FunctionRef<int()> import) {
  const Turn turn(*this, urgency);
  TAKT_RETURN_IF_ERROR(CheckHealth());
  watchdog_.Begin(time_limit_ns);
  const int result = import();
  Outcome outcome;
  outcome.is_time_out = watchdog_.End();
  TAKT_CHECK(outcome.result == TAKT_NPU_RESULT_OK);  // Nothing has set it yet.
  if (outcome.is_time_out) {
    outcome.result = TAKT_NPU_RESULT_CANCELLED;
  } else if (result != 0) {
    outcome.result = TAKT_NPU_RESULT_FAILED;
  }
  NoteOutcome(outcome);
  if (outcome.result == TAKT_NPU_RESULT_OK) return absl::OkStatus();
  {
    MutexLock lock(&mutex_);
    ++statistics_.error_count;
  }
  NoteFault(NpuFaultAction::kFail);
  if (outcome.is_time_out) {
    return absl::DeadlineExceededError(
        absl::StrCat("NPU ", driver_.name, ": an import took more than ",
                     DurationText(time_limit_ns)));
  }
  return absl::UnavailableError(
      absl::StrCat("NPU ", driver_.name, ": an import returned ", result));
}

absl::Status NpuUnit::SyncMemory(const Urgency& urgency, Sync sync, void* data,
                                 uint64_t byte_length) {
  const bool flushes = sync == Sync::kFlush;
  const auto function =
      flushes ? driver_.flush_memory : driver_.invalidate_memory;
  if (function == nullptr || byte_length == 0) return absl::OkStatus();
  const Turn turn(*this, urgency);
  TAKT_RETURN_IF_ERROR(CheckHealth());
  const takt_npu_result_t result =
      KnownResult(function(unit_, data, byte_length));
  NoteOutcome({result});
  if (result == TAKT_NPU_RESULT_OK) return absl::OkStatus();
  {
    MutexLock lock(&mutex_);
    ++statistics_.error_count;
  }
  NoteFault(NpuFaultAction::kFail);
  return ResultStatus(
      result, absl::StrCat("NPU ", driver_.name, ": ",
                           flushes ? "flush_memory" : "invalidate_memory",
                           " of ", byte_length, " bytes"));
}

void NpuUnit::CancelImport() {
  if (driver_.cancel_import != nullptr) driver_.cancel_import(unit_);
}

takt_npu_telemetry_t NpuUnit::telemetry() const {
  takt_npu_telemetry_t telemetry;
  telemetry.struct_size = sizeof(telemetry);
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  telemetry.temperature_millicelsius = kUnknown;
  telemetry.frequency_hz = kUnknown;
  telemetry.utilization_ppm = kUnknown;
  telemetry.throttled_ns = kUnknown;
  if (driver_.telemetry != nullptr) {
    (void)driver_.telemetry(unit_, &telemetry);
    telemetry.struct_size = sizeof(telemetry);
  }
  return telemetry;
}

bool NpuUnit::is_quarantined() const { return quarantine_.is_on(); }

bool NpuUnit::IsProbeDue() const {
  return quarantine_.IsProbeDue(options_.time->NowNs());
}

void NpuUnit::ProbeIfDue() {
  const Turn turn(*this, Urgency());
  if (IsProbeDue()) CheckHealth().IgnoreError();
}

NpuStatistics NpuUnit::statistics() const {
  MutexLock lock(&mutex_);
  return statistics_;
}

std::vector<NpuBatchRecord> NpuUnit::events() const {
  MutexLock lock(&mutex_);
  return {events_.begin(), events_.end()};
}

void NpuUnit::NoteFault(NpuFaultAction action, int64_t value) {
  trace_.Fault(action, value);
}

void NpuUnit::CountFallback(uint64_t count) {
  NoteFault(NpuFaultAction::kFallBack);
  MutexLock lock(&mutex_);
  statistics_.fallback_count += count;
}

void NpuUnit::CountUnsupported(uint64_t count) {
  MutexLock lock(&mutex_);
  statistics_.unsupported_count += count;
}

void NpuUnit::CountChoice(bool is_taken) {
  MutexLock lock(&mutex_);
  ++(is_taken ? statistics_.taken_count : statistics_.left_to_cpu_count);
}

void NpuUnit::CountTransfer(uint64_t bytes_to_unit, uint64_t bytes_to_host) {
  MutexLock lock(&mutex_);
  statistics_.bytes_to_unit += bytes_to_unit;
  statistics_.bytes_to_host += bytes_to_host;
}

}  // namespace takt::npu
