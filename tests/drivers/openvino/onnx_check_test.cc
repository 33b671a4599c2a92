#include "drivers/openvino/onnx_check.h"

#include <random>

#include "drivers/openvino/program.h"
#include "gtest/gtest.h"
#include "tests/drivers/openvino/program_file.h"

namespace takt::openvino {
namespace {

Bytes ModelOf(const std::string& name) {
  const Bytes data = ReadProgramFile(name);
  const auto program = ReadProgram(data);
  if (!program) return {};
  return {program->model.begin(), program->model.end()};
}

Bytes Varint(size_t value) {
  Bytes bytes;
  for (; value > 0x7f; value >>= 7) {
    bytes.push_back(static_cast<uint8_t>(value | 0x80));
  }
  bytes.push_back(static_cast<uint8_t>(value));
  return bytes;
}

Bytes Join(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// A field of protobuf whose value is a message.
Bytes Nest(size_t number, const Bytes& message) {
  return Join(Join(Varint(number << 3 | 2), Varint(message.size())), message);
}

const Bytes kVersion = {0x08, 0x08};  // ir_version: 8

TEST(OnnxCheckTest, TakesModels) {
  for (const char* name : {"matmul", "dynamic", "loop"}) {
    EXPECT_TRUE(IsSelfContainedOnnx(ModelOf(name))) << name;
    EXPECT_FALSE(IsIr(ModelOf(name))) << name;
  }
  EXPECT_TRUE(IsIr(ModelOf("affine")));
  EXPECT_FALSE(IsSelfContainedOnnx(ModelOf("affine")));
}

TEST(OnnxCheckTest, RejectsAModelWithDataInAnotherFile) {
  const Bytes model = ModelOf("outside");
  ASSERT_FALSE(model.empty());
  EXPECT_FALSE(IsSelfContainedOnnx(model));
}

// Goal: wherever a tensor may stand, its data is in the file.
TEST(OnnxCheckTest, FindsEachTensor) {
  const Bytes here = {14 << 3, 0};
  const Bytes location = {14 << 3, 1};
  const Bytes named = Nest(13, {});
  // The numbers of the fields from the model to the tensor.
  const std::vector<size_t> paths[] = {
      {7, 5},               // An initializer.
      {7, 15, 1},           // The values of a sparse one.
      {7, 15, 2},           // Its indices.
      {7, 1, 5, 5},         // An attribute of a node.
      {7, 1, 5, 10},        // One of several.
      {7, 1, 5, 22, 1},     // A sparse one.
      {7, 1, 5, 23, 2},     // One of several.
      {7, 1, 5, 6, 5},      // In a graph of an attribute.
      {7, 1, 5, 11, 5},     // In one of several.
      {25, 7, 5, 5},        // In a function.
      {25, 11, 5},          // In the default of its attribute.
      {20, 1, 5},           // In what training begins with.
      {20, 2, 1, 5, 6, 5},  // In a step of training.
  };
  for (const std::vector<size_t>& path : paths) {
    for (const Bytes& tensor : {here, location, named}) {
      Bytes model = tensor;
      for (size_t i = path.size(); i > 0; --i) model = Nest(path[i - 1], model);
      model = Join(Join(kVersion, Nest(7, {})), model);
      EXPECT_EQ(IsSelfContainedOnnx(model), tensor == here) << path.size();
    }
  }
}

TEST(OnnxCheckTest, RejectsWhatIsNoModel) {
  EXPECT_FALSE(IsSelfContainedOnnx({}));
  EXPECT_FALSE(IsSelfContainedOnnx(kVersion));     // No graph.
  EXPECT_FALSE(IsSelfContainedOnnx(Nest(7, {})));  // No version.
  EXPECT_TRUE(IsSelfContainedOnnx(Join(kVersion, Nest(7, {}))));
  const Bytes groups = {0x08, 0x08, 0x3b, 0x3c};
  EXPECT_FALSE(IsSelfContainedOnnx(groups));
  const Bytes zero = {0x08, 0x08, 0x3a, 0x00, 0x02, 0x00};  // Field 0.
  EXPECT_FALSE(IsSelfContainedOnnx(zero));
  // A tag of more than 32 bits, whose lower ones are those of a graph.
  const Bytes wide = {0x08, 0x08, 0x3a, 0x00, 0xba, 0x80, 0x80, 0x80, 0x10, 0};
  EXPECT_FALSE(IsSelfContainedOnnx(wide));
}

TEST(OnnxCheckTest, RejectsModelsThatEndEarly) {
  const Bytes model = ModelOf("loop");
  size_t taken = 0;
  for (size_t length = 0; length < model.size(); ++length) {
    taken += IsSelfContainedOnnx({model.data(), length});
  }
  EXPECT_LE(taken, 3u);  // Between the fields of the model itself.
}

TEST(OnnxCheckTest, DeepNestingEnds) {
  Bytes graph;
  for (int i = 0; i < 2000; ++i) graph = Nest(1, Nest(5, Nest(6, graph)));
  EXPECT_FALSE(IsSelfContainedOnnx(Join(kVersion, Nest(7, graph))));
}

TEST(OnnxCheckTest, RandomChangesEnd) {
  std::mt19937_64 random(1);
  const Bytes model = ModelOf("loop");
  for (int i = 0; i < 20000; ++i) {
    Bytes changed = model;
    for (uint64_t n = random() % 4; n < 4; ++n) {
      changed[random() % changed.size()] = static_cast<uint8_t>(random());
    }
    (void)IsSelfContainedOnnx(changed);
    (void)IsIr(changed);
  }
}

TEST(OnnxCheckTest, AnIrDeclaresNoDocumentType) {
  const auto is_ir = [](std::string_view text) {
    return IsIr({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_TRUE(is_ir("<?xml version=\"1.0\"?><net/>"));
  EXPECT_TRUE(is_ir("\n <net name=\"a\"/>"));
  EXPECT_FALSE(is_ir(""));
  EXPECT_FALSE(is_ir("  "));
  EXPECT_FALSE(is_ir("GGUF"));
  EXPECT_FALSE(is_ir("<?xml version=\"1.0\"?><!DOCTYPE net><net/>"));
}

}  // namespace
}  // namespace takt::openvino
