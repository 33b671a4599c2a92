// Goal: what the unit does when its device fails. Method: the functions through
// which a device fails are replaced; the rest is OpenVINO's device CPU.
#include "drivers/openvino/unit.h"

#include <atomic>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"
#include "tests/drivers/openvino/program_file.h"

namespace takt::openvino {
namespace {

constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();

// What the replaced functions do. Reset before each test.
struct Faults {
  std::atomic<bool> hangs{false};  // wait() does not return.
  std::atomic<bool> is_in_wait{false};
  std::atomic<int> cancel_count{0};
  int compile_count = 0;
  ov_status_e compile = OK;
  std::atomic<ov_status_e> start{OK};
  std::atomic<ov_status_e> wait{OK};
  const char* message = "";
  const char* celsius = nullptr;
};
Faults faults;

// A string that ov_free() frees.
char* Copy(const char* text) {
  char* const copy = new char[std::strlen(text) + 1];
  return std::strcpy(copy, text);
}

ov_status_e Compile(const ov_core_t* core, const ov_model_t* model,
                    const char* device, size_t, ov_compiled_model_t** out,
                    ...) {
  ++faults.compile_count;
  return faults.compile != OK
             ? faults.compile
             : ov_core_compile_model(core, model, device, 0, out);
}

ov_status_e Start(ov_infer_request_t* request) {
  return faults.start != OK ? faults.start.load()
                            : ov_infer_request_start_async(request);
}

ov_status_e Wait(ov_infer_request_t* request) {
  const ov_status_e status = ov_infer_request_wait(request);
  faults.is_in_wait = true;
  faults.is_in_wait.notify_all();
  faults.hangs.wait(true);
  return faults.wait != OK ? faults.wait.load() : status;
}

ov_status_e CancelRequest(ov_infer_request_t*) {
  ++faults.cancel_count;
  return OK;
}

ov_status_e GetProperty(const ov_core_t* core, const char* device,
                        const char* key, char** value) {
  const std::string name = key;
  if (faults.celsius != nullptr && name == "SUPPORTED_PROPERTIES") {
    *value = Copy("FULL_DEVICE_NAME DEVICE_THERMAL");
  } else if (faults.celsius != nullptr && name == "DEVICE_THERMAL") {
    *value = Copy(faults.celsius);
  } else {
    return ov_core_get_property(core, device, key, value);
  }
  return OK;
}

class UnitTest : public testing::Test {
 protected:
  void SetUp() override {
    faults.hangs = false;
    faults.is_in_wait = false;
    faults.cancel_count = 0;
    faults.compile_count = 0;
    faults.compile = OK;
    faults.start = OK;
    faults.wait = OK;
    faults.message = "";
    faults.celsius = nullptr;
  }
  void TearDown() override {
    Release();
    if (unit_ != nullptr) unit_->Close();
  }

  void Open() {
    Calls calls;
    calls.compile = &Compile;
    calls.start = &Start;
    calls.wait = &Wait;
    calls.cancel = &CancelRequest;
    calls.last_error = []() -> const char* { return Copy(faults.message); };
    calls.get_property = &GetProperty;
    Options options;
    options.device = "CPU";
    options.cancel_ms = 1;
    options.reset_ms = 1;
    std::string error;
    ASSERT_EQ(Unit::Open(calls, options, &unit_, &error), TAKT_NPU_RESULT_OK)
        << error;
    const Bytes data = ReadProgramFile("affine");
    ASSERT_EQ(unit_->Load(data, &program_), TAKT_NPU_RESULT_OK);
  }
  static void Release() {
    faults.hangs = false;
    faults.hangs.notify_all();
  }

  // Submits y = scale * x + bias.
  takt_npu_result_t Submit(uint64_t id) {
    bindings_[0] = {reinterpret_cast<uint8_t*>(x_), 0, 0, sizeof(x_)};
    bindings_[1] = {reinterpret_cast<uint8_t*>(y_), 0, 0, sizeof(y_)};
    std::memset(&operation_, 0, sizeof(operation_));
    operation_.kind = TAKT_NPU_KIND_PROGRAM;
    operation_.program.program = program_;
    operation_.program.bindings = bindings_;
    operation_.program.binding_count = 2;
    result_ = -1;
    completion_count_ = 0;
    batch_.struct_size = sizeof(batch_);
    batch_.id = id;
    batch_.operations = &operation_;
    batch_.operation_count = 1;
    batch_.user_data = this;
    batch_.complete = [](void* self, uint64_t, takt_npu_result_t result) {
      auto* const test = static_cast<UnitTest*>(self);
      ++test->completion_count_;
      test->result_ = result;
      test->result_.notify_all();
    };
    return unit_->Submit(batch_);
  }
  takt_npu_result_t Run(uint64_t id) {
    const takt_npu_result_t submitted = Submit(id);
    if (submitted != TAKT_NPU_RESULT_OK) return submitted;
    result_.wait(-1);
    return static_cast<takt_npu_result_t>(result_.load());
  }
  void ExpectRight() {
    const float expected[] = {3, 6, 14, 32};
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(y_[i], expected[i]) << i;
  }

