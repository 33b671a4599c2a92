#include "vm/native_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace takt::vm {
namespace {

using ::testing::HasSubstr;

class Probe : public ModuleState {
 public:
  absl::StatusOr<int32_t> Sum(int32_t a, uint32_t b) {
    return a + static_cast<int32_t>(b);
  }
};

absl::Status Raw(void*, NativeCall&) { return absl::OkStatus(); }

TEST(NativeModuleTest, ExportsTheBuiltFunctions) {
  NativeModule::Builder builder("probe", 3);
  builder.SetStateFactory([]() -> absl::StatusOr<std::unique_ptr<ModuleState>> {
    return std::make_unique<Probe>();
  });
  builder.Export<&Probe::Sum>("sum");
  builder.ExportRaw("raw", "0v_v", Raw, nullptr);
  auto module = std::move(builder).Build();
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->name(), "probe");
  EXPECT_EQ((*module)->version(), 3u);
  EXPECT_EQ((*module)->kind(), Module::Kind::kNative);
  EXPECT_FALSE((*module)->initializers_repeatable());
  EXPECT_EQ((*module)->FindExport("raw"), 1u);
  EXPECT_FALSE((*module)->FindExport("none").has_value());
  EXPECT_EQ((*module)->exports()[0].convention.text, "0ii_i");
  EXPECT_EQ((*module)->functions()[1].function, &Raw);
  EXPECT_TRUE((*module)->CreateState().ok());
}

TEST(NativeModuleTest, OneNameMayHaveSeveralConventions) {
  NativeModule::Builder builder("probe", 3);
  builder.SetCompilers("iree-compile 3.0 to 3.9");
  builder.ExportRaw("f", "0I_v", Raw, nullptr, "iree-compile 3.5 to 3.9");
  builder.ExportRaw("f", "0i_v", Raw, nullptr, "iree-compile 3.0 to 3.4");
  builder.ExportRaw("g", "0i_v", Raw, nullptr);
  auto module = std::move(builder).Build();
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->compilers(), "iree-compile 3.0 to 3.9");
  EXPECT_EQ((*module)->FindExport("f"), 0u);
  EXPECT_EQ((*module)->FindExport("f", "0I_v"), 0u);
  EXPECT_EQ((*module)->FindExport("f", "0i_v"), 1u);
  EXPECT_FALSE((*module)->FindExport("f", "0f_v").has_value());
  EXPECT_FALSE((*module)->FindExport("g", "0I_v").has_value());
  EXPECT_EQ((*module)->exports()[1].compilers, "iree-compile 3.0 to 3.4");
}

TEST(NativeModuleTest, KeepsOwnerAlive) {
  auto owner = std::make_shared<int>(1);
  NativeModule::Builder builder("probe", 1);
  builder.SetOwner(owner);
  auto module = std::move(builder).Build();
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(owner.use_count(), 2);
  module->reset();
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(NativeModuleTest, RejectsBadExports) {
  const auto build = [](const char* name, const char* convention,
                        NativeFunction function) {
    NativeModule::Builder builder("m", 1);
    builder.ExportRaw("there", "0v_v", Raw, nullptr);
    builder.ExportRaw(name, convention, function, nullptr);
    return std::move(builder).Build().status();
  };
  EXPECT_TRUE(build("f", "0i_i", Raw).ok());
  EXPECT_TRUE(build("there", "0i_v", Raw).ok());
  EXPECT_THAT(build("there", "0v_v", Raw).message(),
              HasSubstr("m.there: exported twice as 0v_v"));
  EXPECT_THAT(build("f", "0q_v", Raw).message(), HasSubstr("m.f: "));
  EXPECT_EQ(build("f", "0q_v", Raw).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(build("", "0v_v", Raw).ok());
  EXPECT_FALSE(build("f", "0v_v", nullptr).ok());
  EXPECT_FALSE(std::move(NativeModule::Builder("", 1)).Build().ok());
}

}  // namespace
}  // namespace takt::vm
