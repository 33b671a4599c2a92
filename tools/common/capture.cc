#include "tools/common/capture.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace takt::tools {
namespace {

using Json = nlohmann::json;

constexpr size_t kLengthBytes = 8;
// The limit of the format's own writers.
constexpr uint64_t kHeaderBytesMax = 100'000'000;
// Of the jobs in a file, and of the inputs or results of one.
constexpr size_t kCountMax = 1 << 20;

Status Damaged(const std::string& what) {
  return InvalidArgument("no capture of a stream: " + what);
}

struct Dtype {
  const char* name;
  takt_element_type_t type;
};

constexpr Dtype kDtypes[] = {
    {"BOOL", TAKT_ELEMENT_BOOL},        {"I8", TAKT_ELEMENT_I8},
    {"U8", TAKT_ELEMENT_UI8},           {"I16", TAKT_ELEMENT_I16},
    {"U16", TAKT_ELEMENT_UI16},         {"I32", TAKT_ELEMENT_I32},
    {"U32", TAKT_ELEMENT_UI32},         {"I64", TAKT_ELEMENT_I64},
    {"U64", TAKT_ELEMENT_UI64},         {"F16", TAKT_ELEMENT_F16},
    {"BF16", TAKT_ELEMENT_BF16},        {"F32", TAKT_ELEMENT_F32},
    {"F64", TAKT_ELEMENT_F64},          {"F8_E5M2", TAKT_ELEMENT_F8E5M2},
    {"F8_E4M3", TAKT_ELEMENT_F8E4M3FN},
};

// A number of a JSON object; INVALID_ARGUMENT, with the name, if it has none.
template <typename T>
Result<T> NumberOf(const Json& object, const char* name) {
  const auto place = object.find(name);
  if (place == object.end() || !place->is_number_integer()) {
    return Damaged(std::string(name) + " is no whole number");
  }
  if (place->is_number_unsigned()) {
    const auto number = place->get<uint64_t>();
    if (std::in_range<T>(number)) return static_cast<T>(number);
  } else if (std::in_range<T>(place->get<int64_t>())) {
    return static_cast<T>(place->get<int64_t>());
  }
  return Damaged(std::string(name) + " is out of range");
}

Result<std::string> TextOf(const Json& object, const char* name) {
  const auto place = object.find(name);
  if (place == object.end() || !place->is_string()) {
    return Damaged(std::string(name) + " is no text");
  }
  return place->get<std::string>();
}

// The elements of an array of at most `count_max` numbers that are not
// negative.
Result<std::vector<int64_t>> NumbersOf(const Json& object, const char* name,
                                       size_t count_max) {
  const auto place = object.find(name);
  if (place == object.end() || !place->is_array() ||
      place->size() > count_max) {
    return Damaged(std::string(name) + " is no list of numbers");
  }
  std::vector<int64_t> numbers;
  for (const Json& each : *place) {
    if (!each.is_number_unsigned() ||
        !std::in_range<int64_t>(each.get<uint64_t>())) {
      return Damaged(std::string(name) + " is no list of numbers");
    }
    numbers.push_back(static_cast<int64_t>(each.get<uint64_t>()));
  }
  return numbers;
}

// Whether a dense tensor has exactly `byte_length` bytes.
bool IsSizeOf(takt_element_type_t type, const std::vector<int64_t>& shape,
              size_t byte_length) {
  uint64_t size = takt_element_type_bit_count(type) / 8;
  for (const int64_t extent : shape) {
    if (extent != 0 && size > byte_length / static_cast<uint64_t>(extent)) {
      return false;
    }
    size *= static_cast<uint64_t>(extent);
  }
  return size == byte_length;
}

Result<NpyArray> ReadTensor(const Json& json, std::string_view data) {
  constexpr size_t kRankMax = 128;
  if (!json.is_object()) return Damaged("no object");
  NpyArray tensor;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string dtype, TextOf(json, "dtype"));
  const auto known = std::ranges::find_if(
      kDtypes, [&](const Dtype& each) { return each.name == dtype; });
  if (known == std::end(kDtypes)) return Damaged("unknown dtype " + dtype);
  tensor.element_type = known->type;
  TAKT_TOOLS_ASSIGN_OR_RETURN(tensor.shape, NumbersOf(json, "shape", kRankMax));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets,
                              NumbersOf(json, "data_offsets", 2));
  if (offsets.size() != 2 || offsets[0] > offsets[1] ||
      static_cast<uint64_t>(offsets[1]) > data.size()) {
    return Damaged("data_offsets are outside of the file");
  }
  tensor.data = data.substr(static_cast<size_t>(offsets[0]),
                            static_cast<size_t>(offsets[1] - offsets[0]));
  if (!IsSizeOf(tensor.element_type, tensor.shape, tensor.data.size())) {
    return Damaged("the shape is not that of the data");
  }
  return tensor;
}

