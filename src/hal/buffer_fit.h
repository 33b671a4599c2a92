// Finds the buffer for one argument of a signature: a host buffer as it is, a
// host buffer after a conversion, or a new buffer.
//
// Thread-safety: pure functions.
#ifndef TAKT_HAL_BUFFER_FIT_H_
#define TAKT_HAL_BUFFER_FIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "hal/buffer.h"
#include "hal/compact_signature.h"
#include "hal/element_type.h"

namespace takt::hal {

// A buffer in host memory, in the terms of the Python buffer protocol.
struct HostBuffer {
  ElementType element_type{};
  uint64_t byte_length = 0;  // Of its contiguous copy, if it is strided.
  std::vector<int64_t> shape;
  // Bytes from one element to the next, per dimension; may be 0 or negative.
  // Empty: dense row major.
  std::vector<int64_t> byte_strides;
  uint64_t address = 0;  // For its alignment only; never read through.
};

// A device's requirements for buffers.
struct DeviceBufferTraits {
  uint64_t alignment = kBufferAlignment;
  MemoryType memory_type = kMemoryTypeAll;
  BufferUsage usage = kUsageTransferAndStorage;
  // Element types that the device can hold; empty: every one.
  std::vector<ElementType> element_types;
};

// A dense row-major buffer of the device, with all that an allocation needs.
struct DeviceBuffer {
  ElementType element_type{};
  std::vector<int64_t> shape;
  std::vector<int64_t> byte_strides;
  uint64_t byte_length = 0;
  uint64_t alignment = 0;
  MemoryType memory_type = 0;
  BufferUsage usage = 0;
};

struct BufferFit {
  enum class Kind { kUse, kConvert, kMake, kUnsupported };
  enum class Conversion {
    kDenseCopy,      // The strides are not those of a dense row-major buffer.
    kAlignmentCopy,  // The address is not a multiple of the alignment.
    kWidening,       // The element type becomes a wider one, without loss.
  };

  Kind kind = Kind::kUnsupported;
  DeviceBuffer buffer;                  // Valid unless kUnsupported.
  std::vector<Conversion> conversions;  // Of kConvert, in the order done.
  std::string reason;                   // Of kUnsupported.
};

struct BufferFitOptions {
  bool allow_widening = false;
};

// `item` must be a buffer. `host` absent: an unspecified buffer, whose dynamic
// dimensions `shape` gives (the whole shape; empty if all are static).
BufferFit DescribeBuffer(const DeviceBufferTraits& device,
                         const SignatureItem& item,
                         const absl::optional<HostBuffer>& host,
                         const BufferFitOptions& options = {},
                         const std::vector<int64_t>& shape = {});

// True if every value of `from` is a value of `to`.
bool IsLosslessWidening(ElementType from, ElementType to);

}  // namespace takt::hal

#endif  // TAKT_HAL_BUFFER_FIT_H_
