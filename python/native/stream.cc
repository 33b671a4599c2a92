#include "stream.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "function.h"
#include "gil.h"
#include "handle.h"
#include "options.h"
#include "process.h"
#include "quantiles.h"
#include "tensors.h"
#include "wait.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

nb::dict DescribeJob(const takt_stream_job_t& job) {
  static constexpr const char* kOutcomes[] = {"met", "missed", "dropped",
                                              "failed"};
  nb::dict result;
  result["sequence"] = job.sequence;
  result["origin_ns"] = job.origin_ns;
  result["deadline_ns"] = job.deadline_ns;
  result["begin_ns"] = job.begin_ns;
  result["end_ns"] = job.end_ns;
  result["input_sequence"] = job.input_sequence;
  result["outcome"] = static_cast<size_t>(job.outcome) < std::size(kOutcomes)
                          ? kOutcomes[job.outcome]
                          : "";
  return result;
}

// What the C callbacks get. Belongs to the interpreter: it is destroyed with
// the GIL, after the stream has become idle.
struct Callbacks {
  nb::object on_result;  // (results)
  nb::object on_error;   // (exception, job)
  nb::object on_late;    // (job)
  ElementTypes result_elements;
  const takt_device_t* device;  // Compared only.
};

template <typename Call>
void CallPython(const nb::object& callback, Call&& call) {
  try {
    call();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable(callback);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    PyErr_WriteUnraisable(callback.ptr());
  }
}

void OnDone(void* user_data, const takt_stream_job_t* job, takt_status_t status,
            size_t result_count, const takt_value_t* results) {
  const auto* callbacks = static_cast<const Callbacks*>(user_data);
  if (Py_IsInitialized() == 0) {
    takt_status_free(status);
    return;
  }
  const WithGil gil;
  const CallbackScope scope(callbacks->device);
  if (status != nullptr) {
    nb::object error = MakeError(status);
    if (callbacks->on_error.is_none()) return;
    CallPython(callbacks->on_error,
               [&] { callbacks->on_error(error, DescribeJob(*job)); });
  } else if (result_count > 0 && !callbacks->on_result.is_none()) {
    CallPython(callbacks->on_result, [&] {
      callbacks->on_result(
          FromResults(result_count, results, callbacks->result_elements));
    });
  }
}

void OnLate(void* user_data, const takt_stream_job_t* job) {
  const auto* callbacks = static_cast<const Callbacks*>(user_data);
  if (Py_IsInitialized() == 0) return;
  const WithGil gil;
  const CallbackScope scope(callbacks->device);
  CallPython(callbacks->on_late,
             [&] { callbacks->on_late(DescribeJob(*job)); });
}

struct Choice {
  const char* name;
  int value;
};

template <typename Enum, size_t kCount>
Enum Choose(const Choice (&choices)[kCount], const std::string& name,
            const char* what) {
  std::string names;
  for (const Choice& each : choices) {
    if (name == each.name) return static_cast<Enum>(each.value);
    names += names.empty() ? "" : ", ";
    names += each.name;
  }
  RaiseInvalidArgument(std::string(what) + ": \"" + name + "\" is none of " +
                       names);
}

constexpr Choice kArrivals[] = {{"periodic", TAKT_STREAM_ARRIVAL_PERIODIC},
                                {"input", TAKT_STREAM_ARRIVAL_INPUT},
                                {"closed", TAKT_STREAM_ARRIVAL_CLOSED},
                                {"after", TAKT_STREAM_ARRIVAL_AFTER}};
constexpr Choice kCriticalities[] = {
    {"hard", TAKT_CRITICALITY_HARD},
    {"soft", TAKT_CRITICALITY_SOFT},
    {"best_effort", TAKT_CRITICALITY_BEST_EFFORT}};
constexpr Choice kLatePolicies[] = {
    {"run_on", TAKT_STREAM_LATE_RUN_ON},
    {"demote", TAKT_STREAM_LATE_DEMOTE},
    {"drop", TAKT_STREAM_LATE_DROP},
    {"latest_only", TAKT_STREAM_LATE_LATEST_ONLY}};

