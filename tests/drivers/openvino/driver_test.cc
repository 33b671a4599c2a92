// The driver as Takt uses it, on OpenVINO's device CPU.
#include "drivers/openvino/driver.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include "gtest/gtest.h"
#include "takt/element_type.h"
#include "takt/npu.hpp"
#include "tests/drivers/openvino/program_file.h"

namespace takt::openvino {
namespace {

const takt_npu_driver_t& Table() { return *takt_npu_driver_query(1); }

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    char error[256] = "";
    ASSERT_EQ(Table().open(nullptr, "device=CPU,INFERENCE_PRECISION_HINT=f32",
                           &unit_, error, sizeof(error)),
              TAKT_NPU_RESULT_OK)
        << error;
  }
  void TearDown() override { Table().close(unit_); }

  takt_npu_result_t Load(const Bytes& data, uint64_t* program) {
    return Table().load_program(unit_, data.data(), data.size(), program);
  }
  uint64_t LoadFile(const std::string& name) {
    uint64_t program = 0;
    EXPECT_EQ(Load(ReadProgramFile(name), &program), TAKT_NPU_RESULT_OK);
    return program;
  }

  takt_npu_result_t Run(takt_npu_operation_t operation) {
    std::atomic<int> result{-1};
    takt_npu_batch_t batch = {};
    batch.struct_size = sizeof(batch);
    batch.id = ++last_id_;
    batch.operations = &operation;
    batch.operation_count = 1;
    batch.user_data = &result;
    batch.complete = [](void* user_data, uint64_t, takt_npu_result_t ended) {
      auto& target = *static_cast<std::atomic<int>*>(user_data);
      target = ended;
      target.notify_all();
    };
    const takt_npu_result_t submitted = Table().submit(unit_, &batch);
    if (submitted != TAKT_NPU_RESULT_OK) return submitted;
    result.wait(-1);
    // The thread of the completion may still be at its notification.
    EXPECT_EQ(Table().cancel(unit_, batch.id), TAKT_NPU_RESULT_OK);
    return static_cast<takt_npu_result_t>(result.load());
  }
  takt_npu_result_t Run(uint64_t program,
                        std::vector<takt_npu_range_t> bindings) {
    takt_npu_operation_t operation = {};
    operation.kind = TAKT_NPU_KIND_PROGRAM;
    operation.program.program = program;
    operation.program.bindings = bindings.data();
    operation.program.binding_count = bindings.size();
    return Run(operation);
  }

  void* unit_ = nullptr;
  uint64_t last_id_ = 0;
};

template <typename T>
takt_npu_range_t RangeOfArray(T& array) {
  return {reinterpret_cast<uint8_t*>(&array), 0, 0, sizeof(array)};
}

TEST_F(DriverTest, RunsAnOnnxModel) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
  float w[3][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}};
  float y[2][4] = {};
  int64_t best[2] = {-1, -1};
  const uint64_t program = LoadFile("matmul");
  ASSERT_EQ(Run(program, {RangeOfArray(x), RangeOfArray(w), RangeOfArray(y),
                          RangeOfArray(best)}),
            TAKT_NPU_RESULT_OK);
  const float expected[2][4] = {{1, 2, 3, 6}, {4, 5, 6, 15}};
  EXPECT_EQ(std::memcmp(y, expected, sizeof(y)), 0);
  EXPECT_EQ(best[0], 3);
  EXPECT_EQ(best[1], 3);
}

TEST_F(DriverTest, RunsAnIrWithItsWeights) {
  float x[4] = {1, 2, 3, 4};
  float y[4] = {};
  const uint64_t program = LoadFile("affine");
  ASSERT_EQ(Run(program, {RangeOfArray(x), RangeOfArray(y)}),
            TAKT_NPU_RESULT_OK);
  const float expected[4] = {3, 6, 14, 32};
  EXPECT_EQ(std::memcmp(y, expected, sizeof(y)), 0);
}

