#include "takt/ring.h"

#include "tests/api/fixture.h"

static takt_fence_t* make_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

/* Each submission has its own bytes, although all are queued before the first
 * may run, until the ring is full. */
static void stages_bytes_of_submissions(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_ring_t* ring = NULL;
  REQUIRE_OK(takt_ring_create(device, 256, &ring));
  takt_buffer_t* target = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 16, NULL, &target));
  takt_fence_t* start = make_fence();
  takt_fence_t* done[4];
  takt_ring_range_t range;
  for (int i = 0; i < 4; ++i) {
    done[i] = make_fence();
    REQUIRE_OK(takt_ring_reserve(ring, 4, done[i], &range));
    EXPECT(range.byte_length == 4 && range.byte_offset == 64 * (size_t)i);
    memset(range.data, 'a' + i, 4);
    EXPECT_OK(takt_queue_copy(device, start, done[i], takt_ring_buffer(ring),
                              range.byte_offset, target, 4 * (size_t)i, 4));
  }
  takt_fence_t* next = make_fence();
  EXPECT_ERROR(takt_ring_reserve(ring, 1, next, &range),
               TAKT_STATUS_RESOURCE_EXHAUSTED,
               "no room for 1 bytes now: 256 of 256 are in use");
  EXPECT(range.data == NULL && range.byte_length == 0);
  EXPECT_OK(takt_fence_signal(start));
  char text[17] = {0};
  EXPECT_OK(takt_buffer_read(target, 0, text, 16));
  EXPECT_TEXT(text, "aaaabbbbccccdddd");
  EXPECT_OK(takt_ring_reserve(ring, 256, next, &range));
  for (int i = 0; i < 4; ++i) takt_fence_release(done[i]);
  takt_fence_release(start);
  takt_fence_release(next);
  takt_buffer_release(target);
  takt_ring_release(ring);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void refuses_wrong_arguments(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_ring_t* ring = NULL;
  EXPECT_ERROR(takt_ring_create(device, 0, &ring), TAKT_STATUS_INVALID_ARGUMENT,
               "0 bytes");
  EXPECT_ERROR(takt_ring_create(NULL, 64, &ring), TAKT_STATUS_INVALID_ARGUMENT,
               "device is NULL");
  EXPECT_ERROR(takt_ring_create(device, SIZE_MAX, &ring),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "");
  EXPECT(ring == NULL);
  REQUIRE_OK(takt_ring_create(device, 64, &ring));
  takt_ring_range_t range;
  takt_fence_t* fence = make_fence();
  EXPECT_ERROR(takt_ring_reserve(ring, 65, fence, &range),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "never fit a ring of 64");
  EXPECT_ERROR(takt_ring_reserve(ring, SIZE_MAX, fence, &range),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "never fit");
  EXPECT_ERROR(takt_ring_reserve(ring, 1, NULL, &range),
               TAKT_STATUS_INVALID_ARGUMENT, "fence is NULL");
  EXPECT_ERROR(takt_ring_reserve(NULL, 1, fence, &range),
               TAKT_STATUS_INVALID_ARGUMENT, "ring is NULL");
  takt_ring_retain(ring);
  takt_ring_release(ring);
  takt_ring_release(ring);
  takt_fence_release(fence);
  takt_device_release(device);
  takt_instance_release(instance);
}

int main(void) {
  RUN(stages_bytes_of_submissions);
  RUN(refuses_wrong_arguments);
  return test_result();
}
