// Runs the functions of tests/testdata/vmvx/executable.mlir, each of which
// shows one side of how it was called.
#include "cpu/vmvx_executable.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/cancellation.h"
#include "base/mapped_file.h"
#include "cpu/cpu_features.h"
#include "cpu/vmvx_module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Ref<MappedFile> OpenVmvx(const std::string& name) {
  auto file = MappedFile::Open(TAKT_TESTDATA_DIR "/vmvx/" + name,
                               MappedFile::Mode::kPreload);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : nullptr;
}

absl::StatusOr<std::shared_ptr<ExecutableCode>> Load(
    const std::string& name, absl::Span<const uint32_t> constants = {}) {
  auto vmvx = CreateVmvxModule(
      kernels::SelectKernels(UsableInstructionSets(DetectProcessor())));
  EXPECT_TRUE(vmvx.ok()) << vmvx.status();
  Ref<MappedFile> file = OpenVmvx(name);
  return VmvxExecutable::Load(file->bytes(), file, constants, *std::move(vmvx));
}

// A dispatch whose bindings are 64 words each.
class VmvxDispatch {
 public:
  explicit VmvxDispatch(std::shared_ptr<ExecutableCode> code)
      : code_(std::move(code)) {
    EXPECT_TRUE(worker.ReserveLocalMemory(16384));
  }

  absl::Status Run(const std::string& name) {
    const uint32_t total = count[0] * count[1] * count[2];
    return RunRange(name, 0, total);
  }
  absl::Status RunRange(const std::string& name, uint32_t begin, uint32_t end) {
    const auto& functions = code_->functions();
    for (size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].name == name) {
        return RunFunction(i, begin, end);
      }
    }
    return absl::NotFoundError(name);
  }

  std::array<uint32_t, 3> count = {1, 1, 1};
  std::vector<uint32_t> constants;
  alignas(64) uint32_t words[3][64] = {};
  exec::Worker worker;
  uint64_t read_only_bindings = 0;
  Ref<Cancellation> cancellation;

 private:
  absl::Status RunFunction(size_t function, uint32_t begin, uint32_t end) {
    const ExecutableCode::Function& info = code_->functions()[function];
    constants.resize(info.constant_count);
    void* bindings[] = {words[0], words[1], words[2]};
    const size_t lengths[] = {256, 256, 256};
    DispatchArguments arguments;
    arguments.workgroup_count = count;
    arguments.constants = constants.data();
    arguments.constant_count = constants.size();
    arguments.bindings = bindings;
    arguments.binding_lengths = lengths;
    arguments.binding_count = info.binding_count;
    arguments.read_only_bindings[0] = read_only_bindings;
    arguments.cancellation = cancellation.get();
    return code_->RunWorkgroups(function, arguments, begin, end, worker);
  }

  std::shared_ptr<ExecutableCode> code_;
};

class VmvxExecutableTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<uint32_t> constants = {70, 71};
    auto code = Load("executable.vmfb", constants);
    ASSERT_TRUE(code.ok()) << code.status();
    code_ = *std::move(code);
  }
  std::shared_ptr<ExecutableCode> code_;
};

TEST_F(VmvxExecutableTest, ReadsFunctionsAndTheirAttributes) {
  const auto& functions = code_->functions();
  // Without __own, __notify and __set_constants.
  ASSERT_EQ(functions.size(), 12u);
  EXPECT_EQ(functions[0].name, "count");
  EXPECT_EQ(functions[0].binding_count, 1u);
  EXPECT_EQ(functions[0].local_memory_bytes, 0u);
  EXPECT_EQ(functions[2].name, "constant");
  EXPECT_EQ(functions[2].constant_count, 2u);
  EXPECT_EQ(functions[2].local_memory_bytes, 4096u);
}

TEST_F(VmvxExecutableTest, RunsEachWorkgroupOfARangeOnce) {
  constexpr uint32_t kTotal = 3 * 4 * 2;
  for (uint32_t begin = 0; begin <= kTotal; begin += 5) {
    for (uint32_t end = begin; end <= kTotal; end += 3) {
      VmvxDispatch dispatch(code_);
      dispatch.count = {3, 4, 2};
      ASSERT_TRUE(dispatch.RunRange("count", begin, end).ok());
      for (uint32_t i = 0; i < 64; ++i) {
        EXPECT_EQ(dispatch.words[0][i], i >= begin && i < end ? 1u : 0u);
      }
    }
  }
}

