// Goal: a reader can use the page of a trace. Method: headless Chromium opens a
// page with gantt_page_browser_test.js behind its own script, which looks,
// clicks and types; this reads what it found. Without a browser the tests are
// skipped, or fail if TAKT_REQUIRE_BROWSER is set.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "tests/trace/sample_trace.h"
#include "trace/gantt_page.h"
#include "trace/summary.h"

namespace takt::trace {
namespace {

constexpr int64_t kUs = 1000;
constexpr int64_t kMs = 1000 * kUs;
constexpr int64_t kBegin = int64_t{5} << 40;
constexpr char kKernel[] = "act_dispatch_0 <b class=\"injected\">\xc3\xa9</b>";

// 20 ms: a policy with four jobs, of which the second is late, beside a
// detector with two and a call without a stream.
Recording RobotRecording() {
  RecordingMaker maker;
  const uint16_t workers[] = {maker.Track(TrackKind::kWorker, "takt-0"),
                              maker.Track(TrackKind::kWorker, "takt-1")};
  const uint16_t policy = maker.Track(TrackKind::kStream, "policy.act");
  const uint16_t vision = maker.Track(TrackKind::kStream, "vision.detect");
  const uint32_t act = maker.Name("policy.act");
  const uint32_t detect = maker.Name("vision.detect");
  const uint32_t calibrate = maker.Name("arm.calibrate");
  const uint32_t act_kernel = maker.Name(kKernel);
  const uint32_t detect_kernel = maker.Name("detect_dispatch_0");
  const uint32_t execute = maker.Name("execute");
  uint64_t last_id = 0;
  const auto call = [&](uint16_t stream, uint64_t number, uint16_t worker,
                        uint32_t function, uint32_t kernel, int64_t at_ns,
                        int64_t wait_ns, int64_t work_ns, int64_t deadline_ns) {
    const uint64_t job = stream == 0 ? 0 : StreamJobId(stream, number);
    const uint64_t invocation = ++last_id, operation = ++last_id;
    const int64_t begin_ns = at_ns + wait_ns, end_ns = begin_ns + work_ns;
    const auto add = [&](EventKind kind, uint16_t track, int64_t time_ns,
                         int64_t duration_ns, uint32_t name, uint64_t id,
                         uint64_t parent, int64_t value) {
      Event& event = maker.Add(kind, track, kBegin + time_ns, duration_ns);
      event.name = name;
      event.id = id;
      event.parent = parent;
      event.value = value;
    };
    if (job != 0) {
      add(EventKind::kJobReleased, stream, at_ns, 0, function, job, 0,
          kBegin + deadline_ns);
    }
    add(EventKind::kInvocationBegin, worker, begin_ns - 10 * kUs, 0, function,
        invocation, job, job == 0 ? INT64_MAX : kBegin + deadline_ns);
    add(EventKind::kOperationIssued, worker, begin_ns - 5 * kUs, 0, execute,
        operation, invocation, 0);
    add(EventKind::kDispatch, worker, begin_ns, work_ns, kernel, operation,
        invocation, PackTiles(0, 8));
    add(EventKind::kInvocationEnd, worker, end_ns, 0, function, invocation, 0,
        0);
    if (job == 0) return;
    const bool is_late = end_ns > deadline_ns;
    add(is_late ? EventKind::kJobMissed : EventKind::kJobMet, stream, end_ns, 0,
        function, job, 0, end_ns - at_ns);
  };
  for (int i = 0; i < 4; ++i) {
    const int64_t work_ns = i == 1 ? 4 * kMs : 1 * kMs;
    call(policy, i, workers[0], act, act_kernel, i * 5 * kMs,
         i == 1 ? 2 * kMs : 50 * kUs, work_ns, (i + 1) * 5 * kMs);
  }
  for (int i = 0; i < 2; ++i) {
    call(vision, i, workers[1], detect, detect_kernel, i * 10 * kMs, 20 * kUs,
         8 * kMs, (i + 1) * 10 * kMs);
  }
  call(0, 0, workers[1], calibrate, detect_kernel, 18500 * kUs, 20 * kUs, kMs,
       0);
  maker.recording.lost_count = 7;
  return maker.recording;
}

std::string FindBrowser() {
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    for (const auto& folder : absl::StrSplit(path ? path : "", ':')) {
      const std::string file = absl::StrCat(folder, "/", name);
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return "";
}

std::string Ms(int64_t ns) {
  return absl::StrFormat("%.3f", static_cast<double>(ns) / 1e6);
}

// What the tables should say, by takt-trace's summary.
nlohmann::json Expected(const Trace& trace) {
  const Summary summary = Summarize(trace);
  nlohmann::json expected;
  expected["about"] =
      absl::StrCat("run of 19.52 ms, ", trace.events().size(), " events");
  expected["lost"] = "7 older events were overwritten";
  expected["jobs"] = nlohmann::json::array();
  for (const StreamSummary& stream : summary.streams) {
    expected["jobs"].push_back({stream.name, absl::StrCat(stream.released),
                                absl::StrCat(stream.missed),
                                absl::StrCat(stream.dropped),
                                absl::StrCat(stream.failed), Ms(stream.q50_ns),
                                Ms(stream.q99_ns), Ms(stream.max_ns)});
  }
  // Its call began 10 us before its work.
  expected["jobs"].push_back(
      {"arm.calibrate", "1", "0", "0", "0", "1.010", "1.010", "1.010"});
  expected["busy"] = nlohmann::json::array();
  for (const TrackSummary& track : summary.tracks) {
    if (track.busy_ns == 0) continue;
    expected["busy"].push_back(
        {absl::StrCat(TrackKindName(track.track.kind), " ", track.track.name),
         absl::StrFormat("%.1f", 100.0 * static_cast<double>(track.busy_ns) /
                                     static_cast<double>(summary.length_ns))});
  }
  expected["owners"] = {"policy.act", "vision.detect", "arm.calibrate"};
  expected["dispatch"] = kKernel;
  expected["dispatch_ms"] = 0.5;  // In the first job of the policy.
  expected["idle_ms"] = 3;
  expected["miss_ms"] = 10;
  expected["search"] = "DISPATCH takt-1";
  expected["found"] = 3;
  return expected;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  ASSERT_TRUE(file.good()) << path;
}

std::string OutputOf(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char part[4096];
  while (const size_t count = std::fread(part, 1, sizeof(part), pipe)) {
    text.append(part, count);
  }
  pclose(pipe);
  return text;
}

class GanttPageBrowserTest : public testing::Test {
 protected:
  void SetUp() override {
    browser_ = FindBrowser();
    if (browser_.empty() && std::getenv("TAKT_REQUIRE_BROWSER") != nullptr) {
      FAIL() << "chromium is required and not in PATH";
    }
    if (browser_.empty()) GTEST_SKIP() << "no chromium in PATH";
    std::string name = testing::TempDir() + "takt_page_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  // Opens the page with `script` behind its own and returns what that leaves in
  // an element "checks", line by line.
  std::vector<std::string> Run(const Trace& trace, const std::string& script,
                               int width, int height, int density,
                               bool is_dark) {
    std::string text = Collected(WriteGanttPage, trace);
    const size_t head = text.find("<head>");
    EXPECT_NE(head, std::string::npos);
    // A browser that only dumps a page draws few frames.
    text.insert(head + 6,
                "<script>window.requestAnimationFrame = (draw) => "
                "setTimeout(draw, 1);\nconst errors = [];"
                "window.addEventListener('error', (e) => "
                "errors.push(e.message));</script>");
    const std::string page = folder_ + "/page.html";
    WriteFile(page, absl::StrCat(text, "<script>", script, "</script>\n"));
    const std::string dump = OutputOf(absl::StrCat(
        "HOME=", folder_, " timeout -k 5 150 ", browser_,
        " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage"
        " --hide-scrollbars --no-first-run --user-data-dir=",
        folder_, "/profile --window-size=", width, ",", height,
        " --force-device-scale-factor=", density,
        " --blink-settings=preferredColorScheme=", is_dark ? 0 : 1,
        " --virtual-time-budget=20000 --dump-dom file://", page, " 2>", folder_,
        "/log"));
    const size_t begin = dump.rfind("<pre id=\"checks\">");
    if (begin == std::string::npos) {
      ADD_FAILURE() << "no result: "
                    << OutputOf("grep -v dbus " + folder_ +
                                "/log | tail -n 20");
      return {};
    }
    return absl::StrSplit(dump.substr(begin), '\n');
  }

  void Check(int width, int height, int density, bool is_dark) {
    const auto trace = Trace::Create(RobotRecording(), false);
    nlohmann::json expected = Expected(*trace);
    expected["density"] = density;
    expected["theme"] = is_dark ? "dark" : "light";
    std::string json = expected.dump();
    for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) {
      json.replace(at, 1, "\\u003c");
    }
    std::ifstream file(std::string(TAKT_SOURCE_DIR) +
                       "/tests/trace/gantt_page_browser_test.js");
    std::stringstream script;
    script << "const expected = " << json << ";\n" << file.rdbuf();
    size_t ok_count = 0;
    bool has_ended = false;
    for (const std::string& line :
         Run(*trace, script.str(), width, height, density, is_dark)) {
      if (line.starts_with("ok ")) ++ok_count;
      if (line.starts_with("FAILED ")) ADD_FAILURE() << line;
      if (line == "end of checks") has_ended = true;
    }
    EXPECT_TRUE(has_ended);
    EXPECT_GT(ok_count, 50u);
  }

  // A page without errors, before and after a few keys.
  void ExpectNoErrors(const Trace& trace) {
    const std::vector<std::string> lines = Run(
        trace,
        "for (const key of ['n', 'm', '+', 'd', 'p', 'f', '0', 't', '?']) "
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key, "
        "bubbles: true}));\nsetTimeout(() => { const pre = "
        "document.createElement('pre'); pre.id = 'checks'; pre.textContent = "
        "'\\nerrors: ' + errors.join() + '\\n'; document.body.append(pre); }, "
        "100);",
        1280, 800, 1, false);
    ASSERT_GE(lines.size(), 2u);
    EXPECT_EQ(lines[1], "errors: ");
  }

 private:
  std::string browser_;
  std::string folder_;
};

TEST_F(GanttPageBrowserTest, IsUsedInASmallWindow) {
  Check(1280, 800, 1, false);
}

TEST_F(GanttPageBrowserTest, IsUsedInALargeDarkWindowOfHighDensity) {
  Check(2560, 1440, 2, true);
}

TEST_F(GanttPageBrowserTest, ShowsATraceOfNothing) {
  RecordingMaker maker;
  ExpectNoErrors(*Trace::Create(maker.recording, false));
}

// Kinds on tracks where they do not belong, and without what goes before them.
TEST_F(GanttPageBrowserTest, ShowsATraceOfAnything) {
  RecordingMaker maker;
  for (int kind = 0; kind <= static_cast<int>(kLastTrack); ++kind) {
    maker.Track(static_cast<TrackKind>(kind), absl::StrCat("track", kind));
  }
  maker.Name("any");
  uint64_t number = 0;
  for (int kind = 1; kind <= static_cast<int>(kLastEvent); ++kind) {
    for (uint16_t track = 1; track <= 8; ++track) {
      ++number;
      Event& event = maker.Add(
          static_cast<EventKind>(kind), track,
          static_cast<int64_t>(number * 7919 % 100000),
          IsSpan(static_cast<EventKind>(kind)) ? number % 3 << 60 : 0);
      event.id = number % 5 == 0 ? ~number : number % 11;
      event.parent = number % 7;
      event.name = number % 2;
      event.detail = static_cast<uint8_t>(number % 256);
      event.value = static_cast<int64_t>(number * 0x9e3779b97f4a7c15u);
    }
  }
  ExpectNoErrors(*Trace::Create(maker.recording, true));
}

}  // namespace
}  // namespace takt::trace
