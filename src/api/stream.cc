// Streams: how they are made, and what releases their jobs.
#include "api/stream.h"

#include <algorithm>
#include <utility>

#include "api/call_options.h"
#include "api/handle.h"
#include "base/clock.h"
#include "base/status.h"

namespace takt::api {
namespace {

constexpr size_t kQueueLengthMax = 1 << 20;

absl::Status Wrong(const Function& function, absl::string_view option,
                   absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      function.name(), ": stream options: ", option, ": ", reason));
}

int32_t PriorityOf(const takt_stream_options_t& options) {
  if (options.priority != TAKT_PRIORITY_DEFAULT) return options.priority;
  return api::PriorityOf(options.criticality);
}

int64_t RelativeDeadline(const Function& function,
                         const takt_stream_options_t& options) {
  return options.deadline_ns != TAKT_DEADLINE_DEFAULT
             ? options.deadline_ns
             : function.annotations().deadline_after_ns();
}

absl::Status CheckChain(const Function& function,
                        const takt_stream_options_t& options) {
  if (options.arrival != TAKT_STREAM_ARRIVAL_AFTER) {
    if (options.after == nullptr && !options.takes_results) {
      return absl::OkStatus();
    }
    return Wrong(function, "after", "is for TAKT_STREAM_ARRIVAL_AFTER only");
  }
  if (options.after == nullptr) return Wrong(function, "after", "is NULL");
  const Function& before = Unwrap(options.after)->function();
  if (&before.context().instance() != &function.context().instance()) {
    return Wrong(function, "after", "is of another instance");
  }
  if (!options.takes_results) return absl::OkStatus();
  const auto results = before.signature().results();
  const auto arguments = function.signature().arguments();
  if (results.size() != arguments.size()) {
    return Wrong(function, "takes_results",
                 absl::StrCat(before.name(), " has ", results.size(),
                              " results for ", arguments.size(), " inputs"));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind == arguments[i].kind &&
        (!results[i].is_tensor || !arguments[i].is_tensor ||
         takt_element_type_fits(results[i].element_type,
                                arguments[i].element_type))) {
      continue;
    }
    return Wrong(function, "takes_results",
                 absl::StrCat("result ", i, " of ", before.name(), " is ",
                              results[i].type, ", input ", i, " is ",
                              arguments[i].type));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const Function& function,
                          const takt_stream_options_t& options) {
  if (static_cast<unsigned>(options.arrival) > TAKT_STREAM_ARRIVAL_AFTER) {
    return Wrong(function, "arrival", absl::StrCat(options.arrival));
  }
  if (static_cast<unsigned>(options.late) > TAKT_STREAM_LATE_LATEST_ONLY) {
    return Wrong(function, "late", absl::StrCat(options.late));
  }
  if (static_cast<unsigned>(options.criticality) >
      TAKT_CRITICALITY_BEST_EFFORT) {
    return Wrong(function, "criticality", absl::StrCat(options.criticality));
  }
  const bool is_periodic = options.arrival == TAKT_STREAM_ARRIVAL_PERIODIC;
  if (is_periodic ? options.period_ns <= 0 : options.period_ns != 0) {
    return Wrong(function, "period_ns",
                 absl::StrCat(options.period_ns,
                              is_periodic ? "" : ", but not periodic"));
  }
  const int64_t deadline_ns = RelativeDeadline(function, options);
  if (deadline_ns <= 0) {
    return Wrong(function, "deadline_ns", absl::StrCat(deadline_ns));
  }
  if (options.late != TAKT_STREAM_LATE_RUN_ON &&
      deadline_ns == kInfiniteFuture) {
    return Wrong(function, "late", "nothing is late without a deadline");
  }
  if (options.input_queue_length > kQueueLengthMax ||
      options.release_queue_length > kQueueLengthMax ||
      options.release_queue_length == 0 ||
      (options.arrival == TAKT_STREAM_ARRIVAL_CLOSED &&
       options.input_queue_length != 0)) {
    return Wrong(function, "queue length",
                 absl::StrCat(options.input_queue_length, " inputs, ",
                              options.release_queue_length, " releases"));
  }
  // What a call would be refused for.
  CallOptions job;
  job.priority = PriorityOf(options);
  job.cpu_words = {options.cpu_words, options.cpu_word_count};
  TAKT_RETURN_IF_ERROR(function.FindJob(job).status());
  return CheckChain(function, options);
}

}  // namespace

int32_t PriorityOf(takt_criticality_t criticality) {
  switch (criticality) {
    case TAKT_CRITICALITY_HARD:
      return 224;
    case TAKT_CRITICALITY_SOFT:
      return 128;
    case TAKT_CRITICALITY_BEST_EFFORT:
      return 32;
  }
  return TAKT_PRIORITY_DEFAULT;
}

