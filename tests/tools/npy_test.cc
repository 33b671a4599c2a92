#include "tools/common/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace takt::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An array as numpy writes it, but for what the test gives.
std::string Npy(const std::string& header, const std::string& data,
                int major = 1) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), 0};
  const size_t length = header.size();
  file += {static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  if (major > 1) file += {0, 0};
  return file + header + data;
}

std::string Dict(const std::string& descr, const std::string& order,
                 const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }\n";
}

Result<NpyArray> Parse(const std::string& bytes) {
  size_t byte_length = 0;
  Result<NpyArray> array = ParseNpy(bytes, &byte_length);
  if (array.ok()) {
    EXPECT_LE(byte_length, bytes.size());
  }
  return array;
}

std::string ErrorOf(const std::string& bytes) {
  return Parse(bytes).status().ToString();
}

TEST(NpyTest, ReadsVersionsOneToThree) {
  for (const int major : {1, 2, 3}) {
    const std::string bytes =
        Npy(Dict("<f4", "False", "(2, 1)"), "abcdefgh", major);
    const Result<NpyArray> array = Parse(bytes);
    ASSERT_TRUE(array.ok()) << array.status().ToString();
    EXPECT_EQ(array->element_type, TAKT_ELEMENT_F32);
    EXPECT_THAT(array->shape, ElementsAre(2, 1));
    EXPECT_EQ(array->data, "abcdefgh");
  }
}

TEST(NpyTest, RejectsOtherVersions) {
  EXPECT_THAT(ErrorOf(Npy(Dict("<f4", "False", "()"), "abcd", 4)),
              HasSubstr("version 4.0; supported are 1.0, 2.0 and 3.0"));
}

TEST(NpyTest, ReadsAnyLayoutOfTheHeader) {
  const std::string bytes =
      Npy("{\"shape\":(3),\"fortran_order\":True,\n \"descr\":\"|u1\"}    \n",
          "abc");
  const Result<NpyArray> array = Parse(bytes);
  ASSERT_TRUE(array.ok()) << array.status().ToString();
  EXPECT_EQ(array->element_type, TAKT_ELEMENT_UI8);
  EXPECT_THAT(array->shape, ElementsAre(3));
}

TEST(NpyTest, MapsEveryDtype) {
  const std::pair<const char*, takt_element_type_t> kTypes[] = {
      {"|b1", TAKT_ELEMENT_BOOL},      {"|i1", TAKT_ELEMENT_SI8},
      {"<i2", TAKT_ELEMENT_SI16},      {"<i4", TAKT_ELEMENT_SI32},
      {"<i8", TAKT_ELEMENT_SI64},      {"|u1", TAKT_ELEMENT_UI8},
      {"<u2", TAKT_ELEMENT_UI16},      {"<u4", TAKT_ELEMENT_UI32},
      {"<u8", TAKT_ELEMENT_UI64},      {"<f2", TAKT_ELEMENT_F16},
      {"<f4", TAKT_ELEMENT_F32},       {"<f8", TAKT_ELEMENT_F64},
      {"<c8", TAKT_ELEMENT_CF64},      {"<c16", TAKT_ELEMENT_CF128},
      {"|V1", TAKT_ELEMENT_OPAQUE_8},  {"<V2", TAKT_ELEMENT_OPAQUE_16},
      {"<V4", TAKT_ELEMENT_OPAQUE_32}, {"<V8", TAKT_ELEMENT_OPAQUE_64},
  };
  for (const auto& [descr, type] : kTypes) {
    const std::string bytes =
        Npy(Dict(descr, "False", "()"), std::string(16, 'x'));
    const Result<NpyArray> array = Parse(bytes);
    ASSERT_TRUE(array.ok()) << descr;
    EXPECT_EQ(array->element_type, type) << descr;
    // What was read can be written, as the same dtype.
    const Result<std::string> written =
        FormatNpy(type, array->shape, array->data);
    ASSERT_TRUE(written.ok()) << descr;
    EXPECT_THAT(*written, HasSubstr(std::string("'") + descr + "'"));
  }
}

TEST(NpyTest, RejectsOtherDtypes) {
  for (const char* descr : {"<U3", "|S3", "|O", "<f3", "<i16", "<M8[ns]", "<f",
                            "f4", "<f4x", "<f-4", "<f44", "<b4", "<V0"}) {
    EXPECT_EQ(Parse(Npy(Dict(descr, "False", "()"), std::string(99, 'x')))
                  .status()
                  .code(),
              TAKT_STATUS_UNIMPLEMENTED)
        << descr;
  }
}

TEST(NpyTest, RejectsBigEndianElements) {
  EXPECT_THAT(ErrorOf(Npy(Dict(">f4", "False", "()"), "abcd")),
              HasSubstr("big-endian"));
  EXPECT_TRUE(Parse(Npy(Dict(">i1", "False", "()"), "a")).ok());
}

