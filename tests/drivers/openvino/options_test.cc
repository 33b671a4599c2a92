#include "drivers/openvino/options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::openvino {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(OptionsTest, TheDeviceIsTheNpuUnlessNamed) {
  Options options;
  EXPECT_EQ(ReadOptions("", &options), "");
  EXPECT_EQ(options.device, "NPU");
  EXPECT_FALSE(options.has_path);
  EXPECT_TRUE(options.properties.empty());
}

TEST(OptionsTest, ReadsKeysAndProperties) {
  Options options;
  EXPECT_EQ(ReadOptions("device=GPU.1,path=/dev/dri/renderD128,cancel_ms=0,"
                        "reset_ms=2500,NUM_STREAMS=1,CACHE_DIR=",
                        &options),
            "");
  EXPECT_EQ(options.device, "GPU.1");
  EXPECT_EQ(options.path, "/dev/dri/renderD128");
  EXPECT_TRUE(options.has_path);
  EXPECT_EQ(options.cancel_ms, 0);
  EXPECT_EQ(options.reset_ms, 2500);
  EXPECT_THAT(options.properties,
              ElementsAre(Pair("NUM_STREAMS", "1"), Pair("CACHE_DIR", "")));
}

TEST(OptionsTest, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* problem;
  } cases[] = {
      {"CPU", "expected KEY=VALUE, got \"CPU\""},
      {"device=CPU,,", "expected KEY=VALUE"},
      {"device=", "device: a name is expected"},
      {"colour=red", "no such option: colour"},
      {"=1", "no such option: "},
      {"cancel_ms=-1", "cancel_ms: expected 0 to 60000, got \"-1\""},
      {"reset_ms=60001", "reset_ms: expected 0 to 60000"},
      {"reset_ms=1s", "reset_ms: expected 0 to 60000"},
      {"reset_ms=", "reset_ms: expected 0 to 60000"},
      {"reset_ms=99999999999999999999", "reset_ms: expected 0 to 60000"},
  };
  for (const auto& each : cases) {
    Options options;
    EXPECT_THAT(ReadOptions(each.text, &options), HasSubstr(each.problem))
        << each.text;
  }
}

}  // namespace
}  // namespace takt::openvino
