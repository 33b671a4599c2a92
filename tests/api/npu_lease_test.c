/* An NPU that several processes use: refused without a lease file, shared with
 * one. A device of another process is one of a child. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "takt/npu.h"
#include "tests/api/npu_product.h"

static char unit_path[64], lease_path[80], profile[128];

static void make_paths(void) {
  snprintf(unit_path, sizeof(unit_path), "/tmp/takt_unit_XXXXXX");
  const int fd = mkstemp(unit_path);
  EXPECT(fd >= 0);
  close(fd);
  snprintf(lease_path, sizeof(lease_path), "%s.lease", unit_path);
  snprintf(profile, sizeof(profile), "{\"path\": \"%s\"}", unit_path);
}
static void remove_paths(void) {
  unlink(unit_path);
  unlink(lease_path);
}

static takt_npu_options_t options_with(const char* lease) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options = profile;
  options.lease_path = lease;
  return options;
}

static takt_status_t try_open(takt_instance_t* instance, const char* lease) {
  const takt_npu_options_t options = options_with(lease);
  takt_device_t* device = NULL;
  takt_status_t status = takt_npu_device_create(instance, takt_npu_sim_driver(),
                                                &options, &device);
  EXPECT((device != NULL) == (status == NULL));
  takt_device_release(device);
  return status;
}

static void a_second_user_needs_the_lease_file(void) {
  make_paths();
  takt_instance_t* instance = create_instance(1);
  takt_npu_options_t options = options_with(NULL);
  takt_device_t* first = NULL;
  REQUIRE_OK(takt_npu_device_create(instance, takt_npu_sim_driver(), &options,
                                    &first));
  EXPECT_ERROR(try_open(instance, NULL), TAKT_STATUS_FAILED_PRECONDITION,
               unit_path);
  EXPECT_ERROR(try_open(instance, lease_path), TAKT_STATUS_FAILED_PRECONDITION,
               "lease_path");
  takt_device_release(first);
  options = options_with(lease_path);
  REQUIRE_OK(takt_npu_device_create(instance, takt_npu_sim_driver(), &options,
                                    &first));
  EXPECT_OK(try_open(instance, lease_path));
  EXPECT_ERROR(try_open(instance, NULL), TAKT_STATUS_FAILED_PRECONDITION,
               "another process");
  EXPECT_ERROR(try_open(instance, "/tmp"), TAKT_STATUS_FAILED_PRECONDITION,
               "/tmp");
  takt_device_release(first);
  takt_instance_release(instance);
  remove_paths();
}

/* Products by the shared NPU. Returns the statistics of its lease. */
static takt_npu_statistics_t run_products(int count) {
  const takt_npu_options_t options = options_with(lease_path);
  npu_t npu = npu_create_in(create_instance(2), "local-task",
                            takt_npu_sim_driver(), &options);
  takt_status_t status = NULL;
  takt_context_t* context = link_module(&npu, TESTDATA("npu/route_a.vmfb"), 2,
                                        npu.devices, &status);
  REQUIRE_OK(status);
  for (int i = 0; i < count; ++i) {
    EXPECT_OK(run_product(context, npu.devices[0], 2));
  }
  const takt_npu_statistics_t statistics = statistics_of(&npu);
  takt_context_release(context);
  npu_destroy(&npu);
  return statistics;
}

static void processes_share_the_npu(void) {
  enum { kProcesses = 3, kProducts = 40 };
  make_paths();
  pid_t children[kProcesses];
  for (int i = 0; i < kProcesses; ++i) {
    children[i] = fork();
    if (children[i] != 0) continue;
    const takt_npu_statistics_t statistics = run_products(kProducts);
    EXPECT(statistics.shared_grant_count > 0);
    EXPECT(statistics.lost_turn_count == 0);
    EXPECT(statistics.unarbitrated_count == 0);
    EXPECT(statistics.operation_count > 0);
    _exit(test_result());
  }
  for (int i = 0; i < kProcesses; ++i) {
    int result = 1;
    EXPECT(waitpid(children[i], &result, 0) == children[i]);
    EXPECT(result == 0);
  }
  remove_paths();
}

/* Without other processes nothing is counted. */
static void an_npu_of_this_process_alone_has_no_file(void) {
  npu_t npu = npu_create(takt_npu_sim_driver(), NULL, false, false);
  const takt_npu_statistics_t statistics = statistics_of(&npu);
  EXPECT(statistics.shared_grant_count == 0);
  npu_destroy(&npu);
}

int main(void) {
  RUN(a_second_user_needs_the_lease_file);
  RUN(processes_share_the_npu);
  RUN(an_npu_of_this_process_alone_has_no_file);
  return test_result();
}