class Stream {
 public:
  Stream(nb::object function, const Stream* after, nb::kwargs options)
      : function_object_(std::move(function)),
        function_(nb::cast<const Function*>(function_object_)),
        callbacks_(std::make_unique<Callbacks>()) {
    callbacks_->result_elements = function_->result_elements();
    callbacks_->device = function_->device();
    takt_stream_options_t from;
    takt_stream_options_init(&from);
    const auto text = [&](const char* key) {
      return ToOption<std::string>(options[key], key);
    };
    from.arrival =
        Choose<takt_stream_arrival_t>(kArrivals, text("arrival"), "arrival");
    from.criticality = Choose<takt_criticality_t>(
        kCriticalities, text("criticality"), "criticality");
    from.late =
        Choose<decltype(from.late)>(kLatePolicies, text("late"), "late");
    if (after != nullptr) from.after = after->stream_.get();
    from.takes_results =
        ToOption<bool>(options["takes_results"], "takes_results");
    if (!options["period"].is_none()) {
      from.period_ns = ToNs(options["period"], "period");
    }
    if (!options["deadline"].is_none()) {
      from.deadline_ns = ToNs(options["deadline"], "deadline");
    }
    if (!options["priority"].is_none()) {
      from.priority = ToPriority(options["priority"]);
    }
    std::vector<uint64_t> words;
    if (!options["cpus"].is_none()) words = ToCpuWords(options["cpus"]);
    from.cpu_words = words.data();
    from.cpu_word_count = words.size();
    from.input_queue_length =
        ToOption<size_t>(options["input_queue"], "input_queue");
    from.release_queue_length =
        ToOption<size_t>(options["release_queue"], "release_queue");
    from.capture_job_count =
        ToOption<size_t>(options["capture_jobs"], "capture_jobs");
    std::string capture_path;
    if (!options["capture_path"].is_none()) {
      capture_path = text("capture_path");
      from.capture_path = ToCString(capture_path, "capture_path");
    }
    if (!options["met"].is_none()) {
      const auto met =
          ToOption<std::pair<uint32_t, uint32_t>>(options["met"], "met");
      from.met_min = met.first;
      from.met_window = met.second;
    }
    from.share_permille = ToPermille(options["share"], "share");
    from.weight = ToOption<uint32_t>(options["weight"], "weight");
    callbacks_->on_result = ToCallback(options["on_result"], "on_result");
    callbacks_->on_error = ToCallback(options["on_error"], "on_error");
    callbacks_->on_late = ToCallback(options["on_late"], "on_late");
    if (!callbacks_->on_result.is_none() || !callbacks_->on_error.is_none()) {
      from.on_done = OnDone;
    }
    if (!callbacks_->on_late.is_none()) from.on_late = OnLate;
    from.user_data = callbacks_.get();
    Check(takt_stream_create(function_->get(), &from, stream_.out()));
  }

  ~Stream() {
    if (!process_.IsHere()) {  // Its jobs do not end here.
      stream_.Leak();
      (void)callbacks_.release();
      return;
    }
    // After this no callback runs, so what it uses can go.
    const WithoutGil no_gil;
    takt_stream_stop(stream_.get());
    takt_status_free(
        takt_stream_wait_idle(stream_.get(), TAKT_INFINITE_FUTURE));
    stream_.Reset();
  }

  void Start(nb::handle at_ns) {
    CheckMayRun();
    const int64_t start_ns =
        at_ns.is_none() ? takt_clock_now_ns() : nb::cast<int64_t>(at_ns);
    takt_status_t status = nullptr;
    {
      const WithoutGil no_gil;
      status = takt_stream_start(stream_.get(), start_ns);
    }
    Check(status);
  }

  void Stop() {
    const WithoutGil no_gil;
    takt_stream_stop(stream_.get());
  }

  void WaitIdle(nb::handle timeout) {
    CallbackScope::CheckMayWait(function_->device());
    CheckMayRun();
    WaitForSignals(
        DeadlineOf(timeout), "the stream is not idle yet",
        [&](int64_t slice_ns, bool* is_idle) {
          takt_status_t status = takt_stream_wait_idle(stream_.get(), slice_ns);
          *is_idle = takt_status_code(status) != TAKT_STATUS_DEADLINE_EXCEEDED;
          if (*is_idle) return status;
          takt_status_free(status);
          return takt_status_t{nullptr};
        });
  }

  void SetInput(nb::args args, nb::kwargs kwargs) {
    CallOptions options;
    // The jobs of all periods read the input until there is another one.
    const Values arguments =
        function_->MakeArguments(args, kwargs, &options, Lending::kNever);
    Check(takt_stream_set_input(stream_.get(), arguments.size(),
                                arguments.data()));
  }

  // `self` is kept by the array.
  static nb::object MapInput(nb::handle self, size_t index) {
    const Stream& stream = *nb::inst_ptr<Stream>(self);
    void* data = nullptr;
    Check(takt_stream_map_input(stream.stream_.get(), index, &data, nullptr));
    return ArrayOver(data, stream.function_->argument(index), self);
  }

  takt_stream_t* get() const { return stream_.get(); }

  void PublishInput() { Check(takt_stream_publish_input(stream_.get())); }

  // (results, job), or None if there is nothing new.
  nb::object TakeOutput() {
    Values results(function_->result_elements().size());
    takt_stream_job_t job;
    if (!takt_stream_take_output(stream_.get(), results.size(), results.data(),
                                 &job)) {
      return nb::none();
    }
    return nb::make_tuple(FromResults(results.size(), results.data(),
                                      function_->result_elements()),
                          DescribeJob(job));
  }

  void WriteCapture(const std::string& path) {
    const char* const file = ToCString(path, "path");
    takt_status_t status = nullptr;
    {
      const WithoutGil no_gil;
      status = takt_stream_write_capture(stream_.get(), file);
    }
    Check(status);
  }

