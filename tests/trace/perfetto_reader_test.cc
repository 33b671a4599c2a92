#include "trace/perfetto_reader.h"

#include <cstring>
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/trace/sample_trace.h"
#include "trace/perfetto_writer.h"

namespace takt::trace {
namespace {

std::string Written(const Recording& recording, bool is_simulated = false) {
  return Collected(WritePerfetto, *Trace::Create(recording, is_simulated));
}

absl::StatusCode CodeOf(const std::string& bytes) {
  return ReadPerfetto(bytes).status().code();
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) {
    bytes += static_cast<char>(value | 128);
  }
  return bytes + static_cast<char>(value);
}
std::string Number(uint32_t tag, uint64_t value) {
  return Varint(tag << 3) + Varint(value);
}
std::string Bytes(uint32_t tag, const std::string& bytes) {
  return Varint(tag << 3 | 2) + Varint(bytes.size()) + bytes;
}
std::string Header(uint64_t version = 1) {
  return Bytes(1, Bytes(11, Number(3, 255) + Number(11, 1) +
                                Bytes(4, Number(1, 6) + Number(3, version))));
}
std::string Track(uint64_t uuid, uint64_t parent) {
  return Bytes(1, Bytes(60, Number(1, uuid) + Number(5, parent)));
}
std::string EventOn(uint64_t track, const std::string& rest = "") {
  return Bytes(1, Number(8, 7) + Bytes(11, Number(9, 3) + Number(11, track) +
                                               Number(3, 25) + rest));
}

TEST(PerfettoReaderTest, ReadsWhatWasWritten) {
  const auto wrote = Trace::Create(SampleRecording(), /*is_simulated=*/true);
  const auto read = ReadPerfetto(Collected(WritePerfetto, *wrote));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE((*read)->is_simulated());
  EXPECT_EQ((*read)->lost_count(), 5u);
  EXPECT_EQ((*read)->complete_ns(), 7);
  EXPECT_EQ((*read)->names(), wrote->names());
  ASSERT_EQ((*read)->tracks().size(), wrote->tracks().size());
  for (size_t i = 0; i < wrote->tracks().size(); ++i) {
    EXPECT_EQ((*read)->tracks()[i].name, wrote->tracks()[i].name);
    EXPECT_EQ((*read)->tracks()[i].kind, wrote->tracks()[i].kind);
  }
  ASSERT_EQ((*read)->events().size(), wrote->events().size());
  for (size_t i = 0; i < wrote->events().size(); ++i) {
    EXPECT_EQ(
        std::memcmp(&(*read)->events()[i], &wrote->events()[i], sizeof(Event)),
        0)
        << i;
  }
}

TEST(PerfettoReaderTest, ReadsAnEmptyTrace) {
  const auto read = ReadPerfetto(Written({}));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE((*read)->events().empty());
}

TEST(PerfettoReaderTest, SaysThatAnotherFormatIsNotRead) {
  for (const char* text : {"{\"traceEvents\": []}", "<!doctype html>"}) {
    const absl::Status status = ReadPerfetto(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), testing::HasSubstr("Perfetto's format"));
  }
}

TEST(PerfettoReaderTest, KeepsExtremeValues) {
  RecordingMaker maker;
  const uint16_t track = maker.Track(TrackKind::kNpu, "");
  Event& event = maker.Add(EventKind::kNpuBatch, track, INT64_MAX - 2, 2);
  event.id = UINT64_MAX;
  event.parent = UINT64_MAX;
  event.value = INT64_MIN;
  event.detail = 255;
  const auto read = ReadPerfetto(Written(maker.recording));
  ASSERT_TRUE(read.ok()) << read.status();
  const Event& back = (*read)->events().at(0);
  EXPECT_EQ(back.time_ns, INT64_MAX - 2);
  EXPECT_EQ(back.duration_ns, 2);
  EXPECT_EQ(back.id, UINT64_MAX);
  EXPECT_EQ(back.parent, UINT64_MAX);
  EXPECT_EQ(back.value, INT64_MIN);
  EXPECT_EQ(back.detail, 255u);
}

