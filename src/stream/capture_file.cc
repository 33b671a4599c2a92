#include "stream/capture_file.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "nlohmann/json.hpp"

namespace takt::stream {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(sched::JobOutcome outcome) {
  switch (outcome) {
    case sched::JobOutcome::kMet:
      return "met";
    case sched::JobOutcome::kMissed:
      return "missed";
    case sched::JobOutcome::kDropped:
      return "dropped";
    case sched::JobOutcome::kFailed:
      break;
  }
  return "failed";
}

// INT64_MAX, which means "never", is null.
Json Time(int64_t time_ns) {
  return time_ns == kInfiniteFuture ? Json(nullptr) : Json(time_ns);
}

Json Describe(const CapturedJob& captured) {
  const StreamJob& job = captured.job;
  Json json;
  json["sequence"] = job.sequence;
  json["origin_ns"] = job.origin_ns;
  json["deadline_ns"] = Time(job.deadline_ns);
  json["predicted_end_ns"] = Time(job.predicted_end_ns);
  json["begin_ns"] = job.begin_ns;
  json["end_ns"] = job.end_ns;
  json["input_sequence"] = job.input_sequence;
  json["outcome"] =
      captured.has_ended ? Json(NameOf(job.outcome)) : Json(nullptr);
  return json;
}

class Writer {
 public:
  void Add(const std::string& prefix, absl::Span<const CaptureField> fields,
           const std::vector<uint8_t>& bytes) {
    size_t offset = 0;
    for (size_t i = 0; i < fields.size(); ++i) {
      const CaptureField& field = fields[i];
      TAKT_CHECK(offset + field.byte_length <= bytes.size());
      const size_t begin = data_.size();
      data_.append(reinterpret_cast<const char*>(bytes.data()) + offset,
                   field.byte_length);
      header_[absl::StrCat(prefix, i)] = {
          {"dtype", field.dtype},
          {"shape", field.shape},
          {"data_offsets", {begin, data_.size()}}};
      offset += field.byte_length;
    }
  }
  void SetMetadata(Json metadata) {
    header_["__metadata__"] = std::move(metadata);
  }

  std::string Finish() const {
    std::string header = header_.dump();
    header.resize((header.size() + 7) / 8 * 8, ' ');  // As the format asks.
    std::string file;
    for (int i = 0; i < 8; ++i) {
      file.push_back(static_cast<char>(header.size() >> (8 * i) & 0xff));
    }
    return file + header + data_;
  }

 private:
  Json header_;
  std::string data_;
};

}  // namespace

std::string CaptureFileOf(absl::string_view function_name,
                          absl::Span<const CaptureField> arguments,
                          absl::Span<const CaptureField> results,
                          absl::Span<const CapturedJob> jobs) {
  Writer writer;
  Json descriptions = Json::array();
  for (const CapturedJob& captured : jobs) {
    descriptions.push_back(Describe(captured));
    const std::string prefix = absl::StrCat("job.", captured.job.sequence);
    if (captured.has_arguments) {
      writer.Add(absl::StrCat(prefix, ".input."), arguments,
                 captured.arguments);
    }
    if (captured.has_results) {
      writer.Add(absl::StrCat(prefix, ".result."), results, captured.results);
    }
  }
  writer.SetMetadata({{"takt.capture", "1"},
                      {"function", std::string(function_name)},
                      {"jobs", descriptions.dump()}});
  return writer.Finish();
}

}  // namespace takt::stream
