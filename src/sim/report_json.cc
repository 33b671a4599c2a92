#include "sim/report_json.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "nlohmann/json.hpp"

namespace takt::sim {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(sched::Criticality criticality) {
  switch (criticality) {
    case sched::Criticality::kHard:
      return "hard";
    case sched::Criticality::kSoft:
      return "soft";
    case sched::Criticality::kBestEffort:
      return "best-effort";
  }
  return "";
}

double Us(int64_t time_ns) { return static_cast<double>(time_ns) / 1e3; }

// How many resources the stream used on average.
double Used(const StreamReport& stream, const SimulationOptions& options) {
  return static_cast<double>(stream.used_ns) /
         static_cast<double>(options.length_ns);
}

// Six digits are enough, and read better.
double Rounded(double value) { return std::round(value * 1e6) / 1e6; }

// The error as a part of the durations that were predicted.
double Part(int64_t error_ns, const Report& report) {
  return Rounded(
      static_cast<double>(error_ns) /
      static_cast<double>(std::max<int64_t>(report.predictions.ran_ns, 1)));
}

std::string Format(const char* format, ...)
    __attribute__((format(printf, 1, 2)));
std::string Format(const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  return line;
}

const char* PolicyName(const SimulationOptions& options) {
  return options.scheduler.policy != nullptr
             ? options.scheduler.policy->name()
             : sched::FindPolicy("job-shop")->name();
}

}  // namespace

std::string ReportJson(const Workload& workload,
                       const SimulationOptions& options, const Report& report) {
  Json root = {{"workload", workload.name},
               {"policy", PolicyName(options)},
               {"seed", options.seed},
               {"seconds", static_cast<double>(options.length_ns) / 1e9},
               {"load", Rounded(workload.Load())},
               {"makespan_us", Us(report.makespan_ns)},
               {"releases", report.release_count},
               {"starts", report.start_count},
               {"yields", report.yield_count},
               {"prediction_error", Part(report.predictions.error_ns, report)},
               {"plain_prediction_error",
                Part(report.predictions.plain_error_ns, report)},
               {"streams", Json::array()},
               {"utilization", Json::array()}};
  for (const StreamReport& stream : report.streams) {
    Json object = {{"name", stream.name},
                   {"criticality", NameOf(stream.criticality)},
                   {"released", stream.released},
                   {"met", stream.met},
                   {"missed", stream.missed},
                   {"dropped", stream.dropped},
                   {"failed", stream.failed},
                   {"unfinished", stream.unfinished},
                   {"miss_ratio", Rounded(stream.miss_ratio())},
                   {"resources_used", Rounded(Used(stream, options))},
                   {"response_us",
                    {{"mean", Us(stream.mean_ns())},
                     {"p50", Us(stream.quantile_ns(0.5))},
                     {"p99", Us(stream.quantile_ns(0.99))},
                     {"p99.9", Us(stream.quantile_ns(0.999))},
                     {"max", Us(stream.quantile_ns(1))}}}};
    if (stream.asked) {
      const sched::AdmissionReport& answer = stream.admission;
      object["admission"] = {
          {"verdict", sched::VerdictName(answer.verdict)},
          {"reason", answer.reason},
          {"response_least_us", Us(answer.response_least_ns)},
          {"response_bound_us", answer.response_bound_ns == kInfiniteFuture
                                    ? Json(nullptr)
                                    : Json(Us(answer.response_bound_ns))},
          {"load_before", static_cast<double>(answer.load_before_ppm) / 1e6},
          {"load_after", static_cast<double>(answer.load_after_ppm) / 1e6}};
    }
    root["streams"].push_back(std::move(object));
  }
  uint32_t resource = 0;
  for (const sched::Pool& pool : workload.machine.pools) {
    for (uint32_t i = 0; i < pool.count; ++i, ++resource) {
      root["utilization"].push_back(
          {{"resource", pool.name + "/" + std::to_string(i)},
           {"busy", Rounded(report.utilization[resource])}});
    }
  }
  // Names from a file may hold any bytes; replace rather than throw.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ReportTable(const Workload& workload,
                        const SimulationOptions& options,
                        const Report& report) {
  std::string text = Format(
      "%s, policy %s, seed %llu, %.3f s, load %.1f %%\n\n",
      workload.name.substr(0, 80).c_str(), PolicyName(options),
      static_cast<unsigned long long>(options.seed),
      static_cast<double>(options.length_ns) / 1e9, workload.Load() * 100);
  text += Format("%-16s %9s %9s %7s %7s %7s %10s %10s %10s %10s\n", "stream",
                 "released", "met", "missed", "dropped", "used", "p50 us",
                 "p99 us", "p99.9 us", "max us");
  for (const StreamReport& stream : report.streams) {
    text += Format(
        "%-16s %9llu %9llu %7llu %7llu %7.3f %10.1f %10.1f %10.1f %10.1f\n",
        stream.name.substr(0, 60).c_str(),
        static_cast<unsigned long long>(stream.released),
        static_cast<unsigned long long>(stream.met),
        static_cast<unsigned long long>(stream.missed),
        static_cast<unsigned long long>(stream.dropped), Used(stream, options),
        Us(stream.quantile_ns(0.5)), Us(stream.quantile_ns(0.99)),
        Us(stream.quantile_ns(0.999)), Us(stream.quantile_ns(1)));
  }
  text += "\n";
  for (const StreamReport& stream : report.streams) {
    if (!stream.asked) continue;
    text += absl::StrCat(stream.name, " ",
                         sched::VerdictName(stream.admission.verdict), ": ",
                         stream.admission.reason, "\n\n");
  }
  uint32_t resource = 0;
  for (const sched::Pool& pool : workload.machine.pools) {
    text += Format("%-16s", pool.name.substr(0, 60).c_str());
    for (uint32_t i = 0; i < pool.count; ++i, ++resource) {
      text += Format(" %5.1f %%", report.utilization[resource] * 100);
    }
    text += "\n";
  }
  text += Format("makespan %.1f us, %llu releases, %llu starts, %llu yields\n",
                 Us(report.makespan_ns),
                 static_cast<unsigned long long>(report.release_count),
                 static_cast<unsigned long long>(report.start_count),
                 static_cast<unsigned long long>(report.yield_count));
  if (report.predictions.run_count > 0) {
    text += Format(
        "durations predicted within %.1f %%, by the median alone within %.1f "
        "%%\n",
        Part(report.predictions.error_ns, report) * 100,
        Part(report.predictions.plain_error_ns, report) * 100);
  }
  return text;
}

}  // namespace takt::sim
