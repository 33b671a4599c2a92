#include "tools/common/output.h"

#include <gtest/gtest.h>

#include "tests/tools/tool_process.h"
#include "tools/common/npy.h"

namespace takt::tools {
namespace {

class OutputTest : public testing::Test {
 protected:
  BufferView View(takt_element_type_t type, const std::string& data) {
    const int64_t shape[] = {2};
    return BufferView::Copy(device_, type, shape, data.data(), data.size())
        .value();
  }

  Instance instance_ = Instance::Create().value();
  Device device_ = Device::Create(instance_, "local-sync").value();
};

TEST_F(OutputTest, WritesArrays) {
  const std::string path = ScratchPath("f.npy");
  const std::vector<Value> results = {View(TAKT_ELEMENT_I16, "abcd"), Value(7)};
  ASSERT_TRUE(WriteOutputs(results, {"@" + path, "+" + path}, 9).ok());
  InputFiles files;
  InputFiles::Cursor* cursor = files.Open(path, true).value();
  const NpyArray first = ReadNpy(cursor).value();
  EXPECT_EQ(first.element_type, TAKT_ELEMENT_SI16);
  EXPECT_EQ(first.data, "abcd");
  const NpyArray second = ReadNpy(cursor).value();
  EXPECT_EQ(second.element_type, TAKT_ELEMENT_SI32);
  EXPECT_TRUE(second.shape.empty());
  EXPECT_EQ(second.data, std::string("\7\0\0\0", 4));
}

TEST_F(OutputTest, WritesBytes) {
  const std::string path = ScratchPath("f.bin");
  WriteContents(path, "old");
  const Value view = View(TAKT_ELEMENT_I8, "ab");
  ASSERT_TRUE(WriteOutputs({view}, {"+" + path}, 9).ok());
  EXPECT_EQ(FileContents(path), "oldab");
  ASSERT_TRUE(WriteOutputs({view}, {"@" + path}, 9).ok());
  EXPECT_EQ(FileContents(path), "ab");
}

TEST_F(OutputTest, WritesBuffersAsBytes) {
  const std::string path = ScratchPath("buffer.npy");
  const uint8_t bytes[] = {1, 2, 3};
  ASSERT_TRUE(
      WriteOutputs({ByteBuffer::Copy(bytes).value()}, {"@" + path}, 9).ok());
  InputFiles files;
  const NpyArray array = ReadNpy(files.Open(path, true).value()).value();
  EXPECT_EQ(array.element_type, TAKT_ELEMENT_SI8);
  EXPECT_EQ(array.data, "\1\2\3");
}

TEST_F(OutputTest, NothingWritesNothing) {
  EXPECT_TRUE(WriteOutputs({Value(1)}, {""}, 9).ok());
}

TEST_F(OutputTest, TheCountMustBeTheSame) {
  EXPECT_TRUE(CheckOutputs({""}, 1).ok());
  EXPECT_EQ(CheckOutputs({}, 1).code(), TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(CheckOutputs({"", ""}, 1).code(), TAKT_STATUS_INVALID_ARGUMENT);
}

TEST_F(OutputTest, ErrorsNameTheResultAndTheFlag) {
  for (const char* wrong : {"zork", "@", "+"}) {
    const std::string text = CheckOutputs({"-", wrong}, 2).ToString();
    EXPECT_NE(
        text.find(std::string("result 1: --output=") + wrong + ": expected"),
        std::string::npos)
        << text;
  }
  EXPECT_EQ(WriteOutputs({Value(1)}, {"@/nonexistent/f"}, 9).code(),
            TAKT_STATUS_NOT_FOUND);
  EXPECT_EQ(CheckOutputs({"@/nonexistent/f"}, 1).code(), TAKT_STATUS_NOT_FOUND);
}

TEST_F(OutputTest, RefusesWhatNumpyLacks) {
  EXPECT_EQ(WriteOutputs({View(TAKT_ELEMENT_BF16, "abcd")},
                         {"@" + ScratchPath("g.npy")}, 9)
                .code(),
            TAKT_STATUS_UNIMPLEMENTED);
  EXPECT_EQ(WriteOutputs({List::Create().value()}, {"@" + ScratchPath("g")}, 9)
                .code(),
            TAKT_STATUS_UNIMPLEMENTED);
}

}  // namespace
}  // namespace takt::tools
