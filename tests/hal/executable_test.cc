#include "hal/executable.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

class TwoFunctions final : public Executable {
 public:
  size_t function_count() const override { return 2; }
  absl::string_view function_name(size_t function) const override {
    ++names_read;
    return function == 0 ? "first" : "second";
  }
  size_t constant_count(size_t) const override { return 0; }
  size_t binding_count(size_t) const override { return 0; }

  mutable int names_read = 0;
};

TEST(ExecutableTest, LooksFunctionsUpByName) {
  auto executable = MakeRef<TwoFunctions>();
  EXPECT_EQ(*executable->LookupFunction("second"), 1u);
  EXPECT_EQ(*executable->LookupFunction("first"), 0u);
  EXPECT_EQ(executable->implementation(), nullptr);
}

TEST(ExecutableTest, ReadsEachNameOnceAtMost) {
  auto executable = MakeRef<TwoFunctions>();
  EXPECT_TRUE(executable->LookupFunction("second").ok());
  EXPECT_EQ(executable->names_read, 2);
}

TEST(ExecutableTest, AnUnknownNameListsTheNames) {
  auto executable = MakeRef<TwoFunctions>();
  const absl::Status status = executable->LookupFunction("third").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              ::testing::AllOf(::testing::HasSubstr("'third'"),
                               ::testing::HasSubstr("first, second")));
}

}  // namespace
}  // namespace takt::hal
