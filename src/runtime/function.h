// An exported function of a context, found once and called often.
//
// Thread-safety: as takt/function.h says.
#ifndef TAKT_RUNTIME_FUNCTION_H_
#define TAKT_RUNTIME_FUNCTION_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/object.h"
#include "hal/timeline.h"
#include "runtime/call_options.h"
#include "runtime/context.h"
#include "runtime/job_annotations.h"
#include "runtime/result_binding.h"
#include "runtime/signature.h"
#include "vm/context.h"
#include "vm/value.h"

namespace takt::runtime {

class CallBatch;

class Function final : public Object {
 public:
  static constexpr ObjectType kType{"takt.function"};

  // `name` is "module.function", or "function" of the last module.
  static absl::StatusOr<Ref<Function>> Find(Context* context, const char* name);

  // The same code with another declaration; takt/function.h has the contract.
  absl::StatusOr<Ref<Function>> Declare(absl::string_view declaration) const;

  const std::string& name() const { return name_; }
  // The name of this function's calls in diagnoses of fences.
  const Ref<const hal::Signaller>& signaller() const { return signaller_; }
  Context& context() const { return *context_; }
  vm::FunctionRef ref() const { return ref_; }
  const Signature& signature() const { return *signature_; }
  const vm::ExportInfo& info() const { return context_->vm().info(ref_); }

  const JobAnnotations& annotations() const { return annotations_; }
  // Its calls are recorded there, under this name.
  Tracer& tracer() const { return *context_->instance().tracer(); }
  uint32_t trace_name() const { return trace_name_.Find(tracer(), name_); }

  // INVALID_ARGUMENT unless a caller may pass these. `fences`: the wait fence
  // and the signal fence of an asynchronous function may follow them. A value
  // that one of `futures` will produce must be NONE.
  absl::Status CheckArguments(
      absl::Span<const vm::Value> arguments, bool fences,
      absl::Span<const FutureArgument> futures = {}) const;
  absl::Status CheckArgument(size_t index, const vm::Value& value) const;

  // The scheduling of a call that begins now. INVALID_ARGUMENT, naming the
  // function, if the options are wrong or no worker may run it.
  struct Job {
    JobAttributes attributes;
    exec::JobTraits traits;  // Among the jobs of the context's workers.
  };
  absl::StatusOr<Job> FindJob(const CallOptions& options) const;
  // Announces such a call to the scheduler as a job, which lasts as long as the
  // result. Null without a scheduler, and for a call of normal priority without
  // a deadline.
  Ref<shop::ScheduledJob> BeginJob(const Job& job) const;

  // Memory of the caller for results; null if `buffers` is empty.
  absl::StatusOr<std::unique_ptr<ResultBinding>> ReadBinding(
      absl::Span<const ResultBuffer> buffers,
      absl::Span<const vm::Value> arguments) const;
  ResultPlaces& result_places() const { return *result_places_; }

  // The index of the argument, or result, that is declared under `name`.
  // NOT_FOUND, with the names, if there is none or there are several.
  absl::StatusOr<size_t> FindInput(absl::string_view name) const;
  absl::StatusOr<size_t> FindOutput(absl::string_view name) const;

  // The batch that calls of this function join now; null: none is open.
  Mutex& batch_mutex() ABSL_LOCK_RETURNED(batch_mutex_) { return batch_mutex_; }
  CallBatch*& open_batch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(batch_mutex_) {
    return open_batch_;
  }

 private:
  Function(Ref<Context> context, vm::FunctionRef ref, Ref<Signature> signature,
           JobAnnotations annotations, std::string name)
      : Object(&kType),
        context_(std::move(context)),
        ref_(ref),
        signature_(std::move(signature)),
        annotations_(std::move(annotations)),
        name_(std::move(name)),
        signaller_(hal::Signaller::Create(absl::StrCat("a call of ", name_))),
        result_places_(
            std::make_unique<ResultPlaces>(signature_->results().size())) {}

  absl::StatusOr<size_t> FindNamed(absl::string_view what,
                                   absl::Span<const ValueType> types,
                                   absl::string_view name) const;

  const Ref<Context> context_;
  const vm::FunctionRef ref_;
  const Ref<Signature> signature_;
  const JobAnnotations annotations_;
  const std::string name_;  // "module.function".
  const Ref<const hal::Signaller> signaller_;
  const std::unique_ptr<ResultPlaces> result_places_;
  const TraceName trace_name_;
  Mutex batch_mutex_;
  CallBatch* open_batch_ ABSL_GUARDED_BY(batch_mutex_) = nullptr;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_FUNCTION_H_