// The tensors "PREFIX0", "PREFIX1" and so on.
Result<std::vector<NpyArray>> ReadTensors(const Json& header,
                                          const std::string& prefix,
                                          std::string_view data) {
  std::vector<NpyArray> tensors;
  for (size_t i = 0; i < kCountMax; ++i) {
    const std::string name = prefix + std::to_string(i);
    const auto place = header.find(name);
    if (place == header.end()) break;
    Result<NpyArray> tensor = ReadTensor(*place, data);
    if (!tensor.ok()) return Annotate(tensor.status(), name);
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

Result<CapturedJob> ReadJob(const Json& header, const Json& json,
                            std::string_view data) {
  if (!json.is_object()) return Damaged("a job is no object");
  CapturedJob job;
  TAKT_TOOLS_ASSIGN_OR_RETURN(job.sequence,
                              NumberOf<uint64_t>(json, "sequence"));
  TAKT_TOOLS_ASSIGN_OR_RETURN(job.begin_ns,
                              NumberOf<int64_t>(json, "begin_ns"));
  TAKT_TOOLS_ASSIGN_OR_RETURN(job.end_ns, NumberOf<int64_t>(json, "end_ns"));
  if (json.contains("outcome") && !json["outcome"].is_null()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(job.outcome, TextOf(json, "outcome"));
  }
  const std::string prefix = "job." + std::to_string(job.sequence);
  TAKT_TOOLS_ASSIGN_OR_RETURN(job.inputs,
                              ReadTensors(header, prefix + ".input.", data));
  TAKT_TOOLS_ASSIGN_OR_RETURN(job.results,
                              ReadTensors(header, prefix + ".result.", data));
  return job;
}

Json Parse(std::string_view text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Result<Capture> ParseCapture(std::string_view bytes) {
  uint64_t header_bytes = 0;
  if (bytes.size() < kLengthBytes) return Damaged("the file is too short");
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (header_bytes > std::min<uint64_t>(bytes.size(), kHeaderBytesMax)) {
    return Damaged("the header is longer than the file");
  }
  const Json header = Parse(bytes.substr(0, header_bytes));
  const std::string_view data = bytes.substr(header_bytes);
  if (!header.is_object()) return Damaged("the header is no JSON object");
  const auto metadata = header.find("__metadata__");
  if (metadata == header.end() || !metadata->is_object()) {
    return Damaged("there is no metadata");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string version,
                              TextOf(*metadata, "takt.capture"));
  if (version != "1") return Damaged("version " + version);
  Capture capture;
  TAKT_TOOLS_ASSIGN_OR_RETURN(capture.function, TextOf(*metadata, "function"));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text,
                              TextOf(*metadata, "jobs"));
  const Json jobs = Parse(text);
  if (!jobs.is_array() || jobs.size() > kCountMax) {
    return Damaged("jobs is no list");
  }
  for (const Json& json : jobs) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(CapturedJob job, ReadJob(header, json, data));
    capture.jobs.push_back(std::move(job));
  }
  return capture;
}

}  // namespace takt::tools
