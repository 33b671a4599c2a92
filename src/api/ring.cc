#include "api/ring.h"

#include <cstring>

#include "api/handle.h"
#include "hal/device.h"
#include "takt/ring.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<Ring>> Create(hal::Device* device, size_t byte_length) {
  if (byte_length == 0) {
    return absl::InvalidArgumentError("byte_length: a ring of 0 bytes");
  }
  TAKT_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer,
                        device->Allocate({}, byte_length));
  return MakeRef<Ring>(std::move(buffer));
}

absl::Status Reserve(Ring* ring, size_t byte_length, hal::Fence* fence,
                     takt_ring_range_t* out_range) {
  const uint64_t capacity = ring->ring().capacity();
  if (byte_length > capacity) {
    return absl::ResourceExhaustedError(
        absl::StrCat(byte_length, " bytes never fit a ring of ", capacity));
  }
  hal::FencedRing::Range range;
  if (!ring->ring().Reserve(byte_length, Ref<hal::Fence>::Retain(fence),
                            &range)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no room for ", byte_length, " bytes now: ", ring->ring().used_bytes(),
        " of ", capacity, " are in use"));
  }
  *out_range = {range.bytes.data(), range.offset, range.bytes.size()};
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_ring_create(takt_device_t* device, size_t byte_length,
                               takt_ring_t** out_ring) {
  TAKT_REQUIRE(device, out_ring);
  return takt::api::Give(
      __func__, takt::api::Create(Unwrap(device), byte_length), out_ring);
}

void takt_ring_retain(takt_ring_t* ring) { takt::api::RetainHandle(ring); }

void takt_ring_release(takt_ring_t* ring) { takt::api::ReleaseHandle(ring); }

takt_buffer_t* takt_ring_buffer(const takt_ring_t* ring) {
  TAKT_REQUIRE_OR(nullptr, ring);
  return takt::api::Wrap(Unwrap(ring)->ring().buffer());
}

takt_status_t takt_ring_reserve(takt_ring_t* ring, size_t byte_length,
                                takt_fence_t* fence,
                                takt_ring_range_t* out_range) {
  TAKT_REQUIRE(ring, fence, out_range);
  std::memset(out_range, 0, sizeof(*out_range));
  return takt::api::ToStatus(
      __func__,
      takt::api::Reserve(Unwrap(ring), byte_length, Unwrap(fence), out_range));
}
