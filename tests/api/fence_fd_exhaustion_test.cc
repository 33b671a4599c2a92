// Fences of file descriptors for which there is no memory.
#include <unistd.h>

#include <cstdint>

#include "gtest/gtest.h"
#include "takt/fence.h"
#include "takt/instance.h"
#include "tests/support/allocation_faults.h"

namespace takt {
namespace {

// The descriptor that the process would open next.
int NextFd() {
  const int next = dup(STDIN_FILENO);
  close(next);
  return next;
}

TEST(FenceFdExhaustion, AnImportThatFailsWatchesNothing) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  takt_instance_t* instance = nullptr;
  ASSERT_EQ(takt_instance_create(&options, &instance), nullptr);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto import = [&](takt_fence_t** fence) {
    return takt_fence_import_fd(instance, ends[0], TAKT_FENCE_FD_READABLE,
                                fence);
  };
  // The first import makes the poller of the instance.
  takt_fence_t* fence = nullptr;
  ASSERT_EQ(import(&fence), nullptr);
  takt_fence_release(fence);

  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    const int next_fd = NextFd();
    takt_status_t status = nullptr;
    {
      const AllocationFault armed(first);
      status = import(&fence);
      is_hit = AllocationFault::is_hit();
    }
    if (status != nullptr) {
      EXPECT_EQ(takt_status_code(status), TAKT_STATUS_RESOURCE_EXHAUSTED);
      EXPECT_EQ(NextFd(), next_fd) << "allocation " << first;
      EXPECT_EQ(fence, nullptr);
    }
    takt_status_free(status);
    takt_fence_release(fence);
  }
  close(ends[0]);
  close(ends[1]);
  takt_instance_release(instance);
}

}  // namespace
}  // namespace takt
