#include "trace/gantt_page.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

// What the page's script reads.
std::string DataOf(const std::string& page) {
  const std::string open = "type=\"application/json\">\n";
  const size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(GanttPageTest, IsAPageWithTheTraceInIt) {
  const auto trace = Trace::Create(SampleRecording(), false);
  const std::string page = Collected(WriteGanttPage, *trace);
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(page.find("http:"), std::string::npos);
  EXPECT_EQ(page.find("https:"), std::string::npos);
  const auto json = nlohmann::json::parse(DataOf(page));
  EXPECT_EQ(json["events"].size(), 12u);
  EXPECT_EQ(json["events"][6]["name"], "axpy <&\"\xc3\xa9>");
}

TEST(GanttPageTest, ANameDoesNotEndTheScript) {
  RecordingMaker maker;
  const uint16_t track =
      maker.Track(TrackKind::kWorker, "</script><script>alert(1)");
  maker.Add(EventKind::kDispatch, track, 1, 1);
  const auto trace = Trace::Create(maker.recording, false);
  const std::string page = Collected(WriteGanttPage, *trace);
  EXPECT_EQ(page.find("alert(1)</"), std::string::npos);
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(DataOf(page))["tracks"][0]["name"],
            "</script><script>alert(1)");
}

}  // namespace
}  // namespace takt::trace
