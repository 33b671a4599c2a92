// The .irpa archive: named parameters in one file, by the compiler's tools.
// Little endian, packed; all offsets are relative to the header.
//
//   header  0 u32 "IRPA"   4 u16 major 0    6 u16 minor
//           8 u64 header size, at least 88  16 u64 next header (0: none)
//          24 u64 flags   32 u64 entry count
//          40 u64 entry segment offset      48 u64 its length
//          56 u64 metadata segment offset   64 u64 its length (names)
//          72 u64 storage segment offset    80 u64 its length
//   entry   0 u64 size    8 u32 type: 0 skip, 1 splat, 2 data, 3 external
//          12 u64 flags  20 u64 name offset in metadata, 28 u64 its length
//          36 u64 metadata offset, 44 u64 length   52 u64 alignment
//   splat  60 u64 byte length   68 u8[16] pattern   84 u8 pattern length
//   data   60 u64 offset in storage   68 u64 length
//
// An entry begins at the next multiple of 16 after the one before.
#ifndef TAKT_MODULES_PARAMETER_ARCHIVE_H_
#define TAKT_MODULES_PARAMETER_ARCHIVE_H_

#include "absl/status/status.h"
#include "base/object.h"
#include "hal/device.h"
#include "modules/parameter_index.h"

namespace takt::modules {

// Adds every parameter of the archive that fills `file` to `index`. Their data
// stays where it is; they keep `file`.
//
// Errors, after which `index` may hold some of them: DATA_LOSS with the offset
// of what is damaged; UNIMPLEMENTED for another major version, a chain of
// headers, or an unknown type of entry.
absl::Status ReadParameterArchive(const Ref<hal::File>& file,
                                  ParameterIndex& index);

}  // namespace takt::modules

#endif  // TAKT_MODULES_PARAMETER_ARCHIVE_H_
