#include "tools/common/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

TEST(SessionTest, ExportsOfTheCompilerAreNotCallable) {
  EXPECT_TRUE(IsCallable("main"));
  EXPECT_FALSE(IsCallable("__init"));
  EXPECT_FALSE(IsCallable("__notify"));
  EXPECT_FALSE(IsCallable("main$async"));
}

TEST(SessionTest, OpensDevicesByUri) {
  SessionFlags flags;
  flags.modules = {TestData("tools/pass_through.vmfb")};
  flags.devices = {"local-sync", "local-task://", "local-sync://0"};
  const Result<Session> session = Session::Open(flags);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  ASSERT_EQ(session->devices.size(), 3u);
  EXPECT_EQ(session->devices[1].name(), "local-task");
  EXPECT_EQ(session->devices[2].name(), "local-sync");
}

TEST(SessionTest, HasADeviceIfNoneIsNamed) {
  SessionFlags flags;
  flags.modules = {TestData("tools/pass_through.vmfb")};
  flags.worker_count = 3;
  const Result<Session> session = Session::Open(flags);
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->devices[0].name(), "local-task");
  EXPECT_EQ(session->instance.worker_count(), 3u);
}

TEST(SessionTest, ErrorsNameWhatCannotBeOpened) {
  SessionFlags flags;
  EXPECT_THAT(Session::Open(flags).status().ToString(), HasSubstr("--module"));
  flags.modules = {TestData("tools/pass_through.vmfb")};
  flags.devices = {"zork"};
  EXPECT_THAT(Session::Open(flags).status().ToString(),
              HasSubstr("--device=zork"));
  flags.devices.clear();
  flags.parameters = {"scope=/nonexistent.irpa"};
  EXPECT_THAT(Session::Open(flags).status().ToString(),
              HasSubstr("/nonexistent.irpa"));
  flags.modules.push_back("/nonexistent.vmfb");
  EXPECT_THAT(Session::Open(flags).status().ToString(),
              HasSubstr("/nonexistent.vmfb"));
}

TEST(SessionTest, ChoosesTheOnlyFunction) {
  const Instance instance = Instance::Create().value();
  const Module one =
      Module::Load(instance, TestData("models/simple_mul.cpu.vmfb")).value();
  EXPECT_EQ(*ChooseFunction(one, ""), "simple_mul");
  EXPECT_EQ(*ChooseFunction(one, "other"), "other");
  const Module many =
      Module::Load(instance, TestData("tools/pass_through.vmfb")).value();
  EXPECT_THAT(ChooseFunction(many, "").status().ToString(),
              HasSubstr("view, views, mixed"));
}

}  // namespace
}  // namespace takt::tools
