#include "npu/sim_profile.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/status.h"
#include "takt/npu_driver.h"

namespace takt::npu {
namespace {

using Json = nlohmann::json;

absl::Status Error(const std::string& place, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("NPU profile: ", place, ": ", reason));
}

// Reads the members of one object; remembers the first error, and at the end
// reports unknown members.
class Reader {
 public:
  Reader(const Json& object, std::string place)
      : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) Fail("", "expected an object");
  }

  // A number in [least, most].
  template <typename T>
  void Number(const char* key, double least, double most, T* value) {
    const Json* const member = Find(key);
    if (member == nullptr) return;
    if (!member->is_number() || !(member->get<double>() >= least) ||
        !(member->get<double>() <= most)) {
      return Fail(key, absl::StrCat("expected a number from ", least, " to ",
                                    most, ", got ", member->dump()));
    }
    *value = static_cast<T>(member->get<double>());
  }
  void Flag(const char* key, bool* value) {
    const Json* const member = Find(key);
    if (member == nullptr) return;
    if (!member->is_boolean()) return Fail(key, "expected true or false");
    *value = member->get<bool>();
  }
  void Text(const char* key, std::string* value) {
    const Json* const member = Find(key);
    if (member == nullptr) return;
    if (!member->is_string()) return Fail(key, "expected text");
    *value = member->get<std::string>();
  }
  // A list of at most `count_max` numbers in [least, most].
  template <typename T>
  void Numbers(const char* key, size_t count_max, double least, double most,
               std::vector<T>* values) {
    const Json* const member = Find(key);
    if (member == nullptr) return;
    if (!member->is_array() || member->size() > count_max) {
      return Fail(key,
                  absl::StrCat("expected at most ", count_max, " numbers"));
    }
    values->clear();
    for (const Json& each : *member) {
      if (!each.is_number() || !(each.get<double>() >= least) ||
          !(each.get<double>() <= most)) {
        return Fail(key, absl::StrCat("expected numbers from ", least, " to ",
                                      most, ", got ", each.dump()));
      }
      values->push_back(static_cast<T>(each.get<double>()));
    }
  }
  // The member, as it is; nullptr if there is none.
  const Json* Find(const char* key) {
    known_.insert(key);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found != object_.end() ? &*found : nullptr;
  }
  void Fail(const char* key, absl::string_view reason) {
    if (!status_.ok()) return;
    status_ =
        Error(key[0] != '\0' ? absl::StrCat(place_, ".", key) : place_, reason);
  }
  absl::Status Finish() {
    if (!status_.ok()) return status_;
    for (const auto& [key, value] : object_.items()) {
      if (known_.count(key) == 0) {
        return Error(place_, absl::StrCat("unknown member \"", key, "\""));
      }
    }
    return absl::OkStatus();
  }

 private:
  const Json& object_;
  const std::string place_;
  std::set<std::string> known_;
  absl::Status status_;
};

constexpr struct {
  const char* name;
  uint32_t type;
} kTypes[] = {
    {"f32", TAKT_NPU_TYPE_F32},         {"s8", TAKT_NPU_TYPE_S8_S8_S32},
    {"f16", TAKT_NPU_TYPE_F16_F16_F32}, {"bf16", TAKT_NPU_TYPE_BF16_BF16_F32},
    {"s16", TAKT_NPU_TYPE_S16_S16_S32}, {"s16_s8", TAKT_NPU_TYPE_S16_S8_S32},
};

absl::Status ReadRates(const Json& object, std::map<uint32_t, double>* rates) {
  Reader reader(object, "macs_per_cycle");
  rates->clear();
  for (const auto& each : kTypes) {
    double rate = 0;
    reader.Number(each.name, 1e-3, 1e9, &rate);
    if (rate > 0) (*rates)[each.type] = rate;
  }
  return reader.Finish();
}

absl::Status ReadHeat(const Json& object, SimProfile* profile) {
  Reader reader(object, "heat");
  reader.Number("ambient_celsius", -100, 1e3, &profile->ambient_celsius);
  reader.Number("rise_celsius", 0, 1e4, &profile->rise_celsius);
  reader.Number("time_constant_s", 1e-6, 1e6, &profile->time_constant_s);
  reader.Number("throttle_celsius", -100, 1e4, &profile->throttle_celsius);
  reader.Number("recover_celsius", -100, 1e4, &profile->recover_celsius);
  reader.Number("critical_celsius", -100, 1e4, &profile->critical_celsius);
  return reader.Finish();
}

