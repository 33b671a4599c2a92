// Reads the arrays of a .npy file, writes each of them, and reads it again: the
// array must be the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/common/npy.h"

namespace takt::tools {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

// Integers without a sign are read back as signed; other types unchanged.
void RequireSameWhenWritten(const NpyArray& array) {
  const Result<std::string> file =
      FormatNpy(array.element_type, array.shape, array.data);
  // The longest shapes need a longer header than version 1.0 has.
  if (!file.ok()) return;
  size_t byte_length = 0;
  const Result<NpyArray> again = ParseNpy(*file, &byte_length);
  Require(again.ok());
  Require(byte_length == file->size());
  Require(again->element_type == array.element_type);
  Require(again->shape == array.shape);
  Require(again->data == array.data);
}

void ReadAll(std::string_view rest) {
  while (!rest.empty()) {
    size_t byte_length = 0;
    const Result<NpyArray> array = ParseNpy(rest, &byte_length);
    if (!array.ok()) {
      Require(!array.status().message().empty());
      return;
    }
    Require(byte_length > 0 && byte_length <= rest.size());
    RequireSameWhenWritten(*array);
    rest.remove_prefix(byte_length);
  }
}

}  // namespace
}  // namespace takt::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::tools::ReadAll({reinterpret_cast<const char*>(data), size});
  return 0;
}
