#include "modules/hal_loader_module.h"

#include <cstring>
#include <map>

#include "exec/executor.h"
#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class HalLoaderModuleTest : public testing::Test {
 protected:
  void SetUp() override { Link(calls_.options.devices); }

  void Link(const std::vector<Ref<hal::Device>>& devices) {
    HalLoaderModuleOptions options;
    options.devices = devices;
    options.timers = calls_.timers;
    auto module = CreateHalLoaderModule(calls_.types, options);
    TAKT_ASSERT_OK(module);
    TAKT_ASSERT_OK(calls_.Link("hal_loader", {*module}));
  }

  HalCalls calls_;
};

TEST_F(HalLoaderModuleTest, ExportsEveryImportWithItsConvention) {
  const std::multimap<std::string, std::string> expected = {
      {"executable.query_support", "0r_i"},
      {"executable.load", "0rrr_r"},
      {"executable.lookup.function", "0rr_I"},
      {"executable.dispatch", "0rIiiiCiDCrIID_v"},
      {"executable.dispatch", "0riiiiCiDCrIID_v"},  // Of version 0.
  };
  HalLoaderModuleOptions options;
  options.timers = calls_.timers;
  auto module = CreateHalLoaderModule(calls_.types, options);
  TAKT_ASSERT_OK(module);
  EXPECT_EQ((*module)->name(), "hal_loader");
  EXPECT_EQ((*module)->version(), 1u);
  std::multimap<std::string, std::string> exported;
  for (const vm::ExportInfo& info : (*module)->exports()) {
    exported.emplace(info.name, info.convention.text);
  }
  EXPECT_EQ(exported, expected);
}

TEST_F(HalLoaderModuleTest, RejectsANullDevice) {
  HalLoaderModuleOptions options;
  options.devices = {nullptr};
  options.timers = calls_.timers;
  EXPECT_THAT(CreateHalLoaderModule(calls_.types, options),
              FailsWith(kInvalid, "hal_loader: device 0 is null"));
}

TEST_F(HalLoaderModuleTest, SupportsTheFormatsOfTheDevices) {
  const auto query = [&](const char* format) {
    return *calls_.CallI32("hal_loader.executable.query_support", format);
  };
  EXPECT_EQ(query("vmvx-bytecode-fb"), 1);
  EXPECT_EQ(query("npu-fb"), 0);
  EXPECT_EQ(query(""), 0);
  Link({});
  EXPECT_EQ(query("vmvx-bytecode-fb"), 0);
}

TEST_F(HalLoaderModuleTest, LoadNamesTheFormatItCannotLoad) {
  EXPECT_THAT(calls_.Call("hal_loader.executable.load", "npu-fb", "x", nullptr),
              FailsWith(kNotFound, "npu-fb"));
  EXPECT_FALSE(calls_
                   .Call("hal_loader.executable.load", "vmvx-bytecode-fb",
                         "damaged", nullptr)
                   .ok());
  EXPECT_THAT(
      calls_.Call("hal_loader.executable.load", "vmvx-bytecode-fb", "x", "012"),
      FailsWith(kInvalid, "expected a multiple of 4 bytes, got 3"));
  Link({});
  EXPECT_THAT(calls_.Call("hal_loader.executable.load", "vmvx-bytecode-fb", "x",
                          nullptr),
              FailsWith(kPrecondition, "no device"));
}

#if defined(__x86_64__)

class HalLoaderDispatchTest : public HalLoaderModuleTest {
 protected:
  void SetUp() override {
    HalLoaderModuleTest::SetUp();
    Load();
  }

  void Load() {
    auto executable = calls_.CallRef<hal::Executable>(
        "hal_loader.executable.load", kFormat, ConstantBytes(CompiledKernel()),
        nullptr);
    TAKT_ASSERT_OK(executable);
    executable_ = *std::move(executable);
  }

  // Nothing runs at once on the thread that dispatches, so that calls park
  // unless a worker is faster.
  void LinkToWorkers() {
    exec::Executor::Options workers;
    workers.worker_count = 2;
    auto executor = exec::Executor::Create(workers);
    TAKT_ASSERT_OK(executor);
    cpu::Device::Options options;
    options.learn_costs = false;
    options.owns_executor = true;
    auto device = cpu::Device::Create("local-task", *executor, options);
    TAKT_ASSERT_OK(device);
    Link({*device});
    Load();
  }

  static Ref<vm::ByteBuffer> Floats(const std::vector<float>& values) {
    return MutableBytes(BytesOfValues(values));
  }
  template <typename Lhs>
  absl::Status Multiply(const Lhs& lhs, uint64_t lhs_offset,
                        const Ref<vm::ByteBuffer>& out,
                        uint64_t out_length = 16, int64_t function = 0,
                        uint32_t count_z = 1) {
    return calls_
        .Call("hal_loader.executable.dispatch/0/3", executable_, function,
              uint32_t{1}, uint32_t{1}, count_z, lhs, lhs_offset, uint64_t{16},
              Floats({2, 3, 4, 5}), uint64_t{0}, uint64_t{16}, out, uint64_t{0},
              out_length)
        .status();
  }
  static std::vector<float> ValuesOf(const vm::ByteBuffer& buffer) {
    std::vector<float> values(buffer.byte_length() / sizeof(float));
    std::memcpy(values.data(), buffer.data(), values.size() * sizeof(float));
    return values;
  }

  Ref<hal::Executable> executable_;
};

