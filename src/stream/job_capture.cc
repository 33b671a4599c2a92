#include "stream/job_capture.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/math.h"
#include "base/stable_sort.h"
#include "base/status.h"
#include "hal/buffer_view.h"
#include "hal/dtype.h"
#include "hal/element_type.h"
#include "runtime/function.h"

namespace takt::stream {
namespace {

// Of all records of a stream.
constexpr uint64_t kBytesMax = uint64_t{1} << 32;

// A scalar, as the low bytes of its slot hold it. None: not a scalar.
absl::optional<CaptureField> ScalarField(vm::ValueKind kind) {
  switch (kind) {
    case vm::ValueKind::kI8:
    case vm::ValueKind::kI16:
    case vm::ValueKind::kI32:
      return CaptureField{"I32", {}, 4};
    case vm::ValueKind::kI64:
      return CaptureField{"I64", {}, 8};
    case vm::ValueKind::kF32:
      return CaptureField{"F32", {}, 4};
    case vm::ValueKind::kF64:
      return CaptureField{"F64", {}, 8};
    default:
      return absl::nullopt;
  }
}

absl::StatusOr<CaptureField> FieldOf(const runtime::ValueType& type) {
  if (auto scalar = ScalarField(type.kind)) return *scalar;
  const absl::Span<const int64_t> shape(type.shape, type.rank);
  const bool is_static =
      type.is_tensor && std::all_of(shape.begin(), shape.end(),
                                    [](int64_t size) { return size >= 0; });
  if (!is_static) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is not known to be a tensor of a static shape (", type.type_or_kind(),
        "); a declaration of the function gives it one"));
  }
  const char* const dtype = hal::DtypeName(type.element_type);
  if (dtype == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(hal::ElementTypeName(type.element_type),
                     " has no name in .safetensors files"));
  }
  TAKT_ASSIGN_OR_RETURN(const uint64_t byte_length,
                        hal::DenseByteLength(type.element_type, shape));
  return CaptureField{
      dtype, {shape.begin(), shape.end()}, static_cast<size_t>(byte_length)};
}

absl::StatusOr<std::vector<CaptureField>> FieldsOf(
    const runtime::Function& function,
    absl::Span<const runtime::ValueType> types, absl::string_view what) {
  std::vector<CaptureField> fields;
  for (size_t i = 0; i < types.size(); ++i) {
    absl::StatusOr<CaptureField> field = FieldOf(types[i]);
    if (!field.ok()) {
      return StreamOptionError(
          function, "capture",
          absl::StrCat(what, " ", i, " ", field.status().message()));
    }
    fields.push_back(*std::move(field));
  }
  return fields;
}

size_t BytesOf(absl::Span<const CaptureField> fields) {
  size_t bytes = 0;
  for (const CaptureField& field : fields) bytes += field.byte_length;
  return bytes;
}

// False if a value is not of its field, or the host cannot read it.
bool Copy(absl::Span<const vm::Value> values,
          absl::Span<const CaptureField> fields, std::vector<uint8_t>* out) {
  if (values.size() != fields.size()) return false;
  uint8_t* to = out->data();
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t byte_length = fields[i].byte_length;
    const uint8_t* from = nullptr;
    const vm::Slot slot = values[i].slot();
    if (!values[i].is_ref()) {
      from = reinterpret_cast<const uint8_t*>(&slot);
      if (byte_length > sizeof(slot)) return false;
    } else {
      auto* const view = DynCast<hal::BufferView>(values[i].ref());
      if (view == nullptr || view->buffer()->byte_length() < byte_length) {
        return false;
      }
      from = view->buffer()->data();
      if (from == nullptr && byte_length > 0) return false;
    }
    if (byte_length > 0) std::memcpy(to, from, byte_length);
    to += byte_length;
  }
  return true;
}

// "miss.safetensors" of job 12 is "miss-12.safetensors".
std::string PathOf(const std::string& path, uint64_t sequence,
                   absl::string_view ending) {
  const size_t dot = path.find_last_of("./");
  const bool has_ending = dot != std::string::npos && path[dot] == '.';
  const size_t stem = has_ending ? dot : path.size();
  return absl::StrCat(path.substr(0, stem), "-", sequence,
                      ending.empty() ? path.substr(stem) : ending);
}

}  // namespace

absl::StatusOr<std::shared_ptr<JobCapture>> JobCapture::Create(
    const runtime::Function& function, CaptureOptions options,
    BackgroundThread* writer) {
  TAKT_CHECK(options.job_count > 0 && writer != nullptr);
  TAKT_ASSIGN_OR_RETURN(
      std::vector<CaptureField> arguments,
      FieldsOf(function, function.signature().arguments(), "input"));
  TAKT_ASSIGN_OR_RETURN(
      std::vector<CaptureField> results,
      FieldsOf(function, function.signature().results(), "result"));
  const uint64_t job_bytes =
      sizeof(Record) + BytesOf(arguments) + BytesOf(results);
  if (options.job_count > kBytesMax / job_bytes) {
    return StreamOptionError(
        function, "capture_job_count",
        absl::StrCat(options.job_count, " jobs of ", job_bytes, " bytes"));
  }
  return std::shared_ptr<JobCapture>(
      new JobCapture(function, std::move(arguments), std::move(results),
                     std::move(options), writer));
}

