// The streams of a workload.
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/check.h"
#include "base/cpu_set.h"
#include "base/narrow.h"
#include "base/status.h"
#include "plan/workload_keys.h"
#include "plan/workload_reader.h"
#include "sched/met_window.h"

namespace takt::plan {

using Json = nlohmann::json;

absl::Status WorkloadReader::ReadAnnotations(const JsonPlace& place,
                                             WorkloadStream* stream) {
  if (stream->function < 0) return absl::OkStatus();
  const std::string& name =
      workload_.functions[Narrow<size_t>(stream->function)].name;
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) return absl::OkStatus();
  const auto fault = [&](const std::string& key) {
    return place.Error(absl::StrCat("attribute ", key, " of ", name, " is \"",
                                    found->second.at(key), "\""));
  };
  for (const auto& [key, value] : found->second) {
    int64_t number = 0;
    if (key == "takt.deadline_ns") {
      if (!absl::SimpleAtoi(value, &number) || number <= 0) return fault(key);
      stream->terms.deadline_ns = number;
    } else if (key == "takt.priority") {
      if (!absl::SimpleAtoi(value, &number) || number < 0 || number > 255) {
        return fault(key);
      }
      stream->terms.priority = Narrow<uint8_t>(number);
    } else if (key == "takt.affinity") {
      if (!SetAffinity(value, stream).ok()) return fault(key);
    } else if (key == "takt.resource") {
      if (value != "npu" && value != "cpu") return fault(key);
      const auto kind = value == "npu" ? sched::ResourceKind::kNpu
                                       : sched::ResourceKind::kCore;
      stream->terms.pools = 0;
      for (uint32_t i = 0; i < workload_.machine.pools.size(); ++i) {
        if (workload_.machine.pools[i].kind == kind) {
          stream->terms.pools |= 1u << i;
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadPools(const JsonPlace& place,
                                       WorkloadStream* stream) {
  const Json* pools = place.Find("pools");
  if (pools == nullptr) return absl::OkStatus();
  if (!pools->is_array()) return place.ErrorAt("pools", "expected a list");
  stream->terms.pools = 0;
  for (const Json& name : *pools) {
    const int32_t pool =
        name.is_string() ? workload_.machine.FindPool(name.get<std::string>())
                         : -1;
    if (pool < 0) {
      return place.ErrorAt(
          "pools", absl::StrCat("the machine has no pool ", name.dump()));
    }
    stream->terms.pools |= 1u << pool;
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadAffinity(const JsonPlace& place,
                                          WorkloadStream* stream) {
  TAKT_ASSIGN_OR_RETURN(const std::string text, place.Text("affinity", ""));
  if (text.empty()) return absl::OkStatus();
  const absl::Status status = SetAffinity(text, stream);
  if (!status.ok()) return place.ErrorAt("affinity", status.message());
  return absl::OkStatus();
}

absl::Status WorkloadReader::SetAffinity(const std::string& text,
                                         WorkloadStream* stream) {
  TAKT_ASSIGN_OR_RETURN(const CpuSet set, CpuSet::Parse(text));
  const auto count = Narrow<int32_t>(workload_.machine.resource_count());
  stream->terms.affinity = {};
  for (int32_t i = set.Next(0); i >= 0; i = set.Next(i + 1)) {
    if (i >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("the machine has no resource ", i));
    }
    stream->terms.affinity.Add(Narrow<uint32_t>(i));
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadArrival(const JsonPlace& place,
                                         WorkloadStream* stream) {
  TAKT_ASSIGN_OR_RETURN(
      const uint32_t arrival,
      ReadChoice(place, "arrival", {"periodic", "poisson", "closed", "once"}));
  const Arrival arrivals[] = {Arrival::kPeriodic, Arrival::kPoisson,
                              Arrival::kClosed, Arrival::kOnce};
  stream->arrival = arrivals[arrival];
  TAKT_ASSIGN_OR_RETURN(const double count,
                        ReadReal(place, "count", 1, 10'000, 1));
  stream->count = Narrow<uint32_t>(count);
  TAKT_ASSIGN_OR_RETURN(const std::string after, place.Text("after", ""));
  if (!after.empty()) {
    const int32_t index = FindNamed(workload_.streams, after);
    if (index < 0) {
      return place.ErrorAt(
          "after", absl::StrCat("no stream \"", after, "\" stands above"));
    }
    stream->arrival = Arrival::kAfter;
    stream->after = Narrow<uint32_t>(index);
  }
  if (stream->terms.period_ns <= 0 && (stream->arrival == Arrival::kPeriodic ||
                                       stream->arrival == Arrival::kPoisson)) {
    return place.Error("\"period_ms\" is missing");
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadWork(const JsonPlace& place,
                                      WorkloadStream* stream) {
  std::string program;
  if (place.Find("function") != nullptr) {
    if (place.Find("program") != nullptr) {
      return place.Error("a program and a function");
    }
    TAKT_ASSIGN_OR_RETURN(stream->function, ReadFunctionName(place));
    program = workload_.functions[Narrow<size_t>(stream->function)].name;
  } else {
    TAKT_ASSIGN_OR_RETURN(program, place.Text("program", ""));
  }
  const int32_t index = FindNamed(workload_.programs, program);
  if (index >= 0) {
    stream->terms.program = Narrow<uint32_t>(index);
  } else if (stream->function < 0) {
    return place.ErrorAt("program",
                         absl::StrCat("there is no program \"", program, "\""));
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadStream(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckStreamKeys(place));
  WorkloadStream stream;
  sched::StreamOptions& terms = stream.terms;
  TAKT_ASSIGN_OR_RETURN(stream.name, NewName(place, workload_.streams));
  TAKT_RETURN_IF_ERROR(ReadWork(place, &stream));
  TAKT_ASSIGN_OR_RETURN(terms.period_ns, ReadTime(place, "period", 0));
  TAKT_ASSIGN_OR_RETURN(stream.offset_ns, ReadTime(place, "offset", 0));
  TAKT_ASSIGN_OR_RETURN(stream.jitter_ns, ReadTime(place, "jitter", 0));
  if (terms.period_ns > 0) terms.deadline_ns = terms.period_ns;
  TAKT_RETURN_IF_ERROR(ReadAnnotations(place, &stream));
  TAKT_ASSIGN_OR_RETURN(terms.deadline_ns,
                        ReadTime(place, "deadline", terms.deadline_ns));
  TAKT_ASSIGN_OR_RETURN(const double priority,
                        ReadReal(place, "priority", 0, 255, terms.priority));
  terms.priority = Narrow<uint8_t>(priority);
  TAKT_ASSIGN_OR_RETURN(
      const uint32_t criticality,
      ReadChoice(place, "criticality", {"soft", "hard", "best-effort"}));
  const sched::Criticality criticalities[] = {sched::Criticality::kSoft,
                                              sched::Criticality::kHard,
                                              sched::Criticality::kBestEffort};
  terms.criticality = criticalities[criticality];
  TAKT_ASSIGN_OR_RETURN(
      const uint32_t late,
      ReadChoice(place, "late", {"run-on", "demote", "drop", "latest-only"}));
  terms.late = static_cast<sched::LatePolicy>(late);
  TAKT_ASSIGN_OR_RETURN(
      const double met_window,
      ReadReal(place, "met_window", 0, sched::MetWindow::kLengthMax, 0));
  terms.met_window = Narrow<uint32_t>(met_window);
  TAKT_ASSIGN_OR_RETURN(
      const double met_min,
      ReadReal(place, "met_min", 0, sched::MetWindow::kLengthMax, 0));
  terms.met_min = Narrow<uint32_t>(met_min);
  TAKT_ASSIGN_OR_RETURN(const double share, ReadReal(place, "share", 0, 1, 0));
  terms.share_permille = Narrow<uint32_t>(std::llround(share * 1000));
  TAKT_ASSIGN_OR_RETURN(const double weight,
                        ReadReal(place, "weight", 0, sched::kWeightMax, 0));
  terms.weight = Narrow<uint32_t>(weight);
  TAKT_ASSIGN_OR_RETURN(const uint32_t lease,
                        ReadChoice(place, "lease", {"operation", "job"}));
  terms.lease = static_cast<sched::LeaseScope>(lease);
  TAKT_ASSIGN_OR_RETURN(
      const double shards,
      ReadReal(place, "shards", 0, sched::ResourceSet::kMaxResources, 0));
  terms.shards_preferred = Narrow<uint32_t>(shards);
  TAKT_ASSIGN_OR_RETURN(stream.probability,
                        ReadReal(place, "probability", 0, 1, 1));
  TAKT_ASSIGN_OR_RETURN(stream.asks_admission, ReadBool(place, "admission"));
  TAKT_ASSIGN_OR_RETURN(stream.is_dynamic, ReadBool(place, "dynamic"));
  TAKT_RETURN_IF_ERROR(ReadPools(place, &stream));
  TAKT_RETURN_IF_ERROR(ReadAffinity(place, &stream));
  TAKT_RETURN_IF_ERROR(ReadArrival(place, &stream));
  workload_.streams.push_back(std::move(stream));
  return absl::OkStatus();
}

}  // namespace takt::plan
