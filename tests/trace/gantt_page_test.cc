#include "trace/gantt_page.h"

#include <limits>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

// What stands in the page's element `id`.
std::string TextOf(const std::string& page, const std::string& id) {
  const size_t element = page.find("<script id=\"" + id + "\"");
  const size_t begin = page.find(">\n", element) + 2;
  return page.substr(begin, page.find("\n</script>", begin) - begin);
}

// Reads what the page's script reads, by the description of the format.
class PageReader {
 public:
  explicit PageReader(const std::string& page)
      : head_(nlohmann::json::parse(TextOf(page, "trace"))) {
    EXPECT_TRUE(absl::Base64Unescape(TextOf(page, "events"), &bytes_));
  }

  const nlohmann::json& head() const { return head_; }
  bool is_at_end() const { return at_ == bytes_.size(); }

  Event Next(int64_t begin_ns) {
    Event event;
    after_begin_ns_ += Number();
    event.time_ns =
        static_cast<int64_t>(static_cast<uint64_t>(begin_ns) + after_begin_ns_);
    event.kind = static_cast<EventKind>(Number());
    event.track = static_cast<uint16_t>(Number());
    event.name = static_cast<uint32_t>(Number());
    if (IsSpan(event.kind)) event.duration_ns = static_cast<int64_t>(Number());
    event.id = Id();
    event.parent = Id();
    event.detail = static_cast<uint8_t>(Number());
    event.value = Value(event);
    return event;
  }

 private:
  uint64_t Number() {
    uint64_t value = 0;
    for (int shift = 0; at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    return value;
  }
  int64_t Signed() {
    const uint64_t value = Number();
    return static_cast<int64_t>(value % 2 ? ~(value >> 1) : value >> 1);
  }
  uint64_t Id() {
    const uint64_t value = Number();
    if (value % 2 == 0) return value / 2;
    return std::stoull(head_["ids"].at(value / 2).get<std::string>());
  }
  int64_t Value(const Event& event) {
    constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
    switch (event.kind) {
      case EventKind::kDispatch: {
        const auto begin = static_cast<uint32_t>(Number());
        return PackTiles(begin, static_cast<uint32_t>(Number()));
      }
      case EventKind::kJobReleased:
      case EventKind::kInvocationBegin:
      case EventKind::kDecisionLate:
        return Number() ? event.time_ns + Signed() : kNone;
      case EventKind::kDecisionAdmission:
        return Number() ? Signed() : kNone;
      default:
        return Signed();
    }
  }

  nlohmann::json head_;
  std::string bytes_;
  size_t at_ = 0;
  uint64_t after_begin_ns_ = 0;
};

void ExpectAllEvents(const Trace& trace) {
  PageReader page(Collected(WriteGanttPage, trace));
  EXPECT_EQ(page.head()["event_count"], trace.events().size());
  for (const Event& event : trace.events()) {
    const Event read = page.Next(trace.begin_ns());
    EXPECT_EQ(read.time_ns, event.time_ns);
    EXPECT_EQ(read.duration_ns, event.duration_ns);
    EXPECT_EQ(read.kind, event.kind);
    EXPECT_EQ(page.head()["kinds"][static_cast<size_t>(read.kind)]["name"],
              EventKindName(event.kind));
    EXPECT_EQ(page.head()["tracks"].at(read.track)["name"],
              trace.TrackOf(event).name);
    EXPECT_EQ(page.head()["names"].at(read.name), trace.NameOf(event));
    EXPECT_EQ(read.id, event.id);
    EXPECT_EQ(read.parent, event.parent);
    EXPECT_EQ(read.detail, event.detail);
    EXPECT_EQ(read.value, event.value);
  }
  EXPECT_TRUE(page.is_at_end());
}

TEST(GanttPageTest, IsAPageThatLoadsNothing) {
  const auto trace = Trace::Create(SampleRecording(), false);
  const std::string page = Collected(WriteGanttPage, *trace);
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* way : {"http:", "https:", " src=", "@import", "url(",
                          "fetch(", "<link", "<!--"}) {
    EXPECT_EQ(page.find(way), std::string::npos) << way;
  }
}

TEST(GanttPageTest, HasTheTrace) {
  const auto trace = Trace::Create(SampleRecording(), false);
  ExpectAllEvents(*trace);
  const PageReader page(Collected(WriteGanttPage, *trace));
  EXPECT_EQ(page.head()["lost"], 5);
  EXPECT_EQ(page.head()["simulated"], false);
  EXPECT_EQ(page.head()["length_ns"], trace->end_ns() - trace->begin_ns());
}

TEST(GanttPageTest, HasNumbersOfEverySize) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kCounter, "any");
  for (const int64_t value : {kMin, kMin + 1, int64_t{-1}, int64_t{0},
                              int64_t{127}, int64_t{128}, kMax}) {
    maker.Add(EventKind::kCounter, track, -100).value = value;
    maker.Add(EventKind::kCounter, track, kMax - 9).id =
        static_cast<uint64_t>(value);
    maker.Add(EventKind::kJobReleased, track, 0).value = value;
  }
  ExpectAllEvents(*Trace::Create(maker.recording, true));
}

TEST(GanttPageTest, ADeadlineTooFarAwayIsNone) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kStream, "any");
  maker.Add(EventKind::kJobReleased, track, -100).value =
      std::numeric_limits<int64_t>::max() - 1;
  const auto trace = Trace::Create(maker.recording, false);
  PageReader page(Collected(WriteGanttPage, *trace));
  EXPECT_EQ(page.Next(trace->begin_ns()).value,
            std::numeric_limits<int64_t>::max());
}

TEST(GanttPageTest, IsSmall) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "takt-0");
  const uint32_t name = maker.Name("a_kernel_with_a_rather_long_name_f32");
  constexpr size_t kCount = 50000;
  for (size_t i = 0; i < kCount; ++i) {
    Event& event = maker.Add(EventKind::kDispatch, track,
                             static_cast<int64_t>(i) * 40000, 35000);
    event.name = name;
    event.id = i;
    event.parent = i / 2;
  }
  const auto trace = Trace::Create(maker.recording, false);
  const std::string page = Collected(WriteGanttPage, *trace);
  RecordingMaker nothing;
  const auto empty = Trace::Create(nothing.recording, false);
  const size_t own = Collected(WriteGanttPage, *empty).size();
  EXPECT_LT((page.size() - own) / kCount, 24u);
  ExpectAllEvents(*trace);
}

TEST(GanttPageTest, ANameDoesNotEndTheScript) {
  RecordingMaker maker;
  const uint16_t track =
      maker.Track(TrackKind::kWorker, "</script><script>alert(1)");
  maker.Add(EventKind::kDispatch, track, 1, 1).name =
      maker.Name("\xff<!--<script>");
  const auto trace = Trace::Create(maker.recording, false);
  const std::string page = Collected(WriteGanttPage, *trace);
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<!--<script>"), std::string::npos);
  EXPECT_EQ(PageReader(page).head()["tracks"][0]["name"],
            "</script><script>alert(1)");
}

}  // namespace
}  // namespace takt::trace