  nb::dict Statistics() const {
    takt_stream_statistics_t from = {};
    from.struct_size = sizeof(from);
    Check(takt_stream_query_statistics(stream_.get(), &from));
    nb::dict result;
    result["released"] = from.released_count;
    result["met"] = from.met_count;
    result["missed"] = from.missed_count;
    result["dropped"] = from.dropped_count;
    result["failed"] = from.failed_count;
    result["starved"] = from.starved_count;
    result["overruns"] = from.overrun_count;
    result["skipped"] = from.skipped_count;
    result["response"] = DescribeQuantiles(from.response);
    result["begin_delay"] = DescribeQuantiles(from.begin_delay);
    result["release_error"] = DescribeQuantiles(from.release_error);
    result["predicted"] = from.predicted_count;
    result["kept"] = from.kept_count;
    result["predicted_response"] = DescribeQuantiles(from.predicted_response);
    result["lenient"] = from.lenient_count;
    result["broken_windows"] = from.broken_window_count;
    return result;
  }

  // Times that are not known are None.
  nb::dict Predict(nb::handle release_ns, nb::handle step,
                   bool with_bound) const {
    takt_stream_predict_options_t options;
    takt_stream_predict_options_init(&options);
    options.release_ns = ToOption<int64_t>(release_ns, "release_ns");
    options.step_ns = ToNs(step, "step");
    options.with_bound = with_bound;
    takt_stream_prediction_t from = {};
    from.struct_size = sizeof(from);
    Check(takt_stream_predict(stream_.get(), &options, &from));
    const auto known = [](int64_t value, int64_t unknown) {
      return value != unknown ? nb::object(nb::int_(value)) : nb::none();
    };
    nb::dict result;
    result["release_ns"] = from.release_ns;
    result["jobs"] = from.job_count;
    result["q50_ns"] = known(from.q50_ns, TAKT_INFINITE_FUTURE);
    result["q99_ns"] = known(from.q99_ns, TAKT_INFINITE_FUTURE);
    result["bound_ns"] = known(from.bound_ns, TAKT_INFINITE_FUTURE);
    result["q50_steps"] = known(from.q50_steps, -1);
    result["q99_steps"] = known(from.q99_steps, -1);
    result["bound_steps"] = known(from.bound_steps, -1);
    return result;
  }

  nb::dict Admit(bool promise) const {
    static constexpr const char* kVerdicts[] = {"fits", "unknown",
                                                "impossible"};
    takt_admission_t from = {};
    from.struct_size = sizeof(from);
    Check(takt_stream_admit(stream_.get(), promise, &from));
    nb::dict result;
    result["verdict"] = static_cast<size_t>(from.verdict) < std::size(kVerdicts)
                            ? kVerdicts[from.verdict]
                            : "";
    result["reason"] = from.reason;
    result["response_least_ns"] = from.response_least_ns;
    result["response_bound_ns"] = from.response_bound_ns;
    result["load_before"] = static_cast<double>(from.load_before_ppm) * 1e-6;
    result["load_after"] = static_cast<double>(from.load_after_ppm) * 1e-6;
    return result;
  }

 private:
  void CheckMayRun() const {
    process_.CheckIsHere("a stream does not run in a child of fork()");
  }

  const nb::object function_object_;
  const Function* const function_;
  const Process process_;
  std::unique_ptr<Callbacks> callbacks_;
  StreamHandle stream_;
};

}  // namespace

takt_stream_t* StreamOf(nb::handle stream) {
  if (!nb::isinstance<Stream>(stream)) {
    throw nb::type_error("expected a stream of takt");
  }
  return nb::cast<const Stream&>(stream).get();
}

void BindStream(nb::module_& module) {
  nb::class_<Stream>(module, "Stream", nb::is_weak_referenceable(),
                     "A function that is called again and again.")
      .def(nb::init<nb::object, const Stream*, nb::kwargs>(),
           nb::arg("function"), nb::arg("after").none(), nb::arg("options"))
      .def("start", &Stream::Start, nb::arg("at_ns").none() = nb::none())
      .def("stop", &Stream::Stop)
      .def("write_capture", &Stream::WriteCapture)
      .def("wait_idle", &Stream::WaitIdle,
           nb::arg("timeout").none() = nb::none())
      .def("set_input", &Stream::SetInput)
      .def(
          "map_input",
          [](nb::handle_t<Stream> self, size_t index) {
            return Stream::MapInput(self, index);
          },
          nb::arg("index") = 0)
      .def("publish_input", &Stream::PublishInput)
      .def("take_output", &Stream::TakeOutput)
      .def("statistics", &Stream::Statistics)
      .def("predict", &Stream::Predict, nb::arg("release_ns"), nb::arg("step"),
           nb::arg("with_bound"))
      .def("admit", &Stream::Admit, nb::arg("promise") = false);
}

}  // namespace takt::python