TEST_F(HalLoaderDispatchTest, LookupFindsTheFunctionThatDispatchRuns) {
  auto function = calls_.CallI64("hal_loader.executable.lookup.function",
                                 executable_, kFunction);
  TAKT_ASSERT_OK(function);
  auto out = Floats({0, 0, 0, 0});
  TAKT_ASSERT_OK(Multiply(Floats({1, 2, 3, 4}), 0, out, 16, *function));
  EXPECT_EQ(ValuesOf(*out), std::vector<float>({2, 6, 12, 20}));
  EXPECT_THAT(calls_.Call("hal_loader.executable.lookup.function", executable_,
                          "no_such"),
              FailsWith(kNotFound, "no_such"));
}

TEST_F(HalLoaderDispatchTest, BindingsStartAtTheirOffset) {
  auto out = Floats({0, 0, 0, 0});
  const std::vector<float> lhs = {9, 9, 9, 9, 1, 2, 3, 4};
  TAKT_ASSERT_OK(Multiply(Floats(lhs), 16, out));
  EXPECT_EQ(ValuesOf(*out), std::vector<float>({2, 6, 12, 20}));
}

TEST_F(HalLoaderDispatchTest, ConstantsMayLieAnywhere) {
  const auto bytes =
      ConstantBytes("x" + BytesOfValues(std::vector<float>{1, 2, 3, 4}));
  auto out = Floats({0, 0, 0, 0});
  TAKT_ASSERT_OK(Multiply(
      vm::ByteBuffer::Wrap(bytes, bytes->data() + 1, 16, /*is_mutable=*/false),
      0, out));
  EXPECT_EQ(ValuesOf(*out), std::vector<float>({2, 6, 12, 20}));
  EXPECT_THAT(
      Multiply(vm::ByteBuffer::Wrap(bytes, bytes->data() + 1, 16,
                                    /*is_mutable=*/true),
               0, out),
      FailsWith(kInvalid, "binding 0: host memory starts 1 bytes past"));
}

TEST_F(HalLoaderDispatchTest, BindingsStayWithinTheirBuffers) {
  auto out = Floats({0, 0, 0, 0});
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), 4, out),
              FailsWith(kOutOfRange, "binding 0"));
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), kRest - 7, out),
              FailsWith(kOutOfRange, "binding 0"));
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), 0, out, 17),
              FailsWith(kOutOfRange, "binding 2"));
  EXPECT_EQ(ValuesOf(*out), std::vector<float>({0, 0, 0, 0}));
}

TEST_F(HalLoaderDispatchTest, DispatchRejectsWhatTheFunctionDoesNotTake) {
  auto out = Floats({0, 0, 0, 0});
  EXPECT_THAT(Multiply(nullptr, 0, out),
              FailsWith(kInvalid, "expected a vm.buffer at 0, got null"));
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), 0, out, 16, 1),
              FailsWith(kInvalid, "function 1"));
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), 0, out, 16, -1),
              FailsWith(kInvalid, "function"));
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), 0, out, 16, 0, 1u << 16),
              FailsWith(kInvalid, ""));
  EXPECT_THAT(calls_.Call("hal_loader.executable.dispatch/1/1", executable_,
                          int64_t{0}, uint32_t{1}, uint32_t{1}, uint32_t{1},
                          uint32_t{7}, out, uint64_t{0}, uint64_t{16}),
              FailsWith(kInvalid, "0 constants and 3 bindings, got 1 and 1"));
}

// A count of zero is a grid without workgroups.
TEST_F(HalLoaderDispatchTest, NoWorkgroupsDoNothing) {
  auto out = Floats({7, 7, 7, 7});
  TAKT_ASSERT_OK(Multiply(Floats({1, 2, 3, 4}), 0, out, 16, 0, 0));
  EXPECT_EQ(ValuesOf(*out), std::vector<float>({7, 7, 7, 7}));
}

TEST_F(HalLoaderDispatchTest, ExecutablesOfHalAreOthers) {
  auto kernel = ConstantBytes(CompiledKernel());
  auto others =
      calls_.device().LoadExecutable(kFormat, kernel->bytes(), kernel, {});
  TAKT_ASSERT_OK(others);
  executable_ = *others;
  EXPECT_THAT(Multiply(Floats({1, 2, 3, 4}), 0, Floats({0, 0, 0, 0})),
              FailsWith(kInvalid, "hal_loader.executable.load"));
  EXPECT_THAT(calls_.Call("hal_loader.executable.lookup.function", executable_,
                          kFunction),
              FailsWith(kInvalid, "hal_loader.executable.load"));
}

TEST_F(HalLoaderDispatchTest, WaitsForTheWorkersOfTheDevice) {
  LinkToWorkers();
  for (int i = 0; i < 200; ++i) {
    const auto first = static_cast<float>(i);
    auto out = Floats({0, 0, 0, 0});
    TAKT_ASSERT_OK(Multiply(Floats({first, 2, 3, 4}), 0, out));
    ASSERT_EQ(ValuesOf(*out), std::vector<float>({2 * first, 6, 12, 20}));
  }
}

// The operation itself keeps the memory that it works on.
TEST_F(HalLoaderDispatchTest, ACancelledCallLeavesItsDispatchAlone) {
  LinkToWorkers();
  for (int i = 0; i < 50; ++i) {
    auto call = calls_.Prepare(
        "hal_loader.executable.dispatch/0/3", executable_, int64_t{0},
        uint32_t{1}, uint32_t{1}, uint32_t{1}, Floats({1, 2, 3, 4}),
        uint64_t{0}, uint64_t{16}, Floats({2, 3, 4, 5}), uint64_t{0},
        uint64_t{16}, Floats({0, 0, 0, 0}), uint64_t{0}, uint64_t{16});
    TAKT_ASSERT_OK(call);
    (void)(*call)->Run();
    (*call)->RequestCancel();
    const absl::Status status = (*call)->RunToEnd();
    EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
  }
}

#endif

}  // namespace
}  // namespace takt::modules
