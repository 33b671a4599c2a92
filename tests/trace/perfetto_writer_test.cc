// Goal: what Perfetto's own readers rely on. Method: the bytes are read with
// protozero by the numbers of Perfetto's .proto files, not by Takt's names.
#include "trace/perfetto_writer.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "protozero/pbf_reader.hpp"
#include "tests/trace/sample_trace.h"

namespace takt::trace {
namespace {

struct Packet {
  uint64_t timestamp = 0;
  uint64_t sequence = 0;
  uint64_t flags = 0;
  bool has_event = false;
  uint64_t type = 0;
  uint64_t track = 0;
  uint64_t name = 0;
  int64_t counter = 0;
  std::vector<uint64_t> flows;
  bool has_descriptor = false;
  uint64_t uuid = 0;
  uint64_t parent = 0;
  std::string track_name;
  bool is_counter = false;
};

void ReadEvent(protozero::pbf_reader event, Packet& packet) {
  packet.has_event = true;
  while (event.next()) {
    switch (event.tag()) {
      case 9:
        packet.type = static_cast<uint64_t>(event.get_enum());
        break;
      case 11:
        packet.track = event.get_uint64();
        break;
      case 10:
        packet.name = event.get_uint64();
        break;
      case 30:
        packet.counter = event.get_int64();
        break;
      case 47:
        packet.flows.push_back(event.get_fixed64());
        break;
      default:
        event.skip();
    }
  }
}

void ReadDescriptor(protozero::pbf_reader track, Packet& packet) {
  packet.has_descriptor = true;
  while (track.next()) {
    switch (track.tag()) {
      case 1:
        packet.uuid = track.get_uint64();
        break;
      case 2:
        packet.track_name = track.get_string();
        break;
      case 5:
        packet.parent = track.get_uint64();
        break;
      case 8:
        packet.is_counter = true;
        track.skip();
        break;
      default:
        track.skip();
    }
  }
}

struct File {
  std::vector<Packet> packets;
  std::map<uint64_t, std::string> names;

  explicit File(const std::string& bytes) {
    protozero::pbf_reader file(bytes);
    while (file.next(1)) {
      Packet packet;
      protozero::pbf_reader reader = file.get_message();
      while (reader.next()) {
        switch (reader.tag()) {
          case 8:
            packet.timestamp = reader.get_uint64();
            break;
          case 10:
            packet.sequence = reader.get_uint32();
            break;
          case 13:
            packet.flags = reader.get_uint32();
            break;
          case 11:
            ReadEvent(reader.get_message(), packet);
            break;
          case 60:
            ReadDescriptor(reader.get_message(), packet);
            break;
          case 12:
            ReadNames(reader.get_message());
            break;
          default:
            reader.skip();
        }
      }
      packets.push_back(packet);
    }
  }

  const Packet* FindTrack(const std::string& name) const {
    for (const Packet& packet : packets) {
      if (packet.has_descriptor && packet.track_name == name) return &packet;
    }
    return nullptr;
  }
  std::vector<const Packet*> EventsOn(uint64_t track) const {
    std::vector<const Packet*> events;
    for (const Packet& packet : packets) {
      if (packet.has_event && packet.track == track) events.push_back(&packet);
    }
    return events;
  }