TEST_F(DriverTest, TheProgramGivesAModelItsShapes) {
  float x[3][2] = {{1, -2}, {3, -4}, {5, -6}};
  float y[3][2] = {};
  const uint64_t program = LoadFile("dynamic");
  ASSERT_EQ(Run(program, {RangeOfArray(x), RangeOfArray(y)}),
            TAKT_NPU_RESULT_OK);
  EXPECT_EQ(y[2][0], -5);
  EXPECT_EQ(y[2][1], 6);
}

TEST_F(DriverTest, DescribesAProgramAsOneFunction) {
  const uint64_t program = LoadFile("matmul");
  takt_npu_function_t function = {};
  function.struct_size = sizeof(function);
  ASSERT_EQ(Table().describe_function(unit_, program, 0, &function),
            TAKT_NPU_RESULT_OK);
  EXPECT_STREQ(function.name, "main");
  EXPECT_EQ(function.binding_count, 4u);
  EXPECT_EQ(function.constant_count, 0u);
  EXPECT_EQ(Table().describe_function(unit_, program, 1, &function),
            TAKT_NPU_RESULT_INVALID);
  Table().unload_program(unit_, program);
  EXPECT_EQ(Table().describe_function(unit_, program, 0, &function),
            TAKT_NPU_RESULT_INVALID);
}

TEST_F(DriverTest, RejectsAProgramWhoseTensorsAreNotTheModels) {
  const Bytes data = ReadProgramFile("matmul");
  const struct {
    const char* what;
    Bytes bytes;
  } changes[] = {
      {"another type of an input",
       With<uint32_t>(data, TensorField(0, 0), TAKT_ELEMENT_I32)},
      {"another size of an input", With<uint32_t>(data, TensorField(0, 8), 3)},
      {"another rank of an input", With<uint32_t>(data, TensorField(0, 4), 1)},
      {"another name of an input",
       With<uint8_t>(data, TensorField(0, 40), 'z')},
      {"another type of an output",
       With<uint32_t>(data, TensorField(3, 0), TAKT_ELEMENT_I32)},
      {"another size of an output", With<uint32_t>(data, TensorField(2, 8), 1)},
      {"an output as an input",
       With<uint32_t>(With<uint32_t>(data, 12, 3), 16, 1)},
      {"the type of a byte with a sign",
       With<uint32_t>(data, TensorField(0, 0), TAKT_ELEMENT_UI8)},
  };
  for (const auto& change : changes) {
    uint64_t program = 0;
    EXPECT_EQ(Load(change.bytes, &program), TAKT_NPU_RESULT_INVALID)
        << change.what;
  }
}

TEST_F(DriverTest, RejectsAModelThatReadsAnotherFile) {
  uint64_t program = 0;
  EXPECT_EQ(Load(ReadProgramFile("outside"), &program),
            TAKT_NPU_RESULT_INVALID);
}

TEST_F(DriverTest, RejectsOperandsThatAreNotThePrograms) {
  const uint64_t program = LoadFile("affine");
  float x[5] = {};
  float y[4] = {};
  const takt_npu_range_t right = {reinterpret_cast<uint8_t*>(x), 0, 0, 16};
  const takt_npu_range_t longer = RangeOfArray(x);
  const takt_npu_range_t shorter = {right.data, 0, 0, 12};
  const takt_npu_range_t nowhere = {nullptr, 0, 0, 16};
  const takt_npu_range_t out = RangeOfArray(y);
  EXPECT_EQ(Run(program, {right, out}), TAKT_NPU_RESULT_OK);
  for (const auto& bindings :
       std::vector<std::vector<takt_npu_range_t>>{{longer, out},
                                                  {shorter, out},
                                                  {nowhere, out},
                                                  {right, shorter},
                                                  {right},
                                                  {right, right, out},
                                                  {}}) {
    EXPECT_EQ(Run(program, bindings), TAKT_NPU_RESULT_INVALID);
  }
  EXPECT_EQ(Run(program + 1, {right, out}), TAKT_NPU_RESULT_INVALID);
}

