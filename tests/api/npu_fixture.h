/* What tests of NPU devices have in common: a CPU and an NPU in virtual time.
 */
#ifndef TAKT_TESTS_API_NPU_FIXTURE_H_
#define TAKT_TESTS_API_NPU_FIXTURE_H_

#include "takt/npu.h"
#include "tests/api/fixture.h"

typedef struct npu_t {
  takt_instance_t* instance;
  takt_device_t* devices[2]; /* A CPU, then the NPU. */
} npu_t;

/* In an instance that becomes the fixture's, with a CPU of that name. */
static inline npu_t npu_create_in(takt_instance_t* instance, const char* cpu,
                                  const takt_npu_driver_t* driver,
                                  const takt_npu_options_t* options) {
  npu_t npu;
  npu.instance = instance;
  npu.devices[0] = create_device(instance, cpu);
  REQUIRE_OK(
      takt_npu_device_create(instance, driver, options, &npu.devices[1]));
  return npu;
}

static inline npu_t npu_create(const takt_npu_driver_t* driver,
                               const char* profile, bool falls_back,
                               bool takes_native_code) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options = profile;
  options.fall_back_to_cpu = falls_back;
  options.virtual_time = true;
  options.native_code = takes_native_code;
  options.event_count_max = 1000;
  return npu_create_in(create_instance(2), "local-task", driver, &options);
}

static inline void npu_destroy(npu_t* npu) {
  takt_device_release(npu->devices[1]);
  takt_device_release(npu->devices[0]);
  takt_instance_release(npu->instance);
}

static inline takt_npu_statistics_t statistics_of(const npu_t* npu) {
  takt_npu_statistics_t statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.struct_size = sizeof(statistics);
  EXPECT(takt_npu_device_statistics(npu->devices[1], &statistics));
  return statistics;
}

#endif /* TAKT_TESTS_API_NPU_FIXTURE_H_ */