TEST(NpyTest, RejectsColumnMajorElementsUnlessTheOrderIsTheSame) {
  const std::string data(24, 'x');
  EXPECT_THAT(ErrorOf(Npy(Dict("<f4", "True", "(2, 3)"), data)),
              HasSubstr("column-major"));
  EXPECT_TRUE(Parse(Npy(Dict("<f4", "True", "(6,)"), data)).ok());
  EXPECT_TRUE(Parse(Npy(Dict("<f4", "True", "(1, 6, 1)"), data)).ok());
  EXPECT_TRUE(Parse(Npy(Dict("<f4", "True", "(0, 2, 3)"), data)).ok());
}

TEST(NpyTest, RejectsRecords) {
  EXPECT_THAT(ErrorOf(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                          "'shape': ()}\n",
                          "abcd")),
              HasSubstr("records"));
}

TEST(NpyTest, RejectsDamagedHeaders) {
  const char* kHeaders[] = {
      "",
      "{",
      "}",
      "{}",
      "{'descr'",
      "{'descr': '<f4'",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'shape': ()}",
      "{'fortran_order': False, 'shape': ()}",
      "{'descr': '', 'fortran_order': False, 'shape': ()}",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (0x1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}",
      "{'descr': '<f4' 'fortran_order': False, 'shape': ()}",
      "{'descr: <f4",
      "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(99999999999999999999,)}",
  };
  for (const char* header : kHeaders) {
    EXPECT_EQ(Parse(Npy(header, std::string(8, 'x'))).status().code(),
              TAKT_STATUS_INVALID_ARGUMENT)
        << header;
  }
}

TEST(NpyTest, RejectsHostileSizes) {
  for (const char* shape :
       {"(9223372036854775807,)", "(4294967296, 4294967296)",
        "(3037000500, 3037000500)", "(2, 4611686018427387904)"}) {
    EXPECT_EQ(
        Parse(Npy(Dict("<f4", "False", shape), "abcdefgh")).status().code(),
        TAKT_STATUS_OUT_OF_RANGE)
        << shape;
  }
  std::string deep = "(";
  for (int i = 0; i < 1000; ++i) deep += "1,";
  EXPECT_EQ(
      Parse(Npy(Dict("<f4", "False", deep + ")"), "abcd")).status().code(),
      TAKT_STATUS_INVALID_ARGUMENT);
}

TEST(NpyTest, RejectsEveryTruncation) {
  const std::string bytes = Npy(Dict("<f4", "False", "(2,)"), "abcdefgh");
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(Parse(bytes.substr(0, length)).status().code(),
              TAKT_STATUS_OUT_OF_RANGE)
        << length;
  }
}

TEST(NpyTest, RejectsOtherFiles) {
  EXPECT_THAT(ErrorOf("PK\x03\x04 a zip file"), HasSubstr("no .npy file"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("before another array"));
}

TEST(NpyTest, AFileHoldsSeveralArrays) {
  InputFiles files;
  files.Add("f", Npy(Dict("|u1", "False", "(2,)"), "ab") +
                     Npy(Dict("|u1", "False", "(1,)"), "c"));
  InputFiles::Cursor* cursor = *files.Open("f", true);
  EXPECT_EQ(ReadNpy(cursor)->data, "ab");
  EXPECT_EQ(ReadNpy(cursor)->data, "c");
  EXPECT_EQ(ReadNpy(cursor).status().code(), TAKT_STATUS_OUT_OF_RANGE);
}

TEST(NpyTest, WritesWhatNumpyWrites) {
  const std::vector<int64_t> shape = {2};
  const Result<std::string> file =
      FormatNpy(TAKT_ELEMENT_F32, shape, "abcdefgh");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 128u + 8u);
  EXPECT_EQ(file->substr(0, 10), std::string("\x93NUMPY\x01\0v\0", 10));
  EXPECT_EQ(file->substr(10, 59),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  ");
  EXPECT_EQ((*file)[127], '\n');
  const Result<NpyArray> array = Parse(*file);
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->data, "abcdefgh");
}

TEST(NpyTest, WritesShapesOfAnyRank) {
  const std::vector<std::vector<int64_t>> kShapes = {
      {}, {0}, {1, 1}, {1, 1, 1}, std::vector<int64_t>(64, 1)};
  for (const std::vector<int64_t>& shape : kShapes) {
    const std::string data = shape == std::vector<int64_t>{0} ? "" : "a";
    const Result<std::string> file = FormatNpy(TAKT_ELEMENT_I8, shape, data);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ((file->size() - data.size()) % 64, 0u);
    EXPECT_EQ(Parse(*file)->shape, shape);
  }
}

TEST(NpyTest, RefusesTypesThatNumpyLacks) {
  for (const takt_element_type_t type :
       {TAKT_ELEMENT_BF16, TAKT_ELEMENT_F8E5M2, TAKT_ELEMENT_I4}) {
    EXPECT_EQ(FormatNpy(type, {}, "xx").status().code(),
              TAKT_STATUS_UNIMPLEMENTED);
  }
}

}  // namespace
}  // namespace takt::tools
