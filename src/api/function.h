// An exported function of a context, found once and called often.
//
// Thread-safety: as takt/function.h says.
#ifndef TAKT_API_FUNCTION_H_
#define TAKT_API_FUNCTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/context.h"
#include "api/signature.h"
#include "base/object.h"
#include "takt/function.h"
#include "vm/context.h"
#include "vm/value.h"

namespace takt::api {

class Function final : public Object {
 public:
  static constexpr ObjectType kType{"takt.function"};

  // `name` is "module.function", or "function" of the last module.
  static absl::StatusOr<Ref<Function>> Find(Context* context, const char* name);

  const std::string& name() const { return name_; }
  Context& context() const { return *context_; }
  vm::FunctionRef ref() const { return ref_; }
  const Signature& signature() const { return *signature_; }
  const vm::ExportInfo& info() const { return context_->vm().info(ref_); }

  // takt_function_invoke(). `results` are NONE when called.
  absl::Status Invoke(const takt_invoke_options_t* options,
                      absl::Span<const takt_value_t> arguments,
                      absl::Span<takt_value_t> results) const;

 private:
  Function(Ref<Context> context, vm::FunctionRef ref, Ref<Signature> signature,
           std::string name)
      : Object(&kType),
        context_(std::move(context)),
        ref_(ref),
        signature_(std::move(signature)),
        name_(std::move(name)) {}

  absl::Status CheckCounts(size_t argument_count, size_t result_count) const;
  absl::Status CheckArgument(size_t index, const takt_value_t& value) const;
  absl::Status Run(uint64_t step_limit, absl::Span<vm::Value> arguments,
                   SyncWait& thread, absl::Span<takt_value_t> results) const;

  const Ref<Context> context_;
  const vm::FunctionRef ref_;
  const Ref<Signature> signature_;
  const std::string name_;  // "module.function".
};

}  // namespace takt::api

#endif  // TAKT_API_FUNCTION_H_
