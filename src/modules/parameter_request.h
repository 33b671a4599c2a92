// The rows that a call of io_parameters transfers: a parameter, a range of it
// and an offset in a buffer, decoded from the tables of the call and checked.
//
//   key table  u32 offset, u32 length in the key data: 8 bytes a row
//   spans      u64 parameter offset, u64 buffer offset, u64 length: 24 bytes
#ifndef TAKT_MODULES_PARAMETER_REQUEST_H_
#define TAKT_MODULES_PARAMETER_REQUEST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "modules/io_parameters_module.h"
#include "modules/parameter_index.h"
#include "vm/byte_buffer.h"

namespace takt::modules {

struct ParameterRequest {
  const Parameter* parameter = nullptr;  // The provider keeps it.
  uint64_t parameter_offset = 0;
  uint64_t buffer_offset = 0;
  uint64_t length = 0;
};

// The tables of a call. Borrowed.
struct ParameterTables {
  const vm::ByteBuffer& keys;
  const vm::ByteBuffer& key_data;
  const vm::ByteBuffer& spans;
};

// Errors name scope and key. INVALID_ARGUMENT: tables of odd or unequal
// length. NOT_FOUND: the scope or key, with the names that exist. OUT_OF_RANGE:
// a range beyond its parameter or its table. UNIMPLEMENTED: an external one.
absl::StatusOr<std::vector<ParameterRequest>> ResolveParameters(
    absl::Span<const ParameterScope> scopes, absl::string_view scope,
    const ParameterTables& tables);

}  // namespace takt::modules

#endif  // TAKT_MODULES_PARAMETER_REQUEST_H_
