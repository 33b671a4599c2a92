// Feeds arbitrary bytes to the readers of signatures, compact and declared.
// A signature that one of them reads is written in both forms and read again:
// it must be the same.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/compact_signature.h"
#include "runtime/declaration.h"

namespace takt::api {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void ReadCompact(absl::string_view text) {
  const auto compact = hal::CompactSignature::Parse(text);
  if (!compact.ok()) return;
  const absl::StatusOr<std::string> written = compact->ToText();
  Require(written.ok());
  const auto again = hal::CompactSignature::Parse(*written);
  Require(again.ok() && again->arguments == compact->arguments &&
          again->results == compact->results);

  const Ref<runtime::Signature> signature = FromCompact(*compact);
  Require(signature->arguments().size() == compact->arguments.size());
  Require(*ToCompact(*signature)->ToText() == *written);
  const auto declared = FormatDeclaration(*signature, "f");
  // Unrecognized content need not be a type that can be declared.
  if (declared.ok()) Require(runtime::Declaration::Parse(*declared).ok());
}

void ReadDeclaration(absl::string_view text) {
  const auto declaration = runtime::Declaration::Parse(text);
  if (!declaration.ok()) return;
  const absl::StatusOr<std::string> written = declaration->ToText();
  if (written.ok())
    Require(*runtime::Declaration::Parse(*written)->ToText() == *written);
}

}  // namespace
}  // namespace takt::api

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  takt::api::ReadCompact(text);
  takt::api::ReadDeclaration(text);
  return 0;
}
