#include "cpu/vmvx_operand.h"

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::cpu::vmvx {
namespace {

absl::Status OutOfRange(const View& view, Sizes sizes, uint64_t block,
                        uint64_t element_count) {
  return absl::OutOfRangeError(absl::StrCat(
      view.name, ": offset ", view.offset, ", strides ", view.stride0, ", ",
      view.stride1, ", sizes ", sizes.size0, ", ", sizes.size1,
      block == 1 ? "" : absl::StrCat(" of ", block),
      ": not within the buffer's ", element_count, " elements"));
}

absl::Status CheckStride(const View& view, int64_t stride) {
  if (stride >= 0 && stride <= int64_t{UINT32_MAX}) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(view.name, ": stride ", stride, " is not one of 32 bits"));
}

}  // namespace

absl::Status CheckSize(int64_t size) {
  if (size >= 0 && size <= int64_t{INT32_MAX}) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("size ", size, " is not below 2^31"));
}

absl::Status ResolveBytes(const View& view, Sizes sizes, uint64_t block,
                          size_t element_bytes, uint8_t** start) {
  TAKT_RETURN_IF_ERROR(CheckSize(sizes.size0));
  TAKT_RETURN_IF_ERROR(CheckSize(sizes.size1));
  TAKT_RETURN_IF_ERROR(CheckStride(view, view.stride0));
  TAKT_RETURN_IF_ERROR(CheckStride(view, view.stride1));
  *start = view.buffer.data();
  if (IsEmpty(sizes) || block == 0) {
    return absl::OkStatus();
  }
  if (reinterpret_cast<uintptr_t>(view.buffer.data()) % element_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.name, ": the buffer is not aligned to ", element_bytes, " bytes"));
  }
  // Each factor is below 2^31 or 2^32, so that neither product nor their sum
  // overflows.
  const uint64_t last = static_cast<uint64_t>(sizes.size0 - 1) *
                            static_cast<uint64_t>(view.stride0) +
                        static_cast<uint64_t>(sizes.size1 - 1) *
                            static_cast<uint64_t>(view.stride1);
  const uint64_t element_count = view.buffer.byte_length() / element_bytes;
  uint64_t touched = 0;
  if (!CheckedAdd(last, block, &touched) ||
      !RangeFits(static_cast<uint64_t>(view.offset), touched, element_count)) {
    return OutOfRange(view, sizes, block, element_count);
  }
  *start += static_cast<uint64_t>(view.offset) * element_bytes;
  return absl::OkStatus();
}

absl::Status CheckMutable(const View& view) {
  if (view.buffer.is_mutable()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(view.name, ": the buffer is read-only"));
}

namespace {

// Whether blocks lie apart if those of the inner dimension are next to each
// other. No factor exceeds 32 bits.
bool AreApart(uint64_t inner_size, uint64_t inner_stride, uint64_t outer_size,
              uint64_t outer_stride, uint64_t block) {
  if (inner_size > 1 && inner_stride < block) return false;
  if (outer_size <= 1) return true;
  const uint64_t before_last = (inner_size - 1) * inner_stride;
  return before_last <= outer_stride && outer_stride - before_last >= block;
}

}  // namespace

absl::Status CheckApart(const View& view, Sizes sizes, uint64_t block) {
  if (IsEmpty(sizes) || block == 0) return absl::OkStatus();
  const auto size0 = static_cast<uint64_t>(sizes.size0);
  const auto size1 = static_cast<uint64_t>(sizes.size1);
  const auto stride0 = static_cast<uint64_t>(view.stride0);
  const auto stride1 = static_cast<uint64_t>(view.stride1);
  if (AreApart(size1, stride1, size0, stride0, block) ||
      AreApart(size0, stride0, size1, stride1, block)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      view.name, ": strides ", stride0, ", ", stride1, ", sizes ", size0, ", ",
      size1, block == 1 ? "" : absl::StrCat(" of ", block),
      ": parts of the output overlap"));
}

}  // namespace takt::cpu::vmvx
