
#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class HalExecutableTest : public HalModuleTest {
 protected:
  void SetUp() override { Link("hal_executable"); }

  template <typename Data, typename Constants>
  absl::StatusOr<Ref<hal::Executable>> Create(const char* format,
                                              const Data& data,
                                              const Constants& constants) {
    return calls_.CallRef<hal::Executable>("hal.executable.create",
                                           calls_.device_ref(), kAnyQueue,
                                           format, data, constants);
  }
};

#if defined(__x86_64__)

TEST_F(HalExecutableTest, CreateLoadsAndLookupFinds) {
  auto executable = Create(kFormat, ConstantBytes(CompiledKernel()), nullptr);
  TAKT_ASSERT_OK(executable);
  EXPECT_EQ((*executable)->function_count(), 1u);
  EXPECT_EQ(
      *calls_.CallI64("hal.executable.lookup.function", *executable, kFunction),
      0);
  EXPECT_THAT(calls_.Call("hal.executable.lookup.function", *executable, "x"),
              FailsWith(kNotFound, "hal.executable.lookup.function"));
}

TEST_F(HalExecutableTest, CreateTakesUnalignedData) {
  const std::string kernel = CompiledKernel();
  const auto shifted = ConstantBytes("0123456" + kernel);
  TAKT_ASSERT_OK(
      Create(kFormat,
             vm::ByteBuffer::Wrap(shifted, shifted->data() + 7, kernel.size(),
                                  /*is_mutable=*/false),
             nullptr));
}

TEST_F(HalExecutableTest, CreateRejectsConstantsNotDeclared) {
  const auto kernel = ConstantBytes(CompiledKernel());
  TAKT_ASSERT_OK(Create(kFormat, kernel, ""));
  EXPECT_THAT(Create(kFormat, kernel, "0123"), FailsWith(kPrecondition, ""));
  EXPECT_THAT(Create(kFormat, kernel, "012"),
              FailsWith(kInvalid, "expected a multiple of 4 bytes, got 3"));
  EXPECT_THAT(Create(kFormat, kernel, ConstantBytes(std::string(260, 'x'))),
              FailsWith(kOutOfRange, "at most 64, got 65"));
}

TEST_F(HalExecutableTest, CreateRejectsDamagedData) {
  EXPECT_FALSE(Create(kFormat, "not an ELF file", nullptr).ok());
  EXPECT_FALSE(
      Create(kFormat, ConstantBytes(CompiledKernel().substr(0, 1000)), nullptr)
          .ok());
}

#endif

TEST_F(HalExecutableTest, CreateNamesAnUnknownFormat) {
  for (const char* format : {"", "npu-fb", "embedded-elf-vax"}) {
    EXPECT_THAT(Create(format, "data", nullptr), FailsWith(kNotFound, format));
  }
}

TEST_F(HalExecutableTest, CreateNeedsItsOperands) {
  EXPECT_THAT(calls_.Call("hal.executable.create", nullptr, kAnyQueue, "f", "d",
                          nullptr),
              FailsWith(kInvalid, "hal.device"));
  EXPECT_THAT(Create("vmvx-bytecode-fb", nullptr, nullptr),
              FailsWith(kInvalid, "vm.buffer"));
  EXPECT_THAT(calls_.Call("hal.executable.lookup.function", nullptr, "x"),
              FailsWith(kInvalid, "hal.executable"));
}

}  // namespace
}  // namespace takt::modules