absl::StatusOr<Ref<Stream>> Stream::Create(
    Function& function, const takt_stream_options_t& options) {
  if (function.signature().is_variadic()) {
    return Wrong(function, "function", "takes a varying number of arguments");
  }
  TAKT_RETURN_IF_ERROR(CheckOptions(function, options));
  auto stream = Ref<Stream>::Adopt(new Stream(
      function, options, function.context().instance().release_timers()));
  if (shop::JobShop* const shop = function.context().shop()) {
    TAKT_ASSIGN_OR_RETURN(stream->shop_stream_,
                          shop->AddStream(stream->ShopTerms(options)));
  }
  return stream;
}

Stream::Stream(Function& function, const takt_stream_options_t& options,
               std::shared_ptr<TimerService> timers)
    : Object(&kType),
      function_(Ref<Function>::Retain(&function)),
      timers_(std::move(timers)),
      arrival_(options.arrival),
      period_ns_(options.period_ns),
      after_(Ref<Stream>::Retain(Unwrap(options.after))),
      takes_results_(options.takes_results),
      deadline_after_ns_(RelativeDeadline(function, options)),
      late_(options.late),
      priority_(PriorityOf(options)),
      cpu_words_(options.cpu_words, options.cpu_words + options.cpu_word_count),
      on_done_(options.on_done),
      on_late_(options.on_late),
      user_data_(options.user_data),
      trace_track_(
          function.tracer().AddTrack(TrackKind::kStream, function.name())),
      latest_input_(function.signature().arguments().size()),
      output_(function.signature().results().size()),
      results_(function.signature().results().size()),
      pending_(options.release_queue_length) {
  if (options.input_queue_length > 0) {
    input_queue_.emplace(function.signature().arguments().size(),
                         options.input_queue_length);
  }
  begin_job_.lane = exec::LaneOf(static_cast<uint8_t>(priority_));
}

// Of options that have been checked.
shop::StreamRequirements Stream::ShopTerms(
    const takt_stream_options_t& options) {
  CallOptions job;
  job.priority = priority_;
  job.cpu_words = {options.cpu_words, options.cpu_word_count};
  shop::StreamRequirements terms;
  terms.name = function_->name();
  terms.period_ns = period_ns_;
  terms.deadline_ns = deadline_after_ns_;
  // Nothing is hard that is never late.
  terms.criticality =
      options.criticality == TAKT_CRITICALITY_HARD &&
              deadline_after_ns_ == kInfiniteFuture
          ? sched::Criticality::kSoft
          : static_cast<sched::Criticality>(options.criticality);
  terms.priority = static_cast<uint8_t>(priority_);
  // A release that waits for the job in flight is none for the scheduler yet.
  terms.late = late_ == TAKT_STREAM_LATE_LATEST_ONLY
                   ? sched::LatePolicy::kDrop
                   : static_cast<sched::LatePolicy>(late_);
  const auto found = function_->FindJob(job);
  if (found.ok()) terms.allowed = found->traits.allowed;
  return terms;
}

absl::StatusOr<sched::AdmissionReport> Stream::Admit(bool promises) {
  if (shop_stream_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        function_->name(), ": nothing schedules the devices of its context"));
  }
  shop::JobShop& shop = *function_->context().shop();
  return promises ? shop.Admit(*shop_stream_) : shop.Assess(*shop_stream_);
}

absl::Status Stream::Start(int64_t start_ns) {
  // Held by what follows, unlike the stream itself.
  const Ref<Stream> self = Ref<Stream>::Retain(this);
  {
    MutexLock lock(&mutex_);
    if (is_running_) {
      return absl::FailedPreconditionError(
          absl::StrCat(function_->name(), ": the stream runs already"));
    }
    if (arrival_ == TAKT_STREAM_ARRIVAL_CLOSED &&
        !function_->signature().arguments().empty() &&
        input_count_.load(std::memory_order_acquire) == 0) {
      return absl::FailedPreconditionError(absl::StrCat(
          function_->name(), ": the closed stream has no input yet"));
    }
    is_running_ = true;
    next_release_ns_ = start_ns;
    if (arrival_ == TAKT_STREAM_ARRIVAL_PERIODIC) {
      const int64_t behind = NowNs() - start_ns;
      if (behind > 0) {
        next_release_ns_ += (behind + period_ns_ - 1) / period_ns_ * period_ns_;
      }
    }
    if (arrival_ == TAKT_STREAM_ARRIVAL_PERIODIC ||
        arrival_ == TAKT_STREAM_ARRIVAL_CLOSED) {
      if (is_timer_held_) {
        is_restarted_ = true;
      } else {
        is_timer_held_ = true;
        Retain();
        timers_->Arm(&release_timer_, next_release_ns_);
      }
    }
  }
  if (after_ != nullptr) {
    MutexLock lock(&after_->mutex_);
    after_->followers_.push_back(self);
  }
  const Context& context = function_->context();
  Instance& instance = context.instance();
  if (context.executor() != nullptr &&
      context.executor()->worker_count() == 0 && !instance.has_host_loop()) {
    instance.notices().CallersStream(function_->name());
  }
  return absl::OkStatus();
}

