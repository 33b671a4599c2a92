// takt/stream.hpp - streams from C++; contracts are in takt/stream.h.
//
//   auto stream = takt::Stream::Create(policy, {.period_ns = 5'000'000,
//                                               .deadline_ns = 5'000'000})
//                     .value();
//   check(stream.SetInput({observation}));
//   check(stream.Start(takt_clock_now_ns()));
//   ...
//   if (auto output = stream.TakeOutput(1)) use(output->results[0]);
//   stream.Stop();
#ifndef TAKT_STREAM_HPP_
#define TAKT_STREAM_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/async.hpp"
#include "takt/context.hpp"
#include "takt/stream.h"

namespace takt {
inline namespace cxx {

class Stream;

// Options of a stream; see takt_stream_options_t. The defaults are those of
// takt_stream_options_init().
struct StreamOptions {
  takt_stream_arrival_t arrival = TAKT_STREAM_ARRIVAL_PERIODIC;
  int64_t period_ns = 0;
  int64_t deadline_ns = TAKT_DEADLINE_DEFAULT;
  takt_stream_late_t late = TAKT_STREAM_LATE_RUN_ON;
  takt_criticality_t criticality = TAKT_CRITICALITY_SOFT;
  int32_t priority = TAKT_PRIORITY_DEFAULT;
  std::vector<uint64_t> cpu_words = {};
  const Stream* after = nullptr;
  bool takes_results = false;
  size_t input_queue_length = 0;
  size_t release_queue_length = 64;
  size_t capture_job_count = 0;
  std::string capture_path = {};
  size_t capture_file_count_max = 4;
  uint32_t met_min = 0;
  uint32_t met_window = 0;
  uint32_t share_permille = 0;
  uint32_t weight = 0;
  // Called when a job has ended. Must not throw or block. The results are
  // borrowed.
  std::function<void(const takt_stream_job_t&, Status,
                     std::span<const takt_value_t>)>
      on_done = {};
  std::function<void(const takt_stream_job_t&)> on_late = {};
};

class Stream {
 public:
  // An empty object, for a later assignment.
  Stream() = default;

  static Result<Stream> Create(const Function& function,
                               const StreamOptions& options) {
    takt_stream_options_t given;
    takt_stream_options_init(&given);
    given.arrival = options.arrival;
    given.period_ns = options.period_ns;
    given.deadline_ns = options.deadline_ns;
    given.late = options.late;
    given.criticality = options.criticality;
    given.priority = options.priority;
    given.cpu_words = options.cpu_words.data();
    given.cpu_word_count = options.cpu_words.size();
    given.after = options.after != nullptr ? options.after->get() : nullptr;
    given.takes_results = options.takes_results;
    given.input_queue_length = options.input_queue_length;
    given.release_queue_length = options.release_queue_length;
    given.capture_job_count = options.capture_job_count;
    if (!options.capture_path.empty()) {
      given.capture_path = options.capture_path.c_str();
    }
    given.capture_file_count_max = options.capture_file_count_max;
    given.met_min = options.met_min;
    given.met_window = options.met_window;
    given.share_permille = options.share_permille;
    given.weight = options.weight;
    auto callbacks = std::make_shared<Callbacks>();
    callbacks->on_done = options.on_done;
    callbacks->on_late = options.on_late;
    if (options.on_done) given.on_done = &CallDone;
    if (options.on_late) given.on_late = &CallLate;
    given.user_data = callbacks.get();
    takt_stream_t* stream = nullptr;
    Status status(takt_stream_create(function.get(), &given, &stream));
    if (!status.ok()) return status;
    Stream result;
    result.state_ =
        std::make_shared<State>(stream, function, std::move(callbacks));
    return result;
  }

  // The C object, borrowed; NULL if this object is empty.
  takt_stream_t* get() const {
    return state_ != nullptr ? state_->stream : nullptr;
  }
  // The function that its jobs call.
  Function function() const {
    return state_ != nullptr ? state_->function : Function();
  }
  Status Start(int64_t start_ns) const {
    return Status(takt_stream_start(get(), start_ns));
  }
  void Stop() const { takt_stream_stop(get()); }
  Status WaitIdle(int64_t deadline_ns = TAKT_INFINITE_FUTURE) const {
    return Status(takt_stream_wait_idle(get(), deadline_ns));
  }
  // Allocates nothing.
  Status SetInput(std::span<const Value> arguments) const {
    return Status(takt_stream_set_input(
        get(), arguments.size(),
        reinterpret_cast<const takt_value_t*>(arguments.data())));
  }
  Status SetInput(std::initializer_list<Value> arguments) const {
    return SetInput(std::span<const Value>(arguments.begin(), arguments.end()));
  }
  // Returns the memory of input `index`, for writing in place; see
  // takt_stream_map_input(). INVALID_ARGUMENT if T is not the type of the
  // input's elements.
  template <typename T>
  Result<std::span<T>> MapInput(size_t index) const {
    const takt_value_type_t* type = takt_signature_argument(
        takt_function_signature(state_ != nullptr ? state_->function.get()
                                                  : nullptr),
        index);
    if (type != nullptr && type->is_tensor) {
      Status status = CheckElementType<T>(type->element_type);
      if (!status.ok()) return status;
    }
    void* data = nullptr;
    size_t byte_length = 0;
    Status status(takt_stream_map_input(get(), index, &data, &byte_length));
    if (!status.ok()) return status;
    return std::span<T>(static_cast<T*>(data), byte_length / sizeof(T));
  }
  Status PublishInput() const {
    return Status(takt_stream_publish_input(get()));
  }
  // Stores the newest results in `results`, whose size is the function's number
  // of results, without an allocation. Returns false if there are no new
  // results, or takes none if there is too little room.
  bool TakeOutput(std::span<Value> results,
                  takt_stream_job_t* job = nullptr) const {
    for (Value& result : results) result = Value();
    return takt_stream_take_output(
        get(), results.size(), reinterpret_cast<takt_value_t*>(results.data()),
        job);
  }
  struct Output {
    takt_stream_job_t job;
    std::vector<Value> results;
  };
  // Returns the newest results in a new vector, or nothing if there are none.
  std::optional<Output> TakeOutput(size_t result_count) const {
    Output output;
    output.results.resize(result_count);
    if (!TakeOutput(output.results, &output.job)) return std::nullopt;
    return output;
  }
  // Predicts when the result of a release will exist. A `release_ns` of 0 is
  // the next release. See takt_stream_predict().
  Result<takt_stream_prediction_t> Predict(int64_t release_ns = 0,
                                           int64_t step_ns = 0,
                                           bool with_bound = false) const {
    takt_stream_predict_options_t options;
    takt_stream_predict_options_init(&options);
    options.release_ns = release_ns;
    options.step_ns = step_ns;
    options.with_bound = with_bound;
    takt_stream_prediction_t prediction;
    prediction.struct_size = sizeof(prediction);
    Status status(takt_stream_predict(get(), &options, &prediction));
    if (!status.ok()) return status;
    return prediction;
  }
  Status WriteCapture(const std::string& path) const {
    return Status(takt_stream_write_capture(get(), path.c_str()));
  }
  takt_stream_statistics_t statistics() const {
    takt_stream_statistics_t statistics;
    std::memset(&statistics, 0, sizeof(statistics));
    statistics.struct_size = sizeof(statistics);
    takt_status_free(takt_stream_query_statistics(get(), &statistics));
    return statistics;
  }

 private:
  struct Callbacks {
    decltype(StreamOptions::on_done) on_done;
    decltype(StreamOptions::on_late) on_late;
  };
  // The destructor of the last copy stops the stream and waits for its job, so
  // that no callback runs after it. It must not run in a callback.
  struct State {
    State(takt_stream_t* stream_in, Function function_in,
          std::shared_ptr<Callbacks> callbacks_in)
        : stream(stream_in),
          function(std::move(function_in)),
          callbacks(std::move(callbacks_in)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      takt_stream_stop(stream);
      takt_status_free(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
      takt_stream_release(stream);
    }
    takt_stream_t* const stream;
    const Function function;
    const std::shared_ptr<Callbacks> callbacks;
  };

  static void CallDone(void* user_data, const takt_stream_job_t* job,
                       takt_status_t status, size_t result_count,
                       const takt_value_t* results) {
    static_cast<Callbacks*>(user_data)->on_done(*job, Status(status),
                                                {results, result_count});
  }
  static void CallLate(void* user_data, const takt_stream_job_t* job) {
    static_cast<Callbacks*>(user_data)->on_late(*job);
  }

  std::shared_ptr<State> state_;
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_STREAM_HPP_