TEST_F(VmvxExecutableTest, ThreadsMayRunItAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<VmvxDispatch>> dispatches;
  for (uint32_t i = 0; i < 4; ++i) {
    dispatches.push_back(std::make_unique<VmvxDispatch>(code_));
    dispatches[i]->count = {8, 8, 1};
    dispatches[i]->worker.index = i;
    threads.emplace_back([dispatch = dispatches[i].get()] {
      for (int run = 0; run < 50; ++run) {
        EXPECT_TRUE(dispatch->Run("count").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& dispatch : dispatches) {
    EXPECT_THAT(dispatch->words[0], Each(50u));
  }
}

TEST_F(VmvxExecutableTest, CallsTheKernels) {
  VmvxDispatch dispatch(code_);
  for (uint32_t i = 0; i < 4; ++i) {
    dispatch.words[0][i] = i;
    dispatch.words[1][i] = 100 * i;
  }
  ASSERT_TRUE(dispatch.Run("add").ok());
  EXPECT_THAT(absl::MakeSpan(dispatch.words[2]).subspan(0, 5),
              ElementsAre(0, 101, 202, 303, 0));
}

TEST_F(VmvxExecutableTest, PassesConstantsAndLocalMemory) {
  VmvxDispatch dispatch(code_);
  dispatch.constants = {5, 6};
  ASSERT_TRUE(dispatch.Run("constant").ok());
  EXPECT_EQ(dispatch.words[0][0], 6u);
}

TEST_F(VmvxExecutableTest, PassesSizesExactly) {
  VmvxDispatch dispatch(code_);
  dispatch.count = {2, 3, 4};
  ASSERT_TRUE(dispatch.RunRange("shape", 0, 1).ok());
  EXPECT_THAT(absl::MakeSpan(dispatch.words[0]).subspan(0, 9),
              ElementsAre(8192, 12, 256, 1, 1, 1, 2, 3, 4));
}

TEST_F(VmvxExecutableTest, AFunctionMayBeNamedLikeTheModulesOwn) {
  VmvxDispatch dispatch(code_);
  ASSERT_TRUE(dispatch.Run("__nine").ok());
  EXPECT_EQ(dispatch.words[0][0], 9u);
  for (const char* name : {"__own", "__notify", "__set_constants"}) {
    EXPECT_EQ(dispatch.Run(name).code(), absl::StatusCode::kNotFound) << name;
  }
}

TEST_F(VmvxExecutableTest, SetsExecutableConstants) {
  VmvxDispatch dispatch(code_);
  ASSERT_TRUE(dispatch.Run("executable_constant").ok());
  EXPECT_EQ(dispatch.words[0][0], 71u);
}

TEST_F(VmvxExecutableTest, AFailureIsTheWorkgroupsOwn) {
  VmvxDispatch dispatch(code_);
  dispatch.count = {8, 1, 1};
  const absl::Status status = dispatch.Run("fail_at_3");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("workgroup 3 does not like it"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("fail_at_3"));
  // And nobody else's.
  EXPECT_TRUE(dispatch.RunRange("fail_at_3", 4, 8).ok());
  EXPECT_TRUE(dispatch.Run("shape").ok());
}

TEST_F(VmvxExecutableTest, BindingsEndWhereTheyEnd) {
  VmvxDispatch dispatch(code_);
  EXPECT_EQ(dispatch.Run("overrun").code(), absl::StatusCode::kOutOfRange);
}

TEST_F(VmvxExecutableTest, ConstantsAreReadOnly) {
  VmvxDispatch dispatch(code_);
  EXPECT_EQ(dispatch.Run("write_constants").code(),
            absl::StatusCode::kPermissionDenied);
}

// Module state lives on from dispatch to dispatch, unless it holds memory that
// was only lent.
TEST_F(VmvxExecutableTest, AContextThatKeepsABindingDies) {
  VmvxDispatch dispatch(code_);
  ASSERT_TRUE(dispatch.Run("calls_before").ok());
  EXPECT_EQ(dispatch.words[0][0], 0u);
  ASSERT_TRUE(dispatch.Run("calls_before").ok());
  EXPECT_EQ(dispatch.words[0][0], 1u);
  ASSERT_TRUE(dispatch.Run("keep").ok());
  EXPECT_EQ(dispatch.words[0][0], 2u);
  ASSERT_TRUE(dispatch.Run("calls_before").ok());
  EXPECT_EQ(dispatch.words[0][0], 0u);
}

TEST_F(VmvxExecutableTest, ABindingListMayBeEmptied) {
  VmvxDispatch dispatch(code_);
  EXPECT_TRUE(dispatch.Run("empty_list").ok());
  EXPECT_TRUE(dispatch.Run("count").ok());
  EXPECT_EQ(dispatch.words[0][0], 1u);
}

TEST(VmvxExecutableLoadTest, RefusesBytesThatAreNoExecutable) {
  const absl::Status signature =
      Load("executable_other_signature.vmfb").status();
  EXPECT_EQ(signature.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(signature.message()), HasSubstr("run: signature"));
  const absl::Status attribute = Load("executable_bad_attribute.vmfb").status();
  EXPECT_EQ(attribute.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(attribute.message()), HasSubstr("many"));
  const absl::Status import = Load("executable_unknown_import.vmfb").status();
  EXPECT_EQ(import.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(import.message()), HasSubstr("vmvx.transmogrify"));
}

TEST(VmvxExecutableLoadTest, RefusesConstantsThatNothingTakes) {
  const std::vector<uint32_t> constants = {1};
  const absl::Status status = Load("vmvx_calls.vmfb", constants).status();
  EXPECT_FALSE(status.ok());
}

TEST(VmvxExecutableLoadTest, RefusesNoise) {
  auto vmvx = CreateVmvxModule(kernels::SelectKernels({}));
  ASSERT_TRUE(vmvx.ok());
  const std::vector<uint8_t> noise(1000, 0x55);
  EXPECT_FALSE(VmvxExecutable::Load(noise, nullptr, {}, *vmvx).ok());
  EXPECT_FALSE(VmvxExecutable::Load({}, nullptr, {}, *vmvx).ok());
}

TEST(VmvxExecutableLoadTest, CopiesBytesWithoutAnOwner) {
  auto vmvx = CreateVmvxModule(kernels::SelectKernels({}));
  ASSERT_TRUE(vmvx.ok());
  std::shared_ptr<ExecutableCode> code;
  {
    Ref<MappedFile> file = OpenVmvx("executable.vmfb");
    std::vector<uint8_t> bytes(file->bytes().begin(), file->bytes().end());
    const std::vector<uint32_t> constants = {1, 2};
    auto loaded = VmvxExecutable::Load(bytes, nullptr, constants, *vmvx);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    code = *std::move(loaded);
    std::fill(bytes.begin(), bytes.end(), 0xff);
  }
  VmvxDispatch dispatch(code);
  EXPECT_TRUE(dispatch.Run("count").ok());
  EXPECT_EQ(dispatch.words[0][0], 1u);
}

class EndlessKernelTest : public testing::Test {
 protected:
  EndlessKernelTest() : dispatch_(Load("endless.vmfb").value()) {}

  absl::Status RunLimited(const std::string& name, uint64_t step_limit) {
    dispatch_.cancellation =
        MakeRef<Cancellation>(Cancellation::Scope::kKernels, step_limit);
    return dispatch_.Run(name);
  }

  VmvxDispatch dispatch_;
};

TEST_F(EndlessKernelTest, AStepLimitEndsALoop) {
  EXPECT_EQ(RunLimited("loop", 100'000).code(),
            absl::StatusCode::kResourceExhausted);
  // The executable still runs.
  dispatch_.words[1][0] = 3;
  EXPECT_TRUE(RunLimited("write", 100'000).ok());
  EXPECT_EQ(dispatch_.words[0][0], 3u);
}

TEST_F(EndlessKernelTest, StepsThatWereNotRunCanBeRunByTheNextWorkgroups) {
  dispatch_.cancellation =
      MakeRef<Cancellation>(Cancellation::Scope::kKernels, 2000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(dispatch_.Run("write").ok());
  EXPECT_EQ(dispatch_.Run("loop").code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(EndlessKernelTest, ACancellationEndsALoop) {
  dispatch_.cancellation = MakeRef<Cancellation>(Cancellation::Scope::kKernels);
  std::thread canceller([&] { dispatch_.cancellation->Request(); });
  EXPECT_EQ(dispatch_.Run("loop").code(), absl::StatusCode::kCancelled);
  canceller.join();
}

TEST_F(EndlessKernelTest, ACancellationEndsManyLargeProducts) {
  dispatch_.cancellation = MakeRef<Cancellation>(Cancellation::Scope::kKernels);
  std::thread canceller([&] { dispatch_.cancellation->Request(); });
  EXPECT_EQ(dispatch_.Run("multiply").code(), absl::StatusCode::kCancelled);
  canceller.join();
}

TEST_F(EndlessKernelTest, ProductsCountAsSteps) {
  // Each has 2^26 / 64 = 2^20 steps.
  EXPECT_EQ(RunLimited("multiply", (1 << 20) - 1).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(EndlessKernelTest, AnOutputThatOverlapsItselfIsRefused) {
  const absl::Status status = dispatch_.Run("fill");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("overlap"));
}

TEST_F(EndlessKernelTest, ABindingThatIsReadOnlyCannotBeWritten) {
  dispatch_.words[1][0] = 5;
  dispatch_.read_only_bindings = 2;
  EXPECT_EQ(dispatch_.Run("write").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(dispatch_.words[0][0], 5u);
  EXPECT_EQ(dispatch_.words[1][0], 5u);
}

TEST_F(EndlessKernelTest, AnInitializerEnds) {
  EXPECT_EQ(Load("endless_initializer.vmfb").status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace takt::cpu