void Stream::Stop() {
  Ref<Stream> follower;
  if (after_ != nullptr) {
    MutexLock lock(&after_->mutex_);
    auto& list = after_->followers_;
    const auto found = std::find_if(
        list.begin(), list.end(),
        [&](const Ref<Stream>& entry) { return entry.get() == this; });
    if (found != list.end()) {
      follower = std::move(*found);
      list.erase(found);
    }
  }
  bool is_timer_stopped = false;
  {
    MutexLock lock(&mutex_);
    is_running_ = is_restarted_ = false;
    pending_count_ = 0;
    is_timer_stopped = is_timer_held_ && timers_->Cancel(&release_timer_);
    if (is_timer_stopped) is_timer_held_ = false;
  }
  if (is_timer_stopped) Release();
}

void Stream::OnReleaseTime(TimerService::Timer* timer) {
  Stream* const self = static_cast<Timer*>(timer)->stream;
  const int64_t now_ns = NowNs();
  int64_t origin_ns = 0;
  bool is_due = false;
  bool goes_on = false;
  {
    MutexLock lock(&self->mutex_);
    if (self->is_running_ && self->is_restarted_) {
      self->is_restarted_ = false;
      self->timers_->Arm(timer, self->next_release_ns_);
      return;
    }
    is_due = self->is_running_;
    origin_ns = self->next_release_ns_;
    goes_on = is_due && self->arrival_ == TAKT_STREAM_ARRIVAL_PERIODIC;
    if (is_due) self->release_error_.Add(now_ns - origin_ns);
    if (goes_on) {
      self->ArmNextPeriod(now_ns);
    } else {
      self->is_timer_held_ = false;
    }
  }
  if (is_due) self->ReleaseJob(origin_ns);
  if (!goes_on) self->Release();
}

void Stream::ArmNextPeriod(int64_t now_ns) {
  // Of periods that have passed meanwhile, this release is the last.
  const int64_t behind = std::max<int64_t>(0, now_ns - next_release_ns_);
  const int64_t skipped = behind / period_ns_;
  counts_.skipped_count += static_cast<uint64_t>(skipped);
  next_release_ns_ += (skipped + 1) * period_ns_;
  timers_->Arm(&release_timer_, next_release_ns_);
}

bool Stream::AddPending(int64_t origin_ns, int64_t now_ns,
                        absl::optional<Pending>* dropped) {
  const uint64_t sequence = counts_.released_count++;
  // The release of a closed stream comes with the end of the job before it.
  if (is_busy_ && arrival_ != TAKT_STREAM_ARRIVAL_CLOSED)
    ++counts_.overrun_count;
  const bool is_full = pending_count_ == pending_.size();
  if (pending_count_ > 0 &&
      (is_full || late_ == TAKT_STREAM_LATE_LATEST_ONLY)) {
    *dropped = pending_[first_pending_];
    ++telling_count_;
    first_pending_ = (first_pending_ + 1) % pending_.size();
    --pending_count_;
  }
  pending_[(first_pending_ + pending_count_) % pending_.size()] = {
      sequence, origin_ns, now_ns};
  ++pending_count_;
  return !std::exchange(is_busy_, true);
}

void Stream::ReleaseJob(int64_t origin_ns) {
  absl::optional<Pending> dropped;
  bool begins = false;
  uint64_t sequence = 0;
  const int64_t now_ns = NowNs();
  {
    MutexLock lock(&mutex_);
    if (!is_running_) return;
    sequence = counts_.released_count;
    begins = AddPending(origin_ns, now_ns, &dropped);
  }
  if (function_->tracer().is_on()) {
    Record(EventKind::kJobReleased, sequence, now_ns,
           DeadlineAfter(origin_ns, deadline_after_ns_));
  }
  if (dropped.has_value()) TellDropped(*dropped);
  if (!begins) return;
  Retain();  // While busy.
  SubmitBegin();
}

void Stream::TellDropped(const Pending& dropped) {
  takt_stream_job_t job = JobOf(dropped);
  job.outcome = TAKT_STREAM_OUTCOME_DROPPED;
  Conclude(job, nullptr, {});
  Ref<hal::Fence> idle;
  {
    MutexLock lock(&mutex_);
    --telling_count_;
    idle = TakeIdle();
  }
  if (idle != nullptr) idle->Signal().IgnoreError();
}