absl::Status ReadFaults(const Json& object, SimFaults* faults) {
  Reader reader(object, "faults");
  reader.Number("seed", 0, 9e15, &faults->seed);
  reader.Number("error", 0, 1, &faults->error);
  reader.Number("time_out", 0, 1, &faults->time_out);
  reader.Number("late", 0, 1, &faults->late);
  reader.Number("twice", 0, 1, &faults->twice);
  reader.Number("lost", 0, 1, &faults->lost);
  reader.Number("bit_flip", 0, 1, &faults->bit_flip);
  reader.Number("overheat", 0, 1, &faults->overheat);
  reader.Number("stuck", 0, 1, &faults->stuck);
  reader.Number("reset_failures", 0, 1000, &faults->reset_failures);
  return reader.Finish();
}

absl::Status ReadTile(const char* key, const std::vector<uint32_t>& values,
                      uint32_t (*tile)[3]) {
  if (values.empty()) return absl::OkStatus();
  if (values.size() != 3) return Error(key, "expected three numbers");
  std::copy(values.begin(), values.end(), *tile);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SimProfile> SimProfile::Parse(absl::string_view json) {
  SimProfile profile;
  if (json.empty()) return profile;
  TAKT_ASSIGN_OR_RETURN(const Json root, ParseJson(json, "NPU profile"));
  Reader reader(root, "root");
  std::string memory = "host";
  std::vector<uint32_t> tile_max;
  std::vector<uint32_t> tile_multiple;
  reader.Text("name", &profile.name);
  reader.Text("path", &profile.path);
  reader.Find("sources");  // For people.
  reader.Text("memory", &memory);
  reader.Number("memory_bytes", 1, 1e12, &profile.memory_bytes);
  reader.Number("scratchpad_bytes", 1, 1e12, &profile.scratchpad_bytes);
  reader.Number("launch_ns", 0, 1e12, &profile.launch_ns);
  reader.Flag("packs", &profile.packs);
  reader.Number("dma_bytes_per_s", 1, 1e15, &profile.dma_bytes_per_s);
  reader.Number("dma_latency_ns", 0, 1e9, &profile.dma_latency_ns);
  reader.Flag("dma_overlaps", &profile.dma_overlaps);
  reader.Numbers("frequencies_hz", 64, 1, 1e12, &profile.frequencies_hz);
  reader.Numbers("tile_max", 3, 0, 65536, &tile_max);
  reader.Numbers("tile_multiple", 3, 1, 65536, &tile_multiple);
  reader.Number("alignment", 1, 65536, &profile.alignment);
  reader.Number("batch_max", 0, 65536, &profile.batch_max);
  reader.Numbers("cpus", 256, 0, 255, &profile.cpus);
  reader.Flag("computes", &profile.computes);
  const Json* const rates = reader.Find("macs_per_cycle");
  const Json* const heat = reader.Find("heat");
  const Json* const faults = reader.Find("faults");
  TAKT_RETURN_IF_ERROR(reader.Finish());
  TAKT_RETURN_IF_ERROR(ReadTile("tile_max", tile_max, &profile.tile_max));
  TAKT_RETURN_IF_ERROR(
      ReadTile("tile_multiple", tile_multiple, &profile.tile_multiple));
  if (rates != nullptr) {
    TAKT_RETURN_IF_ERROR(ReadRates(*rates, &profile.macs_per_cycle));
  }
  if (heat != nullptr) TAKT_RETURN_IF_ERROR(ReadHeat(*heat, &profile));
  if (faults != nullptr) {
    TAKT_RETURN_IF_ERROR(ReadFaults(*faults, &profile.faults));
  }
  if (memory != "host" && memory != "own") {
    return Error("root.memory", "expected \"host\" or \"own\"");
  }
  profile.in_host_memory = memory == "host";
  std::vector<double>& frequencies = profile.frequencies_hz;
  if (frequencies.empty() ||
      !std::is_sorted(frequencies.begin(), frequencies.end())) {
    return Error("root.frequencies_hz", "expected one or more, ascending");
  }
  if (profile.recover_celsius > profile.throttle_celsius) {
    return Error("heat", "recover_celsius is above throttle_celsius");
  }
  return profile;
}

}  // namespace takt::npu