TEST_F(DriverTest, RunsNothingButPrograms) {
  uint32_t words[16] = {};
  takt_npu_operation_t fill = {};
  fill.kind = TAKT_NPU_KIND_FILL;
  fill.fill.out = RangeOfArray(words);
  fill.fill.size0 = 1, fill.fill.size1 = 16;
  fill.fill.stride1 = 1;
  EXPECT_EQ(Run(fill), TAKT_NPU_RESULT_UNSUPPORTED);
  const uint32_t constants[] = {1};
  takt_npu_operation_t run = {};
  run.kind = TAKT_NPU_KIND_PROGRAM;
  run.program.program = LoadFile("affine");
  const takt_npu_range_t bindings[] = {RangeOfArray(words),
                                       RangeOfArray(words)};
  run.program.bindings = bindings;
  run.program.binding_count = 2;
  run.program.constants = constants;
  run.program.constant_count = 1;
  EXPECT_EQ(Run(run), TAKT_NPU_RESULT_INVALID);
}

// How many damaged copies of each model: TAKT_DAMAGED_MODELS, or 150.
int DamagedCount() {
  const char* const text = std::getenv("TAKT_DAMAGED_MODELS");
  return text != nullptr ? std::atoi(text) : 150;
}

// Goal: a damaged model is refused, or it runs; nothing else happens.
TEST_F(DriverTest, ADamagedModelCanOnlyFail) {
  std::mt19937_64 random(1);
  size_t refused_count = 0;
  for (const char* name : {"affine", "dynamic", "matmul"}) {
    const Bytes data = ReadProgramFile(name);
    const size_t model = TensorField(name[0] == 'm' ? 4 : 2, 0);
    for (int i = 0; i < DamagedCount(); ++i) {
      Bytes changed = data;
      for (uint64_t n = random() % 3; n < 3; ++n) {
        uint8_t& byte = changed[model + random() % (data.size() - model)];
        byte = random() % 2 != 0
                   ? static_cast<uint8_t>(random())
                   : byte ^ static_cast<uint8_t>(1u << random() % 8);
      }
      uint64_t program = 0;
      if (Load(changed, &program) != TAKT_NPU_RESULT_OK) {
        ++refused_count;
        continue;
      }
      float words[6][8] = {};
      std::vector<takt_npu_range_t> bindings = {RangeOfArray(words[0]),
                                                RangeOfArray(words[1])};
      const size_t bytes = name[0] == 'a' ? 16 : 24;
      bindings[0].byte_length = bindings[1].byte_length = bytes;
      if (name[0] == 'm') {
        bindings = {RangeOfArray(words[0]), RangeOfArray(words[2]),
                    RangeOfArray(words[4]), RangeOfArray(words[5])};
        bindings[0].byte_length = 24;
        bindings[1] = {bindings[1].data, 0, 0, 48};
        bindings[3].byte_length = 16;
      }
      const takt_npu_result_t result = Run(program, bindings);
      EXPECT_TRUE(result == TAKT_NPU_RESULT_OK ||
                  result == TAKT_NPU_RESULT_FAILED)
          << name << " " << i << ": " << result;
      Table().unload_program(unit_, program);
    }
  }
  EXPECT_GT(refused_count, 0u);
}

