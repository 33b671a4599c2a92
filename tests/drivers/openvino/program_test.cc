#include "drivers/openvino/program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/drivers/openvino/program_file.h"

namespace takt::openvino {
namespace {

using testing::ElementsAre;

TEST(ProgramTest, ReadsAProgramOfOnnx) {
  const Bytes data = ReadProgramFile("matmul");
  const auto program = ReadProgram(data);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->function, "main");
  EXPECT_EQ(program->format, ModelFormat::kOnnx);
  ASSERT_EQ(program->inputs.size(), 2u);
  ASSERT_EQ(program->outputs.size(), 2u);
  EXPECT_EQ(program->inputs[0].name, "x");
  EXPECT_EQ(program->inputs[0].element_type, kF32);
  EXPECT_THAT(program->inputs[0].dims, ElementsAre(2, 3));
  EXPECT_EQ(program->inputs[0].byte_length, 24u);
  EXPECT_EQ(program->outputs[1].name, "best");
  EXPECT_EQ(program->outputs[1].element_type, kI64);
  EXPECT_THAT(program->outputs[1].dims, ElementsAre(2));
  EXPECT_EQ(program->outputs[1].byte_length, 16u);
  EXPECT_EQ(program->model.size(), data.size() - 128 - 4 * 128);
  EXPECT_TRUE(program->weights.empty());
}

TEST(ProgramTest, ReadsAProgramOfAnIr) {
  const Bytes data = ReadProgramFile("affine");
  const auto program = ReadProgram(data);
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(program->format, ModelFormat::kIr);
  EXPECT_EQ(program->weights.size(), 32u);
}

TEST(ProgramTest, ScalarsHaveNoSizes) {
  const Bytes data = ReadProgramFile("loop");
  const auto program = ReadProgram(data);
  ASSERT_TRUE(program.has_value());
  EXPECT_TRUE(program->inputs[0].dims.empty());
  EXPECT_EQ(program->inputs[0].byte_length, 8u);
}

TEST(ProgramTest, RejectsFilesThatEndEarlyOrLate) {
  const Bytes data = ReadProgramFile("matmul");
  for (size_t length = 0; length < data.size(); ++length) {
    EXPECT_FALSE(ReadProgram({data.data(), length}).has_value()) << length;
  }
  Bytes longer = data;
  longer.push_back(0);
  EXPECT_FALSE(ReadProgram(longer).has_value());
}

TEST(ProgramTest, RejectsDamagedHeaders) {
  const Bytes data = ReadProgramFile("matmul");
  const struct {
    const char* what;
    Bytes bytes;
  } damages[] = {
      {"magic", With<uint8_t>(data, 0, 'X')},
      {"version", With<uint32_t>(data, 4, 2)},
      {"format", With<uint32_t>(data, 8, 3)},
      {"an ONNX with weights", With<uint64_t>(data, 32, 1)},
      {"inputs", With<uint32_t>(data, 12, 0xffffffff)},
      {"no outputs", With<uint32_t>(data, 16, 0)},
      {"outputs", With<uint32_t>(data, 16, 0xffffffff)},
      {"reserved", With<uint32_t>(data, 20, 1)},
      {"model", With<uint64_t>(data, 24, UINT64_MAX)},
      {"no model", With<uint64_t>(data, 24, 0)},
      {"weights", With<uint64_t>(data, 32, UINT64_MAX)},
      {"no function", With<uint8_t>(data, 40, 0)},
      {"an endless name",
       [&] {
         Bytes bytes = data;
         std::fill_n(bytes.begin() + 40, 88, uint8_t{'a'});
         return bytes;
       }()},
  };
  for (const auto& damage : damages) {
    EXPECT_FALSE(ReadProgram(damage.bytes).has_value()) << damage.what;
  }
}

TEST(ProgramTest, RejectsDamagedTensors) {
  const Bytes data = ReadProgramFile("matmul");
  const struct {
    const char* what;
    Bytes bytes;
  } damages[] = {
      {"type", With<uint32_t>(data, TensorField(0, 0), 0x10000004)},
      {"type 0", With<uint32_t>(data, TensorField(0, 0), 0)},
      {"rank", With<uint32_t>(data, TensorField(0, 4), 9)},
      {"an empty tensor", With<uint32_t>(data, TensorField(0, 8), 0)},
      {"size", With<uint32_t>(data, TensorField(0, 8), 0xffffffff)},
      {"name", With<uint8_t>(data, TensorField(0, 40), 0)},
      {"two inputs of a name", With<uint8_t>(data, TensorField(1, 40), 'x')},
  };
  for (const auto& damage : damages) {
    EXPECT_FALSE(ReadProgram(damage.bytes).has_value()) << damage.what;
  }
}

TEST(ProgramTest, RejectsSizesWhoseProductOverflows) {
  Bytes data = ReadProgramFile("matmul");
  data = With<uint32_t>(data, TensorField(0, 4), 8);
  for (size_t d = 0; d < 8; ++d) {
    data = With<uint32_t>(data, TensorField(0, 8 + 4 * d), 1u << 16);
  }
  EXPECT_FALSE(ReadProgram(data).has_value());
}

}  // namespace
}  // namespace takt::openvino
