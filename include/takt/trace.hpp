// takt/trace.hpp - traces from C++; contracts are in takt/trace.h.
//
//   takt::check(takt::StartTracing(instance));
//   ...
//   takt::Trace trace = takt::CollectTrace(instance).value();
//   takt::StopTracing(instance);
//   takt::check(trace.WriteFile("run.takt-trace"));
#ifndef TAKT_TRACE_HPP_
#define TAKT_TRACE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <functional>
#include <string>
#include <string_view>

#include "takt/instance.hpp"
#include "takt/trace.h"

namespace takt {
inline namespace cxx {

// Options of tracing. The defaults are those of takt_tracing_options_init().
struct TracingOptions {
  uint32_t event_count_max = 32768;
  uint32_t thread_count_max = 64;
};

class Trace : public Object<Trace, takt_trace_t, takt_trace_retain,
                            takt_trace_release> {
 public:
  using Object::Object;

  static Result<Trace> Load(std::string_view bytes) {
    takt_trace_t* trace = nullptr;
    takt_status_t status = takt_trace_load(bytes.data(), bytes.size(), &trace);
    return TakeResult<Trace>(status, trace);
  }
  static Result<Trace> LoadFile(const std::string& path) {
    takt_trace_t* trace = nullptr;
    takt_status_t status = takt_trace_load_file(path.c_str(), &trace);
    return TakeResult<Trace>(status, trace);
  }

  // `sink` must not throw.
  Status Write(takt_trace_format_t format,
               const std::function<bool(std::string_view)>& sink) const {
    const auto call = [](void* user_data, const void* data, size_t length) {
      const auto& to =
          *static_cast<const std::function<bool(std::string_view)>*>(user_data);
      return to({static_cast<const char*>(data), length});
    };
    return Status(
        takt_trace_write(get(), format, call,
                         const_cast<void*>(static_cast<const void*>(&sink))));
  }
  Status WriteFile(
      const std::string& path,
      takt_trace_format_t format = TAKT_TRACE_FORMAT_PERFETTO) const {
    return Status(takt_trace_write_file(get(), format, path.c_str()));
  }
};

inline Status StartTracing(const Instance& instance,
                           const TracingOptions& options = {}) {
  takt_tracing_options_t given;
  takt_tracing_options_init(&given);
  given.event_count_max = options.event_count_max;
  given.thread_count_max = options.thread_count_max;
  return Status(takt_tracing_start(instance.get(), &given));
}
inline void StopTracing(const Instance& instance) {
  takt_tracing_stop(instance.get());
}
inline Result<Trace> CollectTrace(const Instance& instance) {
  takt_trace_t* trace = nullptr;
  takt_status_t status = takt_tracing_collect(instance.get(), &trace);
  return TakeResult<Trace>(status, trace);
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TRACE_HPP_
