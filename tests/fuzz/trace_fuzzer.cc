// Reads any bytes as a trace file. If they are accepted, the trace can be
// shown, checked and written again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/replay.h"
#include "trace/check.h"
#include "trace/comparison.h"
#include "trace/gantt_page.h"
#include "trace/listing.h"
#include "trace/perfetto_reader.h"
#include "trace/perfetto_writer.h"
#include "trace/summary.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace takt::trace;  // NOLINT(google-build-using-namespace)
  const auto trace = ReadPerfetto(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!trace.ok()) return 0;
  const auto ignore = [](absl::string_view) { return absl::OkStatus(); };
  WriteText(**trace, ignore).IgnoreError();
  WriteGanttPage(**trace, ignore).IgnoreError();
  CheckTrace(**trace);
  SummaryJson(Summarize(**trace));
  ComparisonJson(Compare(**trace));
  takt::sim::MakeReplay(takt::sim::ReadRun(**trace), 0).status().IgnoreError();
  std::string again;
  WritePerfetto(**trace, [&](absl::string_view part) {
    again.append(part.data(), part.size());
    return absl::OkStatus();
  }).IgnoreError();
  const auto back = ReadPerfetto(again);
  // An accepted trace can be written and read.
  if (!back.ok() || (*back)->events().size() != (*trace)->events().size()) {
    std::abort();
  }
  return 0;
}
