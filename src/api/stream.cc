#include "stream/stream.h"

#include <algorithm>
#include <utility>

#include "abi/guard.h"
#include "absl/strings/str_cat.h"
#include "api/handle.h"
#include "api/options.h"
#include "api/quantiles.h"
#include "api/trace_file.h"
#include "api/value.h"
#include "base/check.h"
#include "takt/stream.h"

namespace takt::api {
namespace {

using stream::StreamJob;

takt_stream_job_t ToStreamJob(const StreamJob& job) {
  takt_stream_job_t result = {};
  result.sequence = job.sequence;
  result.origin_ns = job.origin_ns;
  result.deadline_ns = job.deadline_ns;
  result.begin_ns = job.begin_ns;
  result.end_ns = job.end_ns;
  result.input_sequence = job.input_sequence;
  result.outcome = static_cast<takt_stream_outcome_t>(job.outcome);
  return result;
}

stream::StreamDoneCallback ReadDoneCallback(
    const takt_stream_options_t& options) {
  if (options.on_done == nullptr) return nullptr;
  return [on_done = options.on_done, user_data = options.user_data](
             const StreamJob& job, const absl::Status& status,
             absl::Span<const vm::Value> results) {
    const takt_stream_job_t ended = ToStreamJob(job);
    on_done(user_data, &ended, ToStatus("takt_stream", status), results.size(),
            ToCValues(results));
  };
}

stream::StreamLateCallback ReadLateCallback(
    const takt_stream_options_t& options) {
  if (options.on_late == nullptr) return nullptr;
  return [on_late = options.on_late,
          user_data = options.user_data](const StreamJob& job) {
    const takt_stream_job_t late = ToStreamJob(job);
    on_late(user_data, &late);
  };
}

// `number` is an enumerator of the C API, up to `last`.
absl::Status CheckEnumerator(const runtime::Function& function,
                             absl::string_view option, int number, int last) {
  if (number >= 0 && number <= last) return absl::OkStatus();
  return stream::StreamOptionError(function, option, absl::StrCat(number));
}

// The result borrows from `options`.
absl::StatusOr<stream::StreamOptions> ReadStreamOptions(
    const runtime::Function& function, const takt_stream_options_t& options) {
  TAKT_RETURN_IF_ERROR(CheckEnumerator(function, "arrival", options.arrival,
                                       TAKT_STREAM_ARRIVAL_AFTER));
  TAKT_RETURN_IF_ERROR(CheckEnumerator(function, "late", options.late,
                                       TAKT_STREAM_LATE_LATEST_ONLY));
  TAKT_RETURN_IF_ERROR(CheckEnumerator(function, "criticality",
                                       options.criticality,
                                       TAKT_CRITICALITY_BEST_EFFORT));
  stream::StreamOptions result;
  result.arrival = static_cast<stream::Arrival>(options.arrival);
  result.period_ns = options.period_ns;
  result.after = Unwrap(options.after);
  result.takes_results = options.takes_results;
  result.deadline_ns = ReadDeadline(options.deadline_ns);
  result.late = static_cast<sched::LatePolicy>(options.late);
  result.criticality = static_cast<sched::Criticality>(options.criticality);
  result.priority = ReadPriority(options.priority);
  result.met_min = options.met_min;
  result.met_window = options.met_window;
  result.share_permille = options.share_permille;
  result.weight = options.weight;
  TAKT_ASSIGN_OR_RETURN(result.cpu_words, ReadCpuWords(options.cpu_words,
                                                       options.cpu_word_count));
  result.input_queue_length = options.input_queue_length;
  result.release_queue_length = options.release_queue_length;
  result.capture.job_count = options.capture_job_count;
  result.capture.file_count_max = options.capture_file_count_max;
  if (options.capture_path != nullptr) {
    result.capture.path = options.capture_path;
    result.capture.write_trace =
        [instance = &function.context().instance()](const std::string& path) {
          return WriteTraceIfOn(*instance, path);
        };
  }
  result.on_done = ReadDoneCallback(options);
  result.on_late = ReadLateCallback(options);
  return result;
}

absl::StatusOr<Ref<stream::Stream>> CreateStream(
    runtime::Function* function, const takt_stream_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_stream_options_t given,
                        ReadOptions(options, &takt_stream_options_init));
  TAKT_ASSIGN_OR_RETURN(stream::StreamOptions read,
                        ReadStreamOptions(*function, given));
  return stream::Stream::Create(*function, std::move(read));
}

bool TakeOutput(stream::Stream* stream, absl::Span<takt_value_t> results,
                takt_stream_job_t* out_job) {
  const size_t count = stream->function().signature().results().size();
  if (results.size() < count) return false;  // They stay to be taken.
  const stream::ValueEntry* const output = stream->TakeOutput();
  if (output == nullptr) return false;
  TAKT_CHECK(output->values().size() == count);
  const takt_value_t* const values = ToCValues(output->values());
  std::transform(values, values + count, results.begin(), &RetainValue);
  if (out_job != nullptr) *out_job = ToStreamJob(output->job);
  return true;
}

absl::Status QueryStatistics(const stream::Stream* stream,
                             takt_stream_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  const stream::StreamStatistics statistics = stream->statistics();
  const stream::StreamCounts& counts = statistics.counts;
  takt_stream_statistics_t result = {};
  result.released_count = counts.released_count;
  result.met_count = counts.met_count;
  result.missed_count = counts.missed_count;
  result.dropped_count = counts.dropped_count;
  result.failed_count = counts.failed_count;
  result.starved_count = counts.starved_count;
  result.overrun_count = counts.overrun_count;
  result.skipped_count = counts.skipped_count;
  result.response = ToQuantiles(statistics.response);
  result.begin_delay = ToQuantiles(statistics.begin_delay);
  result.release_error = ToQuantiles(statistics.release_error);
  result.predicted_count = counts.predicted_count;
  result.kept_count = counts.kept_count;
  result.predicted_response = ToQuantiles(statistics.predicted_response);
  result.lenient_count = counts.lenient_count;
  result.broken_window_count = counts.broken_window_count;
  WriteSized(result, out);
  return absl::OkStatus();
}

// Whole steps from `begin_ns` to `end_ns`, rounded up; -1: not known.
int64_t StepsUntil(int64_t begin_ns, int64_t end_ns, int64_t step_ns) {
  if (step_ns == 0 || end_ns == kInfiniteFuture) return -1;
  const int64_t duration_ns = std::max<int64_t>(end_ns - begin_ns, 0);
  return duration_ns / step_ns + (duration_ns % step_ns != 0 ? 1 : 0);
}

absl::Status Predict(stream::Stream* stream,
                     const takt_stream_predict_options_t* options,
                     takt_stream_prediction_t* out) {
  TAKT_ASSIGN_OR_RETURN(
      const takt_stream_predict_options_t given,
      ReadOptions(options, &takt_stream_predict_options_init));
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_prediction"));
  for (const auto& [name, time_ns] :
       {std::pair<const char*, int64_t>("release_ns", given.release_ns),
        std::pair<const char*, int64_t>("step_ns", given.step_ns)}) {
    if (time_ns >= 0) continue;
    return stream::StreamOptionError(stream->function(), name,
                                     absl::StrCat(time_ns, " is below 0"));
  }
  const stream::Prediction prediction = stream->Predict(
      given.release_ns != 0 ? absl::optional<int64_t>(given.release_ns)
                            : absl::nullopt);
  takt_stream_prediction_t result = {};
  result.release_ns = prediction.release_ns;
  result.job_count = prediction.job_count;
  result.q50_ns = prediction.median_ns;
  result.q99_ns = prediction.q99_ns;
  result.bound_ns = given.with_bound ? DeadlineAfter(prediction.release_ns,
                                                     stream->ResponseBound())
                                     : kInfiniteFuture;
  const auto steps = [&](int64_t end_ns) {
    return StepsUntil(prediction.release_ns, end_ns, given.step_ns);
  };
  result.q50_steps = steps(result.q50_ns);
  result.q99_steps = steps(result.q99_ns);
  result.bound_steps = steps(result.bound_ns);
  WriteSized(result, out);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::ToValues;
using takt::api::Unwrap;

takt_status_t takt_stream_create(takt_function_t* function,
                                 const takt_stream_options_t* options,
                                 takt_stream_t** out_stream) {
  TAKT_REQUIRE(function, options, out_stream);
  TAKT_TRY {
    return takt::api::Give(__func__,
                           takt::api::CreateStream(Unwrap(function), options),
                           out_stream);
  }
  TAKT_CATCH_ALL(function, options, out_stream);
}

void takt_stream_retain(takt_stream_t* stream) {
  takt::api::RetainHandle(stream);
}

void takt_stream_release(takt_stream_t* stream) {
  takt::api::ReleaseHandle(stream);
}

takt_status_t takt_stream_start(takt_stream_t* stream, int64_t start_ns) {
  TAKT_REQUIRE(stream);
  TAKT_TRY { return ToStatus(__func__, Unwrap(stream)->Start(start_ns)); }
  TAKT_CATCH_ALL(stream);
}

void takt_stream_stop(takt_stream_t* stream) {
  TAKT_IGNORE_NULL(stream);
  TAKT_TRY { Unwrap(stream)->Stop(); }
  TAKT_CATCH_ALL_OR(, stream);
}

takt_status_t takt_stream_wait_idle(takt_stream_t* stream,
                                    int64_t deadline_ns) {
  TAKT_REQUIRE(stream);
  TAKT_TRY { return ToStatus(__func__, Unwrap(stream)->WaitIdle(deadline_ns)); }
  TAKT_CATCH_ALL(stream);
}

takt_status_t takt_stream_set_input(takt_stream_t* stream,
                                    size_t argument_count,
                                    const takt_value_t* arguments) {
  TAKT_REQUIRE(stream, Items(argument_count, arguments));
  TAKT_TRY {
    return ToStatus(__func__,
                    Unwrap(stream)->SetInput(ToValues(
                        absl::MakeConstSpan(arguments, argument_count))));
  }
  TAKT_CATCH_ALL(stream, Items(argument_count, arguments));
}

bool takt_stream_take_output(takt_stream_t* stream, size_t result_count,
                             takt_value_t* out_results,
                             takt_stream_job_t* out_job) {
  TAKT_REQUIRE_OR(false, stream, Items(result_count, out_results),
                  Optional(out_job));
  TAKT_TRY {
    return takt::api::TakeOutput(Unwrap(stream), {out_results, result_count},
                                 out_job);
  }
  TAKT_CATCH_ALL_OR(false, stream, Items(result_count, out_results),
                    Optional(out_job));
}

takt_status_t takt_stream_query_statistics(
    takt_stream_t* stream, takt_stream_statistics_t* out_statistics) {
  TAKT_REQUIRE(stream, out_statistics);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::QueryStatistics(Unwrap(stream), out_statistics));
  }
  TAKT_CATCH_ALL(stream, out_statistics);
}

