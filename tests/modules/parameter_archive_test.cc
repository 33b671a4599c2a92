#include "modules/parameter_archive.h"

#include "base/mapped_file.h"
#include "tests/modules/archive_builder.h"
#include "tests/modules/test_support.h"

namespace takt::modules {
namespace {

constexpr size_t kFirstEntry = ArchiveBuilder::kEntriesOffset;

absl::Status ReadArchive(const std::string& bytes) {
  auto index = MakeRef<ParameterIndex>();
  return ReadParameterArchive(FileOf(bytes), *index);
}

std::string OneOfEach() {
  ArchiveBuilder builder;
  builder.AddSplat("bias", 32, "\x01\x02\x03\x04", 4);
  builder.AddData("weights", "0123456789");
  return builder.Build();
}

TEST(ParameterArchiveTest, FindsDataAndSplats) {
  auto index = MakeRef<ParameterIndex>();
  const Ref<hal::File> file = FileOf(OneOfEach());
  TAKT_ASSERT_OK(ReadParameterArchive(file, *index));
  EXPECT_THAT(index->keys(), testing::ElementsAre("bias", "weights"));

  const Parameter* splat = index->Find("bias");
  ASSERT_NE(splat, nullptr);
  EXPECT_EQ(splat->kind, Parameter::Kind::kSplat);
  EXPECT_EQ(splat->byte_length, 32u);
  EXPECT_EQ(splat->pattern_bytes, 4u);
  EXPECT_EQ(splat->pattern[3], 4);

  const Parameter* data = index->Find("weights");
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(data->kind, Parameter::Kind::kData);
  ASSERT_EQ(data->byte_length, 10u);
  const char* bytes =
      reinterpret_cast<const char*>(data->file->data() + data->file_offset);
  EXPECT_EQ(std::string(bytes, 10), "0123456789");
  EXPECT_EQ(index->Find("weight"), nullptr);
}

// Made by: iree-create-parameters --data=w0=4x4xf32 --splat=w1=8xf32=3.0
// --splat=w2=3xi16=7 --output=created.irpa
TEST(ParameterArchiveTest, ReadsWhatTheCompilersToolWrites) {
  absl::StatusOr<Ref<MappedFile>> mapped = MappedFile::Open(
      TAKT_TESTDATA_DIR "/parameters/created.irpa", MappedFile::Mode::kMap);
  TAKT_ASSERT_OK(mapped);
  const absl::Span<const uint8_t> bytes = (*mapped)->bytes();
  auto index = MakeRef<ParameterIndex>();
  TAKT_ASSERT_OK(ReadParameterArchive(
      hal::File::Wrap(*mapped, const_cast<uint8_t*>(bytes.data()), bytes.size(),
                      hal::kAccessRead),
      *index));
  EXPECT_THAT(index->keys(), testing::UnorderedElementsAre("w0", "w1", "w2"));
  const Parameter* w0 = index->Find("w0");
  EXPECT_EQ(w0->byte_length, 64u);
  EXPECT_EQ(w0->file_offset % 64, 0u);
  const Parameter* w1 = index->Find("w1");
  EXPECT_EQ(w1->byte_length, 32u);
  ASSERT_EQ(w1->pattern_bytes, 4u);
  float splat = 0;
  std::memcpy(&splat, w1->pattern.data(), sizeof(splat));
  EXPECT_EQ(splat, 3.0f);
  EXPECT_EQ(index->Find("w2")->pattern_bytes, 2u);
  EXPECT_EQ(index->Find("w2")->byte_length, 6u);
}

TEST(ParameterArchiveTest, KnowsExternalEntriesByNameOnly) {
  ArchiveBuilder builder;
  builder.AddExternal("elsewhere");
  auto index = MakeRef<ParameterIndex>();
  TAKT_ASSERT_OK(ReadParameterArchive(FileOf(builder.Build()), *index));
  EXPECT_EQ(index->Find("elsewhere")->kind, Parameter::Kind::kExternal);
}

TEST(ParameterArchiveTest, SkipsSkippedEntries) {
  ArchiveBuilder builder;
  builder.AddEntry(0, "gone", "");
  builder.AddData("here", "x");
  auto index = MakeRef<ParameterIndex>();
  TAKT_ASSERT_OK(ReadParameterArchive(FileOf(builder.Build()), *index));
  EXPECT_THAT(index->keys(), testing::ElementsAre("here"));
}

TEST(ParameterArchiveTest, ReadsAnEmptyArchive) {
  TAKT_ASSERT_OK(ReadArchive(ArchiveBuilder().Build()));
}

TEST(ParameterArchiveTest, RejectsEveryTruncation) {
  const std::string whole = OneOfEach();
  // Past the data of the last parameter there is padding only, and the header
  // counts it.
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ReadArchive(whole.substr(0, size)), FailsWith(kDamaged, ""))
        << size;
  }
}

TEST(ParameterArchiveTest, RejectsBadMagic) {
  EXPECT_THAT(ReadArchive(Patched<uint32_t>(OneOfEach(), 0, 0)),
              FailsWith(kDamaged, "offset 0: expected the bytes \"IRPA\""));
}

