// The .safetensors file: u64 n, n bytes of JSON, then the tensors' bytes.
//
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//    "__metadata__": {"any": "text"}}
//
// data_offsets are begin and end, counted from the end of the JSON.
#ifndef TAKT_MODULES_SAFETENSORS_H_
#define TAKT_MODULES_SAFETENSORS_H_

#include "absl/status/status.h"
#include "base/object.h"
#include "hal/device.h"
#include "modules/parameter_index.h"

namespace takt::modules {

// Adds every tensor of the file to `index`. Their data stays where it is; they
// keep `file`. DATA_LOSS for JSON that is malformed or has another structure,
// or for data beyond the end; `index` may hold some tensors then. The JSON is
// read to the three levels that it should have, no deeper.
absl::Status ReadSafetensors(const Ref<hal::File>& file, ParameterIndex& index);

}  // namespace takt::modules

#endif  // TAKT_MODULES_SAFETENSORS_H_