TEST(PerfettoReaderTest, RefusesTracesOfOtherPrograms) {
  EXPECT_EQ(CodeOf(""), absl::StatusCode::kInvalidArgument);
  // Another program's packet.
  EXPECT_EQ(CodeOf(Bytes(1, Number(8, 5))), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(Header(2)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(Header()), absl::StatusCode::kOk);
}

TEST(PerfettoReaderTest, SkipsUnknownFields) {
  const std::string bytes = Header() + Number(99, 5) + Bytes(98, "abc") +
                            Track(300, 16) + Track(3, 5) +
                            EventOn(300, Bytes(97, "xyz")) +
                            // An event of a kind to come.
                            Bytes(1, Bytes(11, Number(3, 200)));
  const auto read = ReadPerfetto(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->events().size(), 1u);
}

TEST(PerfettoReaderTest, RefusesFieldsOfAnotherType) {
  // A track number of five bytes instead of a varint is as good as none.
  const std::string bytes =
      Header() + Track(300, 16) +
      Bytes(1, Bytes(11, Number(9, 3) + Bytes(11, "12345") + Number(3, 25)));
  EXPECT_EQ(CodeOf(bytes), absl::StatusCode::kDataLoss);
}

TEST(PerfettoReaderTest, RefusesWhatContradictsItself) {
  EXPECT_EQ(CodeOf(Header() + EventOn(300)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(Header() + Track(300, 16) + Track(300, 16)),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(Header() + Track(300, 15)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(Header() + Track(300, 99)), absl::StatusCode::kDataLoss);
  EXPECT_EQ(CodeOf(Header() + Track(300, 16) + EventOn(300, Number(10, 8))),
            absl::StatusCode::kDataLoss);  // No such name.
  const std::string name = Bytes(2, Number(1, 4) + Bytes(2, "n"));
  EXPECT_EQ(CodeOf(Header() + Bytes(1, Bytes(12, name + name))),
            absl::StatusCode::kDataLoss);
  // A span that lasts less than nothing.
  EXPECT_EQ(
      CodeOf(Header() + Track(300, 16) +
             EventOn(300, Bytes(4, Number(1, 5) + Number(3, UINT64_MAX)))),
      absl::StatusCode::kDataLoss);
}

TEST(PerfettoReaderTest, RefusesTooManyTracks) {
  std::string bytes = Header();
  for (uint64_t i = 0; i <= 1u << 14; ++i) bytes += Track(256 + i, 16);
  EXPECT_EQ(CodeOf(bytes), absl::StatusCode::kDataLoss);
}

TEST(PerfettoReaderTest, RefusesTruncatedFiles) {
  const std::string bytes = Written(SampleRecording());
  size_t whole_count = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    // Between two packets there is nothing wrong.
    const absl::StatusCode code = CodeOf(bytes.substr(0, length));
    whole_count += code == absl::StatusCode::kOk;
    if (code == absl::StatusCode::kOk) continue;
    EXPECT_TRUE(code == absl::StatusCode::kDataLoss || length == 0) << length;
  }
  EXPECT_LT(whole_count, 60u);
}

TEST(PerfettoReaderTest, SaysWhere) {
  const std::string header = Header();
  const absl::Status status = ReadPerfetto(header + EventOn(300)).status();
  EXPECT_NE(status.message().find("packet at byte " +
                                  std::to_string(header.size() + 2)),
            absl::string_view::npos)
      << status;
}

TEST(PerfettoReaderTest, SurvivesDamage) {
  const std::string bytes = Written(SampleRecording());
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = bytes;
    for (uint64_t count = 1 + random() % 4; count > 0; --count) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const auto read = ReadPerfetto(damaged);
    if (!read.ok()) continue;
    for (const Event& event : (*read)->events()) {
      ASSERT_LT(event.track, (*read)->tracks().size());
      ASSERT_LT(event.name, (*read)->names().size());
      ASSERT_GE(event.duration_ns, 0);
    }
  }
}

}  // namespace
}  // namespace takt::trace