TEST(DriverOpenTest, SaysWhichDevicesThereAre) {
  char error[256] = "";
  void* unit = nullptr;
  EXPECT_EQ(Table().open(nullptr, "device=XPU", &unit, error, sizeof(error)),
            TAKT_NPU_RESULT_LOST);
  EXPECT_TRUE(
      std::string(error).starts_with("OpenVINO has no device XPU here, but "))
      << error;
  EXPECT_NE(std::string(error).find("CPU"), std::string::npos) << error;
  EXPECT_EQ(Table().open(nullptr, "device=CPU,NUM_STREAMS=red", &unit, error,
                         sizeof(error)),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_STREQ(error, "CPU refuses NUM_STREAMS=red");
}

TEST(DriverQueryTest, ThereIsOneVersion) {
  EXPECT_NE(takt_npu_driver_query(TAKT_NPU_DRIVER_VERSION), nullptr);
  EXPECT_EQ(takt_npu_driver_query(TAKT_NPU_DRIVER_VERSION + 1), nullptr);
}

// A device of Takt with the driver, and a program that takes as long as asked.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto instance = Instance::Create();
    ASSERT_TRUE(instance.ok());
    NpuOptions options;
    options->driver_options = "device=CPU,cancel_ms=0,reset_ms=0";
    options->quarantine_ns = 1'000'000;
    auto device = Npu::Create(*instance, &Table(), options);
    ASSERT_TRUE(device.ok()) << device.status().ToString();
    instance_ = *instance;
    device_ = *device;
    const Bytes data = ReadProgramFile("loop");
    auto program = Executable::Load(device_, "npu-fb", data);
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    program_ = *program;
  }

  Status Run(int64_t count, int64_t time_limit_ns) {
    auto counts = Buffer::Allocate(device_, sizeof(count)).value();
    auto x = Buffer::Allocate(device_, 64 * 64 * 4).value();
    auto y = Buffer::Allocate(device_, 64 * 64 * 4).value();
    const std::vector<uint8_t> zeros(64 * 64 * 4);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&count);
    Status status = counts.Write(0, {bytes, sizeof(count)});
    if (status.ok()) status = x.Write(0, zeros);
    if (!status.ok()) return status;
    takt_npu_range_t ranges[3] = {};
    for (uint64_t i = 0; i < 3; ++i) ranges[i].buffer = i;
    takt_npu_operation_t operation = {};
    operation.kind = TAKT_NPU_KIND_PROGRAM;
    operation.program.workgroups[0] = 1;
    operation.program.workgroups[1] = 1;
    operation.program.workgroups[2] = 1;
    operation.program.bindings = ranges;
    operation.program.binding_count = 3;
    takt_executable_t* const programs[] = {program_.get()};
    const takt_npu_batch_description_t batch = {1, &operation, 1, programs};
    const takt_buffer_range_t bindings[] = {RangeOf(counts), RangeOf(x),
                                            RangeOf(y)};
    NpuBatchOptions options;
    options->time_limit_ns = time_limit_ns;
    auto done = Fence::Create().value();
    status = NpuQueue(device_).Batch({Fence(), done}, batch, bindings, options);
    return status.ok() ? done.Wait(instance_) : status;
  }

  Instance instance_;
  Device device_;
  Executable program_;
};

TEST_F(DeviceTest, AProgramIsOneOperation) {
  const uint64_t granted_before = Npu::Statistics(device_)->grant_count;
  ASSERT_TRUE(Run(3, TAKT_INFINITE_FUTURE).ok());
  const auto statistics = Npu::Statistics(device_);
  ASSERT_TRUE(statistics.has_value());
  EXPECT_EQ(statistics->operation_count, 1u);
  EXPECT_EQ(statistics->grant_count, granted_before + 1);
  EXPECT_EQ(statistics->error_count, 0u);
  EXPECT_EQ(device_.name(), "local-npu-openvino");
}

// Goal: an inference that OpenVINO does not stop costs its caller the time
// limit only, and the unit works again when the inference has ended.
TEST_F(DeviceTest, AnInferenceThatTakesTooLongFailsAndTheUnitRecovers) {
  const Status late = Run(100'000, 1'000'000);
  EXPECT_EQ(late.code(), TAKT_STATUS_DEADLINE_EXCEEDED) << late.ToString();
  EXPECT_EQ(Npu::Statistics(device_)->time_out_count, 1u);
  Status status = Run(1, TAKT_INFINITE_FUTURE);
  while (!status.ok()) {
    ASSERT_EQ(status.code(), TAKT_STATUS_UNAVAILABLE) << status.ToString();
    status = Run(1, TAKT_INFINITE_FUTURE);
  }
}

}  // namespace
}  // namespace takt::openvino
