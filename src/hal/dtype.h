// A dtype is the name of an element type in .safetensors files. The tools,
// which know the C API only, have the same names in tools/common/capture.cc.
#ifndef TAKT_HAL_DTYPE_H_
#define TAKT_HAL_DTYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "hal/element_type.h"

namespace takt::hal {

// "F32", "BOOL"; integers without a sign have the names of signed ones.
// nullptr: the type has no name.
const char* DtypeName(ElementType type);
// The bits of an element; 0: the name is none that is known here.
uint32_t DtypeBits(absl::string_view name);

}  // namespace takt::hal

#endif  // TAKT_HAL_DTYPE_H_