  std::shared_ptr<Unit> unit_;
  uint64_t program_ = 0;
  float x_[4] = {1, 2, 3, 4};
  float y_[4] = {};
  takt_npu_range_t bindings_[2];
  takt_npu_operation_t operation_;
  takt_npu_batch_t batch_ = {};
  std::atomic<int> result_{-1};
  std::atomic<int> completion_count_{0};
};

TEST_F(UnitTest, RunsAndCompletesOnce) {
  Open();
  EXPECT_EQ(Run(1), TAKT_NPU_RESULT_OK);
  EXPECT_EQ(Run(2), TAKT_NPU_RESULT_OK);
  unit_->Close();
  EXPECT_EQ(completion_count_, 1);
  ExpectRight();
  unit_ = nullptr;
}

TEST_F(UnitTest, ADeviceThatDoesNotStopIsLostUntilItDoes) {
  Open();
  faults.hangs = true;
  ASSERT_EQ(Submit(1), TAKT_NPU_RESULT_OK);
  faults.is_in_wait.wait(false);
  EXPECT_EQ(unit_->Cancel(1), TAKT_NPU_RESULT_FAILED);
  EXPECT_EQ(faults.cancel_count, 1);
  EXPECT_EQ(unit_->Reset(), TAKT_NPU_RESULT_LOST);
  EXPECT_EQ(Submit(2), TAKT_NPU_RESULT_LOST);
  Release();
  while (unit_->Reset() != TAKT_NPU_RESULT_OK) {
  }
  // The cancelled batch neither completed nor wrote.
  EXPECT_EQ(completion_count_, 0);
  for (const float value : y_) EXPECT_EQ(value, 0);
  EXPECT_EQ(Run(3), TAKT_NPU_RESULT_OK);
  ExpectRight();
}

TEST_F(UnitTest, ResetEndsABatchThatWasNotCancelled) {
  Open();
  faults.hangs = true;
  ASSERT_EQ(Submit(1), TAKT_NPU_RESULT_OK);
  faults.is_in_wait.wait(false);
  EXPECT_EQ(unit_->Reset(), TAKT_NPU_RESULT_LOST);
  EXPECT_EQ(faults.cancel_count, 1);
  Release();
  while (unit_->Reset() != TAKT_NPU_RESULT_OK) {
  }
  EXPECT_EQ(completion_count_, 0);
}

TEST_F(UnitTest, CancelKnowsWhatRuns) {
  Open();
  EXPECT_EQ(unit_->Cancel(7), TAKT_NPU_RESULT_OK);
  faults.hangs = true;
  ASSERT_EQ(Submit(1), TAKT_NPU_RESULT_OK);
  faults.is_in_wait.wait(false);
  EXPECT_EQ(unit_->Cancel(7), TAKT_NPU_RESULT_OK);
  EXPECT_EQ(faults.cancel_count, 0);
  Release();
  result_.wait(-1);
  EXPECT_EQ(result_, TAKT_NPU_RESULT_OK);
  ExpectRight();
}

TEST_F(UnitTest, AModelOutlivesItsInference) {
  Open();
  faults.hangs = true;
  ASSERT_EQ(Submit(1), TAKT_NPU_RESULT_OK);
  faults.is_in_wait.wait(false);
  EXPECT_EQ(unit_->Cancel(1), TAKT_NPU_RESULT_FAILED);
  unit_->Unload(program_);
  const std::weak_ptr<Unit> weak = unit_;
  unit_->Close();
  unit_ = nullptr;
  EXPECT_FALSE(weak.expired());  // Its thread has it.
  Release();
  while (!weak.expired()) std::this_thread::yield();
}

TEST_F(UnitTest, AFailureEndsTheBatchOnly) {
  Open();
  faults.wait = GENERAL_ERROR;
  EXPECT_EQ(Run(1), TAKT_NPU_RESULT_FAILED);
  for (const float value : y_) EXPECT_EQ(value, 0);
  faults.wait = OK;
  EXPECT_EQ(Run(2), TAKT_NPU_RESULT_OK);
  ExpectRight();
  faults.start = REQUEST_BUSY;
  EXPECT_EQ(Run(3), TAKT_NPU_RESULT_FAILED);
  faults.start = OK;
  EXPECT_EQ(Run(4), TAKT_NPU_RESULT_OK);
}

TEST_F(UnitTest, AResetCompilesForADeviceThatWasLost) {
  Open();
  faults.message =
      "L0 zeFenceHostSynchronize result: ZE_RESULT_ERROR_DEVICE_"
      "LOST, code 0x70000001";
  faults.wait = GENERAL_ERROR;
  EXPECT_EQ(Run(1), TAKT_NPU_RESULT_LOST);
  faults.wait = OK;
  EXPECT_EQ(Submit(2), TAKT_NPU_RESULT_LOST);
  faults.compile = GENERAL_ERROR;
  while (faults.compile_count == 1) {
    EXPECT_EQ(unit_->Reset(), TAKT_NPU_RESULT_LOST);
  }
  EXPECT_EQ(Submit(2), TAKT_NPU_RESULT_LOST);
  faults.compile = OK;
  EXPECT_EQ(unit_->Reset(), TAKT_NPU_RESULT_OK);
  EXPECT_EQ(faults.compile_count, 3);
  EXPECT_EQ(Run(3), TAKT_NPU_RESULT_OK);
  ExpectRight();
}

TEST_F(UnitTest, TheDeviceMayRefuseAModel) {
  Open();
  const Bytes data = ReadProgramFile("affine");
  uint64_t program = 0;
  faults.compile = GENERAL_ERROR;
  faults.message = "Unsupported operation";
  EXPECT_EQ(unit_->Load(data, &program), TAKT_NPU_RESULT_UNSUPPORTED);
  faults.message = "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY";
  EXPECT_EQ(unit_->Load(data, &program), TAKT_NPU_RESULT_NO_MEMORY);
  EXPECT_EQ(program, 0u);
  EXPECT_EQ(Run(1), TAKT_NPU_RESULT_OK);  // The one that was loaded before.
}

TEST_F(UnitTest, TelemetryIsWhatTheDeviceGives) {
  Open();
  takt_npu_telemetry_t telemetry = unit_->telemetry();
  EXPECT_EQ(telemetry.temperature_millicelsius, kUnknown);
  EXPECT_EQ(telemetry.frequency_hz, kUnknown);
  EXPECT_EQ(telemetry.throttled_ns, kUnknown);
  EXPECT_GE(telemetry.utilization_ppm, 0);
  EXPECT_LE(telemetry.utilization_ppm, 1'000'000);
  unit_->Close();
  faults.celsius = "61.5";
  Open();
  EXPECT_EQ(unit_->telemetry().temperature_millicelsius, 61500);
  faults.celsius = "warm";
  EXPECT_EQ(unit_->telemetry().temperature_millicelsius, kUnknown);
  faults.celsius = "1e30";
  EXPECT_EQ(unit_->telemetry().temperature_millicelsius, kUnknown);
}

TEST_F(UnitTest, ABusyUnitIsUtilized) {
  Open();
  faults.hangs = true;
  ASSERT_EQ(Submit(1), TAKT_NPU_RESULT_OK);
  faults.is_in_wait.wait(false);
  while (unit_->telemetry().utilization_ppm == 0) {
  }
  Release();
  result_.wait(-1);
}

TEST(ResultTest, TheMessageTellsTheCause) {
  EXPECT_EQ(ResultOf(OK, "DEVICE_LOST"), TAKT_NPU_RESULT_OK);
  EXPECT_EQ(ResultOf(INFER_CANCELLED, ""), TAKT_NPU_RESULT_CANCELLED);
  EXPECT_EQ(ResultOf(GENERAL_ERROR, ""), TAKT_NPU_RESULT_FAILED);
  EXPECT_EQ(ResultOf(GENERAL_ERROR, "ZE_RESULT_ERROR_DEVICE_LOST"),
            TAKT_NPU_RESULT_LOST);
  EXPECT_EQ(ResultOf(UNEXPECTED, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"),
            TAKT_NPU_RESULT_NO_MEMORY);
  EXPECT_EQ(ResultOf(NOT_ALLOCATED, ""), TAKT_NPU_RESULT_NO_MEMORY);
}

}  // namespace
}  // namespace takt::openvino