JobCapture::JobCapture(const runtime::Function& function,
                       std::vector<CaptureField> arguments,
                       std::vector<CaptureField> results,
                       CaptureOptions options, BackgroundThread* writer)
    : function_name_(function.name()),
      notices_(function.context().instance().notices()),
      arguments_(std::move(arguments)),
      results_(std::move(results)),
      options_(std::move(options)),
      writer_(writer),
      records_(options_.job_count) {
  for (Record& record : records_) {
    MutexLock lock(&record.mutex);
    record.job.arguments.resize(BytesOf(arguments_));
    record.job.results.resize(BytesOf(results_));
  }
}

JobCapture::Record* JobCapture::TakeRecord() {
  if (is_kept_.load(std::memory_order_acquire)) return nullptr;
  const uint64_t count = taken_count_.fetch_add(1, std::memory_order_relaxed);
  return &records_[count % records_.size()];
}

void JobCapture::Begin(const StreamJob& job,
                       absl::Span<const vm::Value> arguments) {
  in_flight_ = TakeRecord();
  if (in_flight_ == nullptr) return;
  MutexLock lock(&in_flight_->mutex);
  in_flight_->is_used = true;
  CapturedJob& captured = in_flight_->job;
  captured.job = job;
  captured.has_arguments = Copy(arguments, arguments_, &captured.arguments);
  captured.has_ended = false;
  captured.has_results = false;
}

void JobCapture::End(const StreamJob& job,
                     absl::Span<const vm::Value> results) {
  const bool has_begun = job.begin_ns != 0;
  Record* const record = has_begun ? in_flight_ : TakeRecord();
  if (record == nullptr) return;
  {
    MutexLock lock(&record->mutex);
    CapturedJob& captured = record->job;
    const bool is_in_flight = record->is_used && !captured.has_ended;
    if (has_begun || !is_in_flight) {
      captured.has_arguments = has_begun && captured.has_arguments;
      record->is_used = true;
      captured.job = job;
      captured.has_ended = true;
      captured.has_results =
          !results.empty() && Copy(results, results_, &captured.results);
    }
  }
  if (job.outcome != sched::JobOutcome::kMet) WriteLater(job.sequence);
}

std::vector<CapturedJob> JobCapture::Jobs() const {
  std::vector<CapturedJob> jobs;
  for (const Record& record : records_) {
    MutexLock lock(&record.mutex);
    if (record.is_used) jobs.push_back(record.job);
  }
  StableSort(jobs, [](const CapturedJob& a, const CapturedJob& b) {
    return a.job.sequence < b.job.sequence;
  });
  return jobs;
}

absl::Status JobCapture::Write(const std::string& path,
                               absl::Span<const CapturedJob> jobs) const {
  return WriteFileAtomically(
      path, CaptureFileOf(function_name_, arguments_, results_, jobs));
}

void JobCapture::WriteLater(uint64_t sequence) {
  if (options_.path.empty() ||
      file_count_.load(std::memory_order_relaxed) >= options_.file_count_max ||
      is_writing_.exchange(true, std::memory_order_acq_rel)) {
    return;
  }
  is_kept_.store(true, std::memory_order_release);
  TAKT_TRY {
    writer_->Post(
        [self = shared_from_this(), sequence] { self->WriteNow(sequence); });
  }
  TAKT_CATCH(const std::bad_alloc&) {
    is_kept_.store(false, std::memory_order_release);
    is_writing_.store(false, std::memory_order_release);
    notices_.CaptureFailed(function_name_, "out of memory");
  }
}

void JobCapture::WriteNow(uint64_t sequence) {
  file_count_.fetch_add(1, std::memory_order_relaxed);
  absl::Status status;
  TAKT_TRY {
    const std::vector<CapturedJob> jobs = Jobs();
    is_kept_.store(false, std::memory_order_release);
    status = Write(PathOf(options_.path, sequence, ""), jobs);
    if (options_.write_trace != nullptr) {
      status.Update(
          options_.write_trace(PathOf(options_.path, sequence, ".pftrace")));
    }
  }
  TAKT_CATCH(const std::bad_alloc&) { status = OutOfMemory(); }
  if (!status.ok()) notices_.CaptureFailed(function_name_, status.message());
  is_kept_.store(false, std::memory_order_release);
  is_writing_.store(false, std::memory_order_release);
}

}  // namespace takt::stream
