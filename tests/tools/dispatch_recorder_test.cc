#include "tools/common/dispatch_recorder.h"

#include <gtest/gtest.h>

namespace takt::tools {
namespace {

void Tell(const takt_device_options_t& options, const char* function,
          int64_t begin_ns, int64_t end_ns) {
  takt_dispatch_event_t event = {};
  event.function = function;
  event.workgroup_count[0] = event.workgroup_count[1] = 1;
  event.workgroup_count[2] = 3;
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  options.on_dispatch(options.on_dispatch_user_data, &event);
}

TEST(DispatchRecorderTest, SumsUpByDeviceAndKernel) {
  DispatchRecorder recorder(/*prints_each=*/false);
  const takt_device_options_t one = recorder.OptionsFor("one");
  const takt_device_options_t two = recorder.OptionsFor("two");
  Tell(one, "a", 100, 130);
  Tell(one, "a", 200, 210);
  Tell(one, "b", 300, 305);
  Tell(two, "a", 100, 1100);
  const std::vector<DispatchRecorder::Row> rows = recorder.Take();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].device, "two");
  EXPECT_EQ(rows[0].total_ns, 1000);
  EXPECT_EQ(rows[1].function, "a");
  EXPECT_EQ(rows[1].count, 2u);
  EXPECT_EQ(rows[1].total_ns, 40);
  EXPECT_EQ(rows[1].minimum_ns, 10);
  EXPECT_EQ(rows[1].maximum_ns, 30);
  EXPECT_EQ(rows[2].function, "b");
  EXPECT_TRUE(recorder.Take().empty());
}

TEST(DispatchRecorderTest, PrintsEachIfAskedTo) {
  DispatchRecorder recorder(/*prints_each=*/true);
  const takt_device_options_t options = recorder.OptionsFor("cpu");
  testing::internal::CaptureStderr();
  Tell(options, "kernel", 1000, 3500);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "[cpu] dispatch kernel grid 1x1x3 took 2.500 us\n");
}

}  // namespace
}  // namespace takt::tools
