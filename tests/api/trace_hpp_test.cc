#include <string>

#include "gtest/gtest.h"
#include "takt/takt.hpp"
#include "takt/trace.hpp"

namespace {

TEST(TraceHppTest, RecordsWritesAndReads) {
  takt::Instance instance = takt::Instance::Create().value();
  ASSERT_TRUE(takt::StartTracing(instance, {.event_count_max = 64}).ok());
  EXPECT_EQ(takt::StartTracing(instance).code(),
            TAKT_STATUS_FAILED_PRECONDITION);
  takt::StopTracing(instance);
  takt::Trace trace = takt::CollectTrace(instance).value();

  std::string bytes;
  ASSERT_TRUE(trace
                  .Write(TAKT_TRACE_FORMAT_PERFETTO,
                         [&](std::string_view part) {
                           bytes += part;
                           return true;
                         })
                  .ok());
  EXPECT_TRUE(takt::Trace::Load(bytes).ok());
  EXPECT_EQ(takt::Trace::Load("no trace").status().code(),
            TAKT_STATUS_DATA_LOSS);
  const std::string path = testing::TempDir() + "/trace_hpp_test.takt-trace";
  ASSERT_TRUE(trace.WriteFile(path).ok());
  EXPECT_TRUE(takt::Trace::LoadFile(path).ok());
  EXPECT_FALSE(trace.WriteFile("/nowhere/trace").ok());
}

}  // namespace
