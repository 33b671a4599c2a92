// A JobCapture keeps copies of the inputs and results of a stream's last jobs.
// When a job is not met, it writes them to a file; so does Write(), at any
// time.
//
// Each job has a record. The records form a ring, and their memory is there
// from the start, so Begin() and End() copy bytes and allocate nothing. Write()
// holds the lock of one record at a time: a job waits at most while one record
// is copied.
//
// From the end of a job that is not met until its records are copied for the
// file, the ring stays as it is, and jobs that begin meanwhile get no record.
// So the file has the job, however late the thread that writes it wakes.
//
// Thread-safety: Begin(), and End() of a job that has begun, by the threads of
// the stream's jobs, of which there is one at a time; the rest on any thread.
// Lock order: the lock of a record is a leaf.
#ifndef TAKT_STREAM_JOB_CAPTURE_H_
#define TAKT_STREAM_JOB_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/background_thread.h"
#include "base/mutex.h"
#include "stream/capture_file.h"
#include "stream/stream_job.h"
#include "stream/stream_options.h"
#include "vm/value.h"

namespace takt::runtime {
class Function;
class Notices;
}  // namespace takt::runtime

namespace takt::stream {

class JobCapture final : public std::enable_shared_from_this<JobCapture> {
 public:
  // `writer`, which outlives all uses of the capture, writes the files of jobs
  // that are not met. INVALID_ARGUMENT, with the function and the option, if an
  // argument or result is no scalar and no tensor of a static shape and of a
  // type that files can hold, or if the records would take too much memory.
  static absl::StatusOr<std::shared_ptr<JobCapture>> Create(
      const runtime::Function& function, CaptureOptions options,
      BackgroundThread* writer);

  // The call of a job will be issued with these arguments.
  void Begin(const StreamJob& job, absl::Span<const vm::Value> arguments);
  // The job has ended. It may have done so without a call.
  void End(const StreamJob& job, absl::Span<const vm::Value> results);

  // Writes the records to `path`, from the oldest job to the newest.
  absl::Status Write(const std::string& path) const {
    return Write(path, Jobs());
  }

 private:
  struct Record {
    mutable Mutex mutex;
    bool is_used ABSL_GUARDED_BY(mutex) = false;
    CapturedJob job ABSL_GUARDED_BY(mutex);
  };

  JobCapture(const runtime::Function& function,
             std::vector<CaptureField> arguments,
             std::vector<CaptureField> results, CaptureOptions options,
             BackgroundThread* writer);

  // The record of the oldest job, for another one. Null: there is none now.
  Record* TakeRecord();
  // Copies of the records, from the oldest job to the newest.
  std::vector<CapturedJob> Jobs() const;
  absl::Status Write(const std::string& path,
                     absl::Span<const CapturedJob> jobs) const;
  void WriteLater(uint64_t sequence);
  void WriteNow(uint64_t sequence);

  const std::string function_name_;
  runtime::Notices& notices_;
  const std::vector<CaptureField> arguments_;
  const std::vector<CaptureField> results_;
  const CaptureOptions options_;
  BackgroundThread* const writer_;
  std::vector<Record> records_;
  std::atomic<uint64_t> taken_count_{0};
  // The record of the job that began last. Null: it has none.
  Record* in_flight_ = nullptr;
  std::atomic<size_t> file_count_{0};
  std::atomic<bool> is_writing_{false};
  std::atomic<bool> is_kept_{false};  // The ring stays as it is.
};

}  // namespace takt::stream

#endif  // TAKT_STREAM_JOB_CAPTURE_H_
