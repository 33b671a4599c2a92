// A HalCalls calls imports of the native modules through real bytecode: the
// modules in tests/testdata/hal export a function for each import, which hands
// its arguments on.
//
//   calls.Link("hal_fence");
//   calls.Call("hal.fence.join/2", int64_t{0}, fence_a, fence_b)
//
// The numbers after an import's name are how often its tuples repeat.
#ifndef TAKT_TESTS_MODULES_HAL_CALLS_H_
#define TAKT_TESTS_MODULES_HAL_CALLS_H_

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "base/mapped_file.h"
#include "base/status.h"
#include "base/timer_heap.h"
#include "cpu/device.h"
#include "hal/buffer_view.h"
#include "modules/hal_module.h"
#include "tests/modules/test_support.h"
#include "vm/byte_buffer.h"
#include "vm/bytecode_module.h"
#include "vm/context.h"
#include "vm/invocation.h"

namespace takt::modules {

// Arguments of imports.
inline constexpr int64_t kNoFlags = 0;
inline constexpr uint64_t kAnyQueue = ~uint64_t{0};
inline constexpr uint64_t kRest = ~uint64_t{0};
inline constexpr int32_t kF32 = 0x21000020;
inline constexpr int32_t kDense = 1;
inline constexpr int32_t kDeviceLocal = 48;
inline constexpr int32_t kConstantUsage = 527363;
inline constexpr uint32_t kForever = ~uint32_t{0};

// The code of an executable, its format, and its only function.
inline std::string CompiledKernel() {
  std::ifstream file(TAKT_TESTDATA_DIR "/elf/simple_mul_x86_64.so",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline constexpr char kFormat[] = "embedded-elf-x86_64";
inline constexpr char kFunction[] = "simple_mul_dispatch_0_elementwise_4_f32";

// Time that passes when the test says so.
class ManualTimers final : public TimerService {
 public:
  void Arm(Timer* timer, int64_t deadline_ns) override {
    ++armed_count;
    heap_.Push(timer, deadline_ns);
  }
  bool Cancel(Timer* timer) override { return heap_.Remove(timer); }
  // Fires whatever is armed.
  void FireAll() {
    while (Timer* timer = heap_.PopDue(INT64_MAX)) timer->fire(timer);
  }
  bool idle() const { return heap_.empty(); }
  int64_t next_deadline_ns() const { return heap_.next_deadline_ns(); }

  int armed_count = 0;

 private:
  TimerHeap heap_;
};

// How a C++ argument becomes a value of the VM.
inline vm::Value ToValue(int32_t v) { return vm::Value::I32(v); }
inline vm::Value ToValue(uint32_t v) {
  return vm::Value::I32(static_cast<int32_t>(v));
}
inline vm::Value ToValue(int64_t v) { return vm::Value::I64(v); }
inline vm::Value ToValue(uint64_t v) {
  return vm::Value::I64(static_cast<int64_t>(v));
}
inline vm::Value ToValue(float v) { return vm::Value::F32(v); }
inline vm::Value ToValue(std::nullptr_t) { return vm::Value::FromRef(nullptr); }
template <typename T>
vm::Value ToValue(const Ref<T>& ref) {
  return vm::Value::FromRef(ref);
}
// Constant bytes, as rodata is.
inline Ref<vm::ByteBuffer> ConstantBytes(const std::string& text) {
  Ref<Bytes> bytes = MakeRef<Bytes>(text);
  uint8_t* data = bytes->data();
  return vm::ByteBuffer::Wrap(std::move(bytes), data, text.size(),
                              /*is_mutable=*/false);
}
inline Ref<vm::ByteBuffer> MutableBytes(const std::string& text) {
  Ref<Bytes> bytes = MakeRef<Bytes>(text);
  uint8_t* data = bytes->data();
  return vm::ByteBuffer::Wrap(std::move(bytes), data, text.size(),
                              /*is_mutable=*/true);
}
inline vm::Value ToValue(const char* text) {
  return ToValue(ConstantBytes(text));
}

class HalCalls {
 public:
  using Results = absl::StatusOr<std::vector<vm::Value>>;

  HalCalls() {
    auto device = cpu::Device::Create("local-sync", nullptr, {});
    EXPECT_TRUE(device.ok()) << device.status();
    options.devices.push_back(*std::move(device));
    options.trace_sink = [this](absl::string_view text) {
      trace.append(text.data(), text.size());
    };
    timers = std::make_shared<ManualTimers>();
    options.timers = timers;
  }

  // Links tests/testdata/hal/<fixture>.vmfb after `others` (made by the test)
  // and a hal module made from `options`.
  absl::Status Link(const std::string& fixture,
                    std::vector<Ref<vm::Module>> others = {}) {
    TAKT_ASSIGN_OR_RETURN(Ref<vm::Module> hal, CreateHalModule(types, options));
    std::vector<Ref<vm::Module>> modules = {std::move(hal)};
    for (Ref<vm::Module>& other : others) modules.push_back(std::move(other));
    const std::string path =
        std::string(TAKT_TESTDATA_DIR) + "/hal/" + fixture + ".vmfb";
    TAKT_ASSIGN_OR_RETURN(Ref<MappedFile> file,
                          MappedFile::Open(path, MappedFile::Mode::kPreload));
    const absl::Span<const uint8_t> bytes = file->bytes();
    TAKT_ASSIGN_OR_RETURN(
        Ref<vm::BytecodeModule> module,
        vm::BytecodeModule::Load(types, bytes, std::move(file), path));
    modules.push_back(std::move(module));
    TAKT_ASSIGN_OR_RETURN(context, vm::Context::Create(modules, nullptr));
    return absl::OkStatus();
  }

  // An invocation of the import, ready to run.
  template <typename... Args>
  absl::StatusOr<Ref<vm::Invocation>> Prepare(const std::string& import,
                                              const Args&... args) {
    std::vector<vm::Value> values = {ToValue(args)...};
    return PrepareValues(import, std::move(values));
  }
  absl::StatusOr<Ref<vm::Invocation>> PrepareValues(
      const std::string& import, std::vector<vm::Value> values) {
    const std::string name = absl::StrReplaceAll(
        import.substr(import.find('.') + 1), {{".", "_"}, {"/", "_"}});
    TAKT_ASSIGN_OR_RETURN(vm::FunctionRef function,
                          context->FindFunction(name));
    return vm::Invocation::Create(*context, function, absl::MakeSpan(values));
  }

  // Runs the import to its end.
  template <typename... Args>
  Results Call(const std::string& import, const Args&... args) {
    return CallValues(import, {ToValue(args)...});
  }
  Results CallValues(const std::string& import, std::vector<vm::Value> values) {
    TAKT_ASSIGN_OR_RETURN(Ref<vm::Invocation> invocation,
                          PrepareValues(import, std::move(values)));
    TAKT_RETURN_IF_ERROR(invocation->RunToEnd());
    return invocation->TakeResults();
  }
  // The same for the common kinds of result.
  template <typename... Args>
  absl::StatusOr<int32_t> CallI32(const std::string& import,
                                  const Args&... args) {
    TAKT_ASSIGN_OR_RETURN(std::vector<vm::Value> results,
                          Call(import, args...));
    return results.at(0).i32();
  }
  template <typename... Args>
  absl::StatusOr<int64_t> CallI64(const std::string& import,
                                  const Args&... args) {
    TAKT_ASSIGN_OR_RETURN(std::vector<vm::Value> results,
                          Call(import, args...));
    return results.at(0).i64();
  }
  template <typename T, typename... Args>
  absl::StatusOr<Ref<T>> CallRef(const std::string& import,
                                 const Args&... args) {
    TAKT_ASSIGN_OR_RETURN(std::vector<vm::Value> results,
                          Call(import, args...));
    if (results.at(0).ref() == nullptr) return Ref<T>();
    EXPECT_EQ(results[0].ref()->type(), &T::kType);
    return Ref<T>::Retain(static_cast<T*>(results[0].ref()));
  }

  hal::Device& device() { return *options.devices.front(); }
  Ref<hal::Device> device_ref() { return options.devices.front(); }
  Ref<hal::Allocator> allocator() {
    return Ref<hal::Allocator>::Retain(device().allocator());
  }

  // A buffer of the device that holds these bytes.
  Ref<hal::Buffer> BufferOf(const std::string& bytes,
                            hal::MemoryAccess access = hal::kAccessAll) {
    auto buffer = device().Allocate({}, bytes.size());
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    std::copy(bytes.begin(), bytes.end(), (*buffer)->data());
    if (access == hal::kAccessAll) return *std::move(buffer);
    return hal::Buffer::WrapHost(*buffer, (*buffer)->data(), bytes.size(),
                                 hal::kMemoryTypeAll,
                                 hal::kUsageTransferAndStorage, access);
  }
  template <typename T>
  Ref<hal::Buffer> BufferOfValues(const std::vector<T>& values) {
    return BufferOf(BytesOfValues(values));
  }
  static std::string TextOf(const hal::Buffer& buffer) {
    return std::string(reinterpret_cast<const char*>(buffer.data()),
                       buffer.byte_length());
  }

  vm::TypeRegistry types;
  HalModuleOptions options;
  std::shared_ptr<ManualTimers> timers;
  std::string trace;  // What was traced.
  Ref<vm::Context> context;
};

// A test whose calls go to one fixture.
class HalModuleTest : public testing::Test {
 protected:
  void Link(const std::string& fixture) {
    TAKT_ASSERT_OK(calls_.Link(fixture));
  }

  HalCalls calls_;
};

inline constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
inline constexpr auto kOutOfRange = absl::StatusCode::kOutOfRange;
inline constexpr auto kDenied = absl::StatusCode::kPermissionDenied;
inline constexpr auto kNotFound = absl::StatusCode::kNotFound;
inline constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
inline constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;

}  // namespace takt::modules

#endif  // TAKT_TESTS_MODULES_HAL_CALLS_H_
