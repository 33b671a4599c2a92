#include "cpu/loaded_executable.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

// Remembers the ranges that it was asked to run.
class UncheckedCode final : public ExecutableCode {
 public:
  UncheckedCode() {
    Function first;
    first.name = "first";
    first.constant_count = 2;
    first.binding_count = 3;
    first.local_memory_bytes = 4096;
    Function second;
    second.name = "second";
    second.is_sequential = true;
    SetFunctions({first, second});
  }
  absl::Status RunWorkgroups(size_t function, const DispatchArguments&,
                             uint32_t begin, uint32_t end,
                             exec::Worker&) override {
    ran += functions()[function].name + " " + std::to_string(begin) + "-" +
           std::to_string(end);
    return absl::OkStatus();
  }
  std::string ran;
};

TEST(LoadedExecutableTest, FindsTheNeedInTheCode) {
  auto code = std::make_shared<UncheckedCode>();
  const auto executable = MakeRef<LoadedExecutable>(code);
  ASSERT_EQ(executable->function_count(), 2u);
  EXPECT_EQ(executable->function_name(0), "first");
  EXPECT_EQ(executable->constant_count(0), 2u);
  EXPECT_EQ(executable->binding_count(0), 3u);
  EXPECT_EQ(executable->local_memory_bytes(0), 4096u);
  EXPECT_FALSE(executable->is_sequential(0));
  EXPECT_TRUE(executable->is_sequential(1));
  exec::Worker worker;
  EXPECT_TRUE(executable->RunWorkgroups(1, {}, 3, 7, worker).ok());
  EXPECT_EQ(code->ran, "second 3-7");
}

TEST(LoadedExecutableTest, FindsFunctionsByName) {
  const auto executable =
      MakeRef<LoadedExecutable>(std::make_shared<UncheckedCode>());
  ASSERT_TRUE(executable->LookupFunction("second").ok());
  EXPECT_EQ(*executable->LookupFunction("second"), 1u);
  EXPECT_EQ(executable->LookupFunction("third").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(LoadedExecutableTest, HandlesShareWhatTheCodeHasLearned) {
  auto code = std::make_shared<UncheckedCode>();
  const auto one = MakeRef<LoadedExecutable>(code);
  const auto other = MakeRef<LoadedExecutable>(code);
  EXPECT_EQ(other->cost(0, {10, 1, 1}).AloneNs(), 0);
  one->cost(0, {10, 1, 1}).alone.Add(1000, 10);
  EXPECT_EQ(other->cost(0, {10, 1, 1}).AloneNs(), 100);
  EXPECT_EQ(other->cost(1, {10, 1, 1}).AloneNs(), 0);
  EXPECT_EQ(other->cost(0, {9, 1, 1}).AloneNs(), 0);
}

TEST(LoadedExecutableTest, KnowsItsOwn) {
  class OtherExecutable final : public hal::Executable {
   public:
    size_t function_count() const override { return 0; }
    absl::string_view function_name(size_t) const override { return ""; }
    size_t constant_count(size_t) const override { return 0; }
    size_t binding_count(size_t) const override { return 0; }
  };
  const auto own = MakeRef<LoadedExecutable>(std::make_shared<UncheckedCode>());
  EXPECT_EQ(LoadedExecutable::From(own.get()), own.get());
  EXPECT_EQ(LoadedExecutable::From(MakeRef<OtherExecutable>().get()), nullptr);
}

}  // namespace
}  // namespace takt::cpu
