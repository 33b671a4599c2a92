#include "tools/common/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

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
  flags.devices = {"local-sync", "local-task://", "local-sync://"};
  const Result<Session> session = Session::Open(flags);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  ASSERT_EQ(session->devices.size(), 3u);
  EXPECT_EQ(session->devices[1].name(), "local-task");
  EXPECT_EQ(session->devices[2].name(), "local-sync");
}

// As the peer does: a driver has one device, which has no number.
TEST(SessionTest, RefusesDevicesThatDoNotExistAndNamesThoseThatDo) {
  SessionFlags flags;
  flags.modules = {TestData("tools/pass_through.vmfb")};
  for (const char* name : {"cuda", "local-task://0", "local-sync://default"}) {
    flags.devices = {name};
    const Status status = Session::Open(flags).status();
    EXPECT_EQ(status.code(), TAKT_STATUS_NOT_FOUND);
    EXPECT_THAT(status.ToString(), HasSubstr(std::string("--device=") + name));
    EXPECT_THAT(status.ToString(), HasSubstr("local-task://"));
    EXPECT_THAT(status.ToString(), HasSubstr("npu-sim[=PROFILE.json]"));
  }
}

TEST(SessionTest, AFileOfWeightsThatNoModuleReadsNeedNotExist) {
  SessionFlags flags;
  flags.modules = {TestData("tools/pass_through.vmfb")};
  flags.parameters = {"scope=/nonexistent.irpa"};
  EXPECT_TRUE(Session::Open(flags).ok());
}

TEST(SessionTest, TheNumberOfWorkersIsLimited) {
  SessionFlags flags;
  flags.modules = {TestData("tools/pass_through.vmfb")};
  flags.worker_count_max = 1;
  const Result<Session> one = Session::Open(flags);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->instance.worker_count(), 1u);
  flags.worker_count = 3;  // Given, so that there is nothing to limit.
  const Result<Session> three = Session::Open(flags);
  ASSERT_TRUE(three.ok());
  EXPECT_EQ(three->instance.worker_count(), 3u);
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

TEST(SessionTest, ErrorsNameTheFileThatCannotBeOpened) {
  SessionFlags flags;
  EXPECT_THAT(Session::Open(flags).status().ToString(), HasSubstr("--module"));
  flags.modules = {TestData("tools/pass_through.vmfb")};
  flags.devices = {"zork"};
  EXPECT_THAT(Session::Open(flags).status().ToString(),
              HasSubstr("--device=zork"));
  flags.devices.clear();
  flags.modules = {TestData("models/parameters.cpu.vmfb")};
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