takt_status_t takt_stream_write_capture(takt_stream_t* stream,
                                        const char* path) {
  TAKT_REQUIRE(stream, path);
  TAKT_TRY { return ToStatus(__func__, Unwrap(stream)->WriteCapture(path)); }
  TAKT_CATCH_ALL(stream, path);
}

takt_status_t takt_stream_predict(takt_stream_t* stream,
                                  const takt_stream_predict_options_t* options,
                                  takt_stream_prediction_t* out_prediction) {
  TAKT_REQUIRE(stream, Optional(options), out_prediction);
  TAKT_TRY {
    return ToStatus(
        __func__, takt::api::Predict(Unwrap(stream), options, out_prediction));
  }
  TAKT_CATCH_ALL(stream, Optional(options), out_prediction);
}

takt_status_t takt_stream_map_input(takt_stream_t* stream, size_t index,
                                    void** out_data, size_t* out_byte_length) {
  TAKT_REQUIRE(stream, out_data, Optional(out_byte_length));
  TAKT_TRY {
    const auto memory = Unwrap(stream)->MapInput(index);
    *out_data = memory.ok() ? memory->data : nullptr;
    if (out_byte_length != nullptr) {
      *out_byte_length = memory.ok() ? memory->byte_length : 0;
    }
    return ToStatus(__func__, memory.status());
  }
  TAKT_CATCH_ALL(stream, out_data, Optional(out_byte_length));
}

takt_status_t takt_stream_publish_input(takt_stream_t* stream) {
  TAKT_REQUIRE(stream);
  TAKT_TRY { return ToStatus(__func__, Unwrap(stream)->PublishInput()); }
  TAKT_CATCH_ALL(stream);
}
