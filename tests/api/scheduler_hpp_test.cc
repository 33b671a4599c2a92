// The C++ face of the scheduler; what it does is tested in scheduler_test.c.
#include "gtest/gtest.h"
#include "takt/takt.hpp"

namespace {

TEST(SchedulerHppTest, NamesItsPoliciesAndReportsThatNoneIsSet) {
  takt_scheduler_options_t off;
  takt_scheduler_options_init(&off);
  off.policy = "off";
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &off;
  auto instance = takt::Instance::Create(&options).value();
  takt::Scheduler scheduler(instance);
  EXPECT_EQ(takt::Scheduler::PolicyNames().size(), 9u);
  EXPECT_EQ(scheduler.policy(), "off");
  EXPECT_EQ(scheduler.QueryResources().status().code(),
            TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(scheduler.QueryMode().status().code(),
            TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(scheduler.QueryClass(TAKT_CRITICALITY_SOFT).status().code(),
            TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(scheduler.LoadProfile("/none").status().code(),
            TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_EQ(scheduler.SaveProfile("/none").code(),
            TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_FALSE(scheduler.SetAvailable(0, true).ok());
  EXPECT_FALSE(scheduler.SetSpeed("cores", 1).ok());
  EXPECT_FALSE(scheduler.SetCallbacks(nullptr, nullptr, nullptr).ok());
}

}  // namespace
