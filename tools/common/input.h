// The text grammar of --input= and --expected_output=:
//
//   4  -1.5                scalar, of the kind that the signature asks for
//   2x3xf32=1 2 3 4 5 6    tensor; separators are space, comma and brackets;
//   2x3xf32=7              one element: all are it
//   2x3xf32=  2x3xf32      none: all are 0
//   f32=3                  tensor of rank 0 (the = tells it from a scalar)
//   SHAPExTYPE=@f.bin      raw bytes from the start of a file
//   SHAPExTYPE=+f.bin      raw bytes from where the last read of it ended
//   @f.npy  +f.npy         the first, the next array of a .npy file
//   *f.npy                 all of its arrays
//   &SHAPExTYPE=...        the same tensor as a plain buffer (!hal.buffer)
//   (null)  (ignored)      a null object; nothing (not compared)
//
// Elements of i1, opaque and complex types are bytes in hexadecimal digits, a
// group an element.
#ifndef TAKT_TOOLS_COMMON_INPUT_H_
#define TAKT_TOOLS_COMMON_INPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/common/file.h"
#include "tools/common/npy.h"

namespace takt::tools {

// "2x3xf32=1 2 3", read but for its elements.
struct TensorText {
  takt_element_type_t element_type;
  std::vector<int64_t> shape;
  size_t element_count;
  size_t byte_length;
  std::string elements;  // Text; or the path of a file.
  bool is_file;
  bool rewind;  // Of a file: from its start.
};

// Errors: INVALID_ARGUMENT for text of another form; OUT_OF_RANGE for a shape
// of more bytes than can be counted.
Result<TensorText> ParseTensorText(std::string_view text);

// Writes the elements to `target`, which has byte_length bytes.
//
// Errors: as ParseElements(), InputFiles::Open(); OUT_OF_RANGE for a file
// without that many bytes; INVALID_ARGUMENT for a numpy file, because its
// header is no data.
Status FillTensor(const TensorText& tensor, InputFiles* files,
                  std::span<uint8_t> target);

// A scalar of `kind`.
//
// Errors: INVALID_ARGUMENT  no number, or not a whole one for an integer.
//         OUT_OF_RANGE      it does not fit.
Result<Value> ParseScalar(takt_value_kind_t kind, std::string_view text);

// The value of one input. Ignored ones are null objects besides.
struct Input {
  Value value;
  bool is_ignored = false;
};

// Reads `texts` for arguments (or results) of `kinds`; makes tensors on
// `device`. There may be fewer values than kinds; the call then fails.
//
// Errors: what is wrong with a text, behind its index and the text itself;
// INVALID_ARGUMENT if there are more values than kinds.
Result<std::vector<Input>> ParseInputs(
    const Device& device, const std::vector<takt_value_kind_t>& kinds,
    const std::vector<std::string>& texts, InputFiles* files);

// An array as a value of `kind`: a scalar, or a tensor on `device`.
//
// Errors: INVALID_ARGUMENT  no scalar, or not a whole one for an integer;
//                           OUT_OF_RANGE  it does not fit.
Result<Value> ValueOfArray(const Device& device, takt_value_kind_t kind,
                           const NpyArray& array);

// The kinds of a function's arguments, or results.
std::vector<takt_value_kind_t> ArgumentKinds(const Signature& signature);
std::vector<takt_value_kind_t> ResultKinds(const Signature& signature);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_INPUT_H_