 private:
  void ReadNames(protozero::pbf_reader interned) {
    while (interned.next()) {
      if (interned.tag() != 2) {
        interned.skip();
        continue;
      }
      uint64_t iid = 0;
      protozero::pbf_reader entry = interned.get_message();
      while (entry.next()) {
        if (entry.tag() == 1) {
          iid = entry.get_uint64();
        } else {
          names[iid] = entry.get_string();
        }
      }
    }
  }
};

File WrittenTrace(const Recording& recording) {
  return File(Collected(WritePerfetto, *Trace::Create(recording, false)));
}

TEST(PerfettoWriterTest, IsOneSequenceWhoseFirstPacketClearsItsState) {
  const File file = WrittenTrace(SampleRecording());
  ASSERT_GT(file.packets.size(), 12u);
  EXPECT_EQ(file.packets[0].flags, 1u);
  for (size_t i = 0; i < file.packets.size(); ++i) {
    EXPECT_NE(file.packets[i].sequence, 0u);
    EXPECT_EQ(file.packets[i].flags, i > 0 ? 2u : 1u);
  }
}

TEST(PerfettoWriterTest, WritesATrackForEachThatHasEvents) {
  const File file = WrittenTrace(SampleRecording());
  const Packet* const worker = file.FindTrack("takt-0");
  ASSERT_NE(worker, nullptr);
  ASSERT_NE(file.FindTrack("worker"), nullptr);
  EXPECT_EQ(worker->parent, file.FindTrack("worker")->uuid);
  EXPECT_EQ(file.FindTrack("NPU sim")->parent, file.FindTrack("npu")->uuid);
  EXPECT_EQ(file.FindTrack("thread"), nullptr);
  EXPECT_TRUE(file.FindTrack("ready")->is_counter);
  EXPECT_FALSE(worker->is_counter);
}

TEST(PerfettoWriterTest, SlicesNestAndNothingGoesBack) {
  const File file = WrittenTrace(SampleRecording());
  uint64_t last = 0;
  std::map<uint64_t, int> depth;
  for (const Packet& packet : file.packets) {
    if (!packet.has_event) continue;
    EXPECT_GE(packet.timestamp, last);
    last = packet.timestamp;
    depth[packet.track] += packet.type == 1 ? 1 : packet.type == 2 ? -1 : 0;
    EXPECT_GE(depth[packet.track], 0);
  }
  for (const auto& [track, open] : depth) EXPECT_EQ(open, 0) << track;

  const auto events = file.EventsOn(file.FindTrack("takt-0")->uuid);
  // Begin, (program, issued, ready, (dispatch, done),) end.
  std::vector<uint64_t> types;
  for (const Packet* event : events) types.push_back(event->type);
  EXPECT_EQ(types, (std::vector<uint64_t>{3, 1, 3, 3, 1, 2, 3, 2, 3}));
  EXPECT_EQ(file.names.at(events[1]->name), "policy.act");
  EXPECT_EQ(events[1]->timestamp, 1150u);
  EXPECT_EQ(events[7]->timestamp, 1750u);
}

TEST(PerfettoWriterTest, ASpanEndsNoLaterThanTheOneItBeganIn) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kNpu, "a");
  maker.Add(EventKind::kNpuLease, track, 10, 10);
  maker.Add(EventKind::kNpuBatch, track, 15, 30);
  maker.Add(EventKind::kNpuBatch, track, 50, 0);
  const File file = WrittenTrace(maker.recording);
  const auto events = file.EventsOn(file.FindTrack("a")->uuid);
  std::vector<std::pair<uint64_t, uint64_t>> marks;
  for (const Packet* event : events) {
    marks.emplace_back(event->timestamp, event->type);
  }
  EXPECT_EQ(marks, (std::vector<std::pair<uint64_t, uint64_t>>{
                       {10, 1}, {15, 1}, {20, 2}, {20, 2}, {50, 1}, {50, 2}}));
}

TEST(PerfettoWriterTest, FlowsGoFromTheReleaseToTheTilesAndBack) {
  const File file = WrittenTrace(SampleRecording());
  std::map<uint64_t, int> uses;
  for (const Packet& packet : file.packets) {
    for (const uint64_t flow : packet.flows) ++uses[flow];
  }
  // The job: released, begun, met. The invocation: begun, run, issues, ended.
  // The operation: issued, ready, two parts, done.
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[StreamJobId(4, 0)], 3);
  EXPECT_EQ(uses[1], 4);
  EXPECT_EQ(uses[2], 5);
}

TEST(PerfettoWriterTest, CountersHaveTheirValues) {
  const File file = WrittenTrace(SampleRecording());
  const auto events = file.EventsOn(file.FindTrack("ready")->uuid);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]->type, 4u);
  EXPECT_EQ(events[0]->counter, -7);
}

TEST(PerfettoWriterTest, TheSameTraceGivesTheSameBytes) {
  const auto trace = Trace::Create(SampleRecording(), false);
  EXPECT_EQ(Collected(WritePerfetto, *trace), Collected(WritePerfetto, *trace));
}

TEST(PerfettoWriterTest, StopsWhenTheSinkFails) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kWorker, "a");
  for (int i = 0; i < 100'000; ++i) maker.Add(EventKind::kAlloca, track, i);
  const auto trace = Trace::Create(maker.recording, false);
  int calls = 0;
  const absl::Status status =
      WritePerfetto(*trace, [&calls](absl::string_view) {
        ++calls;
        return absl::ResourceExhaustedError("full");
      });
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace takt::trace