void Stream::SubmitBegin() {
  exec::Executor* const executor = function_->context().executor();
  if (executor != nullptr) {
    executor->Submit(&begin_job_);
  } else {
    begin_later_.next = nullptr;
    hal::RunOrDefer(&begin_later_);
  }
}

absl::Status Stream::WaitIdle(int64_t deadline_ns) {
  Ref<hal::Fence> idle;
  {
    MutexLock lock(&mutex_);
    if (IsIdle()) return absl::OkStatus();
    if (idle_ == nullptr) idle_ = hal::Fence::Create();
    idle = idle_;
  }
  BlockingWait thread(function_->context().executor());
  return WaitForFence(*idle, thread, deadline_ns);
}

takt_stream_statistics_t Stream::statistics() const {
  const auto quantiles = [](const Histogram& histogram) {
    return takt_quantiles_t{histogram.count(), histogram.Quantile(500),
                            histogram.Quantile(990), histogram.Quantile(999),
                            histogram.max()};
  };
  MutexLock lock(&mutex_);
  takt_stream_statistics_t statistics = counts_;
  statistics.response = quantiles(response_);
  statistics.begin_delay = quantiles(begin_delay_);
  statistics.release_error = quantiles(release_error_);
  return statistics;
}

namespace {

absl::StatusOr<Ref<Stream>> CreateStream(Function* function,
                                         const takt_stream_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_stream_options_t given,
                        ReadOptions(options, &takt_stream_options_init));
  if (given.cpu_word_count != 0 && given.cpu_words == nullptr) {
    return absl::InvalidArgumentError("options: cpu_words is NULL");
  }
  return Stream::Create(*function, given);
}

absl::Status QueryStatistics(const Stream* stream,
                             takt_stream_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  WriteSized(stream->statistics(), out);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_stream_create(takt_function_t* function,
                                 const takt_stream_options_t* options,
                                 takt_stream_t** out_stream) {
  TAKT_REQUIRE(function, options, out_stream);
  return takt::api::Give(
      __func__, takt::api::CreateStream(Unwrap(function), options), out_stream);
}

void takt_stream_retain(takt_stream_t* stream) {
  takt::api::RetainHandle(stream);
}

void takt_stream_release(takt_stream_t* stream) {
  takt::api::ReleaseHandle(stream);
}

takt_status_t takt_stream_start(takt_stream_t* stream, int64_t start_ns) {
  TAKT_REQUIRE(stream);
  return ToStatus(__func__, Unwrap(stream)->Start(start_ns));
}

void takt_stream_stop(takt_stream_t* stream) {
  TAKT_IGNORE_NULL(stream);
  Unwrap(stream)->Stop();
}

takt_status_t takt_stream_wait_idle(takt_stream_t* stream,
                                    int64_t deadline_ns) {
  TAKT_REQUIRE(stream);
  return ToStatus(__func__, Unwrap(stream)->WaitIdle(deadline_ns));
}

takt_status_t takt_stream_set_input(takt_stream_t* stream,
                                    size_t argument_count,
                                    const takt_value_t* arguments) {
  TAKT_REQUIRE(stream, Items(argument_count, arguments));
  return ToStatus(__func__,
                  Unwrap(stream)->SetInput({arguments, argument_count}));
}

bool takt_stream_take_output(takt_stream_t* stream, size_t result_count,
                             takt_value_t* out_results,
                             takt_stream_job_t* out_job) {
  TAKT_REQUIRE_OR(false, stream, Items(result_count, out_results),
                  Optional(out_job));
  return Unwrap(stream)->TakeOutput({out_results, result_count}, out_job);
}

takt_status_t takt_stream_query_statistics(
    takt_stream_t* stream, takt_stream_statistics_t* out_statistics) {
  TAKT_REQUIRE(stream, out_statistics);
  return ToStatus(__func__,
                  takt::api::QueryStatistics(Unwrap(stream), out_statistics));
}

takt_status_t takt_stream_map_input(takt_stream_t* stream, size_t index,
                                    void** out_data, size_t* out_byte_length) {
  TAKT_REQUIRE(stream, out_data, Optional(out_byte_length));
  const auto memory = Unwrap(stream)->MapInput(index);
  *out_data = memory.ok() ? memory->data : nullptr;
  if (out_byte_length != nullptr) {
    *out_byte_length = memory.ok() ? memory->byte_length : 0;
  }
  return ToStatus(__func__, memory.status());
}

takt_status_t takt_stream_publish_input(takt_stream_t* stream) {
  TAKT_REQUIRE(stream);
  return ToStatus(__func__, Unwrap(stream)->PublishInput());
}
