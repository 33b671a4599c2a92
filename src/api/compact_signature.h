// Signatures between their two texts: the compact form and the declaration that
// modules carry.
//
// Thread-safety: pure functions.
#ifndef TAKT_API_COMPACT_SIGNATURE_H_
#define TAKT_API_COMPACT_SIGNATURE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/compact_signature.h"
#include "runtime/signature.h"

namespace takt::api {

// What a compact signature says, as a signature like any other.
Ref<runtime::Signature> FromCompact(hal::CompactSignature compact);

// The compact form of a signature. INVALID_ARGUMENT if it is variadic.
absl::StatusOr<hal::CompactSignature> ToCompact(
    const runtime::Signature& signature);

// The declaration of a function of this signature; its text.
absl::StatusOr<std::string> FormatDeclaration(
    const runtime::Signature& signature, absl::string_view function_name);

}  // namespace takt::api

#endif  // TAKT_API_COMPACT_SIGNATURE_H_
