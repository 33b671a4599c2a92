#include "takt/statistics.h"

#include "tests/api/fixture.h"

static void devices_count_their_memory(void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_device_statistics_t before;
  memset(&before, 0, sizeof(before));
  before.struct_size = sizeof(before);
  takt_device_statistics_t after = before;
  takt_device_query_statistics(device, &before);
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 1000, NULL, &buffer));
  takt_device_query_statistics(device, &after);
  EXPECT(after.bytes_reserved == before.bytes_reserved + 1000);
  EXPECT(after.bytes_committed >= before.bytes_committed + 1000);
  EXPECT(after.bytes_peak >= after.bytes_committed);
  EXPECT(after.allocation_count == before.allocation_count + 1);
  takt_buffer_release(buffer);
  takt_device_trim(device);
  takt_device_query_statistics(device, &after);
  EXPECT(after.bytes_reserved == 0 && after.bytes_committed == 0);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void an_older_struct_is_not_overrun(void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_device_statistics_t statistics;
  memset(&statistics, 77, sizeof(statistics));
  const uint64_t untouched = statistics.bytes_peak;
  statistics.struct_size = offsetof(takt_device_statistics_t, bytes_peak);
  takt_device_query_statistics(device, &statistics);
  EXPECT(statistics.struct_size ==
         offsetof(takt_device_statistics_t, bytes_peak));
  EXPECT(statistics.bytes_reserved == 0);
  EXPECT(statistics.bytes_peak == untouched);
  EXPECT(statistics.wait_count == untouched);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void contexts_count_their_own(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("api/simple_mul.vmfb"));
  takt_context_statistics_t statistics = {sizeof(statistics), 0, 0, 0};
  takt_context_query_statistics(fixture.context, &statistics);
  EXPECT(statistics.memory_bytes > 0);
  /* At most a few pages: contexts are for having many. */
  EXPECT(statistics.memory_bytes < 16384);
  EXPECT(statistics.global_ref_count > 0);
  fixture_destroy(&fixture);
}

int main(void) {
  RUN(devices_count_their_memory);
  RUN(an_older_struct_is_not_overrun);
  RUN(contexts_count_their_own);
  return test_result();
}