TEST(ParameterArchiveTest, NamesVersionsFoundAndSupported) {
  EXPECT_THAT(
      ReadArchive(Patched<uint16_t>(OneOfEach(), 4, 3)),
      FailsWith(absl::StatusCode::kUnimplemented, "3 found, 0 supported"));
}

TEST(ParameterArchiveTest, RejectsBadHeaderSize) {
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), 8, 87)),
              FailsWith(kDamaged, "offset 8: header size 87"));
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), 8, ~uint64_t{0})),
              FailsWith(kDamaged, "offset 8"));
}

TEST(ParameterArchiveTest, RefusesChainedHeaders) {
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), 16, 4096)),
              FailsWith(absl::StatusCode::kUnimplemented, "chain of headers"));
}

TEST(ParameterArchiveTest, RejectsMoreEntriesThanThereAre) {
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), 32, 3)),
              FailsWith(kDamaged, "entry 2 of 3 is cut off"));
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), 32, ~uint64_t{0})),
              FailsWith(kDamaged, "is cut off"));
}

TEST(ParameterArchiveTest, RejectsSegmentsBeyondTheEnd) {
  for (size_t field : {40, 48, 56, 64, 72, 80}) {
    EXPECT_THAT(
        ReadArchive(Patched<uint64_t>(OneOfEach(), field, ~uint64_t{0})),
        FailsWith(kDamaged, "segment"))
        << field;
  }
}

TEST(ParameterArchiveTest, RejectsBadEntrySize) {
  for (uint64_t size : {uint64_t{0}, uint64_t{59}, uint64_t{1} << 40,
                        ~uint64_t{0}, ~uint64_t{0} - 15}) {
    EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), kFirstEntry, size)),
                FailsWith(kDamaged, "entry size"))
        << size;
  }
  // Long enough for any entry, too short for this one.
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), kFirstEntry, 84)),
              FailsWith(kDamaged, "splat entry of 84 bytes"));
}

TEST(ParameterArchiveTest, RejectsShortDataEntry) {
  ArchiveBuilder builder;
  builder.AddEntry(2, "short", std::string(15, '\0'));
  EXPECT_THAT(ReadArchive(builder.Build()),
              FailsWith(kDamaged, "data entry of 75 bytes"));
}

TEST(ParameterArchiveTest, RejectsUnknownEntryType) {
  ArchiveBuilder builder;
  builder.AddEntry(9, "odd", "");
  EXPECT_THAT(ReadArchive(builder.Build()),
              FailsWith(absl::StatusCode::kUnimplemented,
                        "entry 'odd' is of unknown type 9"));
}

TEST(ParameterArchiveTest, RejectsNamesBeyondTheirSegment) {
  EXPECT_THAT(
      ReadArchive(Patched<uint64_t>(OneOfEach(), kFirstEntry + 20, 1000)),
      FailsWith(kDamaged, "the name lies beyond"));
  EXPECT_THAT(
      ReadArchive(Patched<uint64_t>(OneOfEach(), kFirstEntry + 28, 1000)),
      FailsWith(kDamaged, "the name lies beyond"));
}

// Else a small file could claim memory without bound.
TEST(ParameterArchiveTest, RejectsNamesThatOverlap) {
  EXPECT_THAT(ReadArchive(Patched<uint64_t>(OneOfEach(), kFirstEntry + 28, 11)),
              FailsWith(kDamaged, "the names overlap"));
}

TEST(ParameterArchiveTest, RejectsDataBeyondItsSegment) {
  ArchiveBuilder builder;
  builder.AddData("small", "0123456789");
  builder.AddDataRange("far", 60, 5);
  EXPECT_THAT(ReadArchive(builder.Build()),
              FailsWith(kDamaged,
                        "'far': 5 bytes at 60 lie beyond the storage segment "
                        "of 64"));
  ArchiveBuilder overflow;
  overflow.AddDataRange("far", ~uint64_t{0}, 2);
  EXPECT_THAT(ReadArchive(overflow.Build()), FailsWith(kDamaged, "'far'"));
}

TEST(ParameterArchiveTest, RejectsSplatsWithoutAPattern) {
  for (uint8_t pattern_bytes : {uint8_t{0}, uint8_t{17}, uint8_t{255}}) {
    ArchiveBuilder builder;
    builder.AddSplat("bad", 8, "", pattern_bytes);
    EXPECT_THAT(ReadArchive(builder.Build()),
                FailsWith(kDamaged, "expected a pattern of 1 to 16 bytes"));
  }
}

TEST(ParameterArchiveTest, RejectsTheSameKeyTwice) {
  ArchiveBuilder builder;
  builder.AddData("same", "1");
  builder.AddData("same", "2");
  EXPECT_THAT(ReadArchive(builder.Build()),
              FailsWith(kDamaged, "'same' is there twice"));
}

}  // namespace
}  // namespace takt::modules
