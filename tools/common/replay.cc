#include "tools/common/replay.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/common/input.h"
#include "tools/common/main.h"

namespace takt::tools {
namespace {

// What became of one job.
struct Rerun {
  double recorded_us = 0;  // 0: it did not end.
  double replayed_us = 0;
  // The first result that differs, or why none can be compared; empty: all are
  // equal.
  std::string difference;
  bool is_compared = false;
};

// The bytes of a result.
Result<std::string> BytesOf(const Value& value) {
  std::string bytes;
  const auto append = [&](const auto& number) {
    bytes.assign(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  switch (value.kind()) {
    case TAKT_VALUE_I64:
      append(value.get().i64);
      return bytes;
    case TAKT_VALUE_F32:
      append(value.get().f32);
      return bytes;
    case TAKT_VALUE_F64:
      append(value.get().f64);
      return bytes;
    case TAKT_VALUE_REF:
      break;
    default:
      append(value.get().i32);
      return bytes;
  }
  const BufferView view = value.view();
  if (!view) return InvalidArgument("a result is no tensor");
  bytes.resize(view.byte_length());
  TAKT_TOOLS_RETURN_IF_ERROR(view.buffer().Read(
      0, {reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
}

Result<std::string> Difference(const std::vector<Value>& results,
                               const std::vector<NpyArray>& expected) {
  if (results.size() != expected.size()) {
    return std::to_string(results.size()) + " results, captured were " +
           std::to_string(expected.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string bytes, BytesOf(results[i]));
    const std::string_view captured = expected[i].data;
    if (bytes == captured) continue;
    size_t at = 0;
    while (at < std::min(bytes.size(), captured.size()) &&
           bytes[at] == captured[at]) {
      ++at;
    }
    return "result " + std::to_string(i) + " differs from byte " +
           std::to_string(at) + " on";
  }
  return std::string();
}

// Calls the function with the inputs of a job, which fit.
Result<std::vector<Value>> Call(const Session& session,
                                const Function& function,
                                const CapturedJob& job) {
  const Signature signature = function.signature();
  const std::vector<takt_value_kind_t> kinds = ArgumentKinds(signature);
  std::vector<Value> arguments;
  for (size_t i = 0; i < kinds.size(); ++i) {
    Result<Value> value =
        ValueOfArray(session.devices[0], kinds[i], job.inputs[i]);
    if (!value.ok()) {
      return Annotate(value.status(), "input " + std::to_string(i));
    }
    arguments.push_back(*std::move(value));
  }
  std::vector<Value> results(signature.result_count());
  const takt_invoke_options_t options = session.InvokeOptions();
  TAKT_TOOLS_RETURN_IF_ERROR(function.Invoke(arguments, results, &options));
  return results;
}

// Whether two calls with the inputs of a job have different results.
Result<bool> HasState(const Session& session, const Function& function,
                      const CapturedJob& job) {
  std::vector<std::string> bytes[2];
  for (std::vector<std::string>& of_call : bytes) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<Value> results,
                                Call(session, function, job));
    for (const Value& result : results) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(of_call.emplace_back(), BytesOf(result));
    }
  }
  return bytes[0] != bytes[1];
}

Result<Rerun> RunAgain(const Session& session, const Function& function,
                       const CapturedJob& job) {
  Rerun rerun;
  if (job.end_ns > job.begin_ns && job.begin_ns > 0) {
    rerun.recorded_us =
        (static_cast<double>(job.end_ns) - static_cast<double>(job.begin_ns)) /
        1e3;
  }
  if (job.inputs.size() != ArgumentKinds(function.signature()).size()) {
    rerun.difference = "its inputs are not there";
    return rerun;
  }
  const int64_t begin_ns = takt_clock_now_ns();
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<Value> results,
                              Call(session, function, job));
  rerun.replayed_us = static_cast<double>(takt_clock_now_ns() - begin_ns) / 1e3;
  if (job.results.empty() && !results.empty()) {
    rerun.difference = "its results are not there";
    return rerun;
  }
  rerun.is_compared = true;
  TAKT_TOOLS_ASSIGN_OR_RETURN(rerun.difference,
                              Difference(results, job.results));
  return rerun;
}

void PrintRow(const CapturedJob& job, const Rerun& rerun) {
  const char* const outcome = job.outcome.empty() ? "-" : job.outcome.c_str();
  std::printf("%10llu  %-8s %12.1f %12.1f  %s\n",
              static_cast<unsigned long long>(job.sequence), outcome,
              rerun.recorded_us, rerun.replayed_us,
              rerun.difference.empty() ? "equal" : rerun.difference.c_str());
}

}  // namespace

Result<int> Replay(const Session& session, const Function& function,
                   const Capture& capture, bool is_json) {
  nlohmann::ordered_json json = {{"function", capture.function},
                                 {"jobs", nlohmann::ordered_json::array()}};
  if (!is_json) {
    std::printf("%s, %zu jobs\n\n%10s  %-8s %12s %12s  %s\n",
                capture.function.c_str(), capture.jobs.size(), "job", "outcome",
                "captured us", "replayed us", "results");
  }
  const CapturedJob* different = nullptr;
  for (const CapturedJob& job : capture.jobs) {
    const Result<Rerun> rerun = RunAgain(session, function, job);
    if (!rerun.ok()) {
      return Annotate(rerun.status(), "job " + std::to_string(job.sequence));
    }
    if (rerun->is_compared && !rerun->difference.empty()) different = &job;
    if (!is_json) {
      PrintRow(job, *rerun);
      continue;
    }
    json["jobs"].push_back({{"sequence", job.sequence},
                            {"outcome", job.outcome},
                            {"captured_us", rerun->recorded_us},
                            {"replayed_us", rerun->replayed_us},
                            {"is_compared", rerun->is_compared},
                            {"difference", rerun->difference}});
  }
  bool has_state = false;
  if (different != nullptr) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(has_state,
                                HasState(session, function, *different));
  }
  if (!is_json && has_state) {
    std::printf(
        "\nTwo calls with the inputs of job %llu have different results, so "
        "the function has state of its own, such as the seed of random "
        "numbers. The replay begins with the initial state.\n",
        static_cast<unsigned long long>(different->sequence));
  }
  if (is_json) {
    json["has_state"] = has_state;
    std::printf("%s\n", json.dump(2, ' ', false,
                                  nlohmann::json::error_handler_t::replace)
                            .c_str());
  }
  return different != nullptr ? kFailure : kSuccess;
}

}  // namespace takt::tools
