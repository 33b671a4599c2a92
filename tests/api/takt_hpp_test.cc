#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "takt/takt.hpp"
#include "tests/api/test_data.h"

namespace {

class TaktHppTest : public ::testing::Test {
 protected:
  takt::Instance instance_ = takt::Instance::Create().value();
  takt::Device device_ = takt::Device::Create(instance_, "local-task").value();
};

TEST_F(TaktHppTest, RunsAModule) {
  auto module =
      takt::Module::Load(instance_, TestData("api/simple_mul.vmfb")).value();
  auto context = takt::Context::Create(instance_, {module}, {device_}).value();
  auto mul = context.FindFunction("simple.mul").value();
  const float values[4] = {1, 2, 3, 4};
  auto view = takt::BufferView::Copy<float>(device_, {4}, values).value();
  auto results = mul.Invoke(view, view).value();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].view().ToVector<float>().value(),
            (std::vector<float>{1, 4, 9, 16}));
  EXPECT_EQ(results[0].view().Format(), "4xf32=1 4 9 16");
  EXPECT_EQ(mul.name(), "simple.mul");
  EXPECT_EQ(mul.attribute("takt.priority"), "200");
  EXPECT_EQ(mul.attribute("takt.deadline_ns"), std::nullopt);
  EXPECT_GT(context.statistics().memory_bytes, 0u);
}

TEST_F(TaktHppTest, InvokesWithTheCallersArrays) {
  auto module =
      takt::Module::Load(instance_, TestData("api/simple_mul_async.vmfb"))
          .value();
  auto context = takt::Context::Create(instance_, {module}, {device_}).value();
  auto mul = context.FindFunction("mul").value();
  EXPECT_TRUE(mul.signature().is_async());
  const float values[4] = {1, 2, 3, 4};
  auto view = takt::BufferView::Copy<float>(device_, {4}, values).value();
  const std::array<takt::Value, 2> arguments = {view, view};
  std::array<takt::Value, 1> results;
  for (int i = 0; i < 3; ++i) {
    const takt::Status status = mul.Invoke(arguments, results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(results[0].view().Format(), "4xf32=1 4 9 16");
  }
}

TEST_F(TaktHppTest, ErrorsCarryCodeMessageAndSource) {
  auto module = takt::Module::Load(instance_, "/nonexistent.vmfb");
  ASSERT_FALSE(module.ok());
  EXPECT_FALSE(module);
  EXPECT_EQ(module.status().code(), TAKT_STATUS_NOT_FOUND);
  EXPECT_EQ(module.status().source(), "takt_module_load_file");
  EXPECT_NE(module.status().ToString().find("NOT_FOUND: /nonexistent.vmfb"),
            std::string::npos);
  const takt::Status copy = module.status();
  EXPECT_EQ(copy.message(), module.status().message());
  EXPECT_EQ(takt::Status().ToString(), "OK");
}

TEST_F(TaktHppTest, ValueOfAnErrorPrintsItAndAborts) {
  EXPECT_DEATH(takt::Device::Create(instance_, "toaster").value(),
               "NOT_FOUND: no device \"toaster\"");
}

TEST_F(TaktHppTest, CopiesShareAndMovesLeaveNothing) {
  auto buffer = takt::Buffer::Allocate(device_, 64).value();
  takt::Buffer copy = buffer;
  EXPECT_EQ(copy.get(), buffer.get());
  takt::Buffer moved = std::move(copy);
  EXPECT_FALSE(copy);  // NOLINT(bugprone-use-after-move): it is the point.
  copy = moved;
  EXPECT_EQ(copy.get(), buffer.get());
  copy = takt::Buffer();
  EXPECT_EQ(moved.byte_length(), 64u);
}

TEST_F(TaktHppTest, BuffersMapAndWrap) {
  auto buffer = takt::Buffer::Allocate(device_, 16).value();
  {
    auto mapping = buffer.Map().value();
    for (int32_t& element : mapping.as<int32_t>()) element = 7;
  }
  auto part = buffer.Subspan(8).value();
  EXPECT_EQ(part.byte_length(), 8u);
  const int64_t shape[1] = {2};
  auto view = takt::BufferView::Create(part, TAKT_ELEMENT_I32, shape).value();
  EXPECT_EQ(view.Format(), "2xi32=7 7");
  EXPECT_EQ(view.buffer().get(), part.get());
  EXPECT_EQ(view.shape()[0], 2);
  EXPECT_FALSE(view.ToVector<int64_t>().ok());
  EXPECT_FALSE(buffer.Map(TAKT_ACCESS_READ, 17).ok());

  alignas(64) uint8_t memory[64] = {};
  auto wrapped = takt::Buffer::Wrap(device_, memory).value();
  const uint8_t bytes[2] = {1, 2};
  ASSERT_TRUE(wrapped.Write(1, bytes).ok());
  EXPECT_EQ(memory[2], 2);
  EXPECT_FALSE(
      takt::Buffer::Wrap(device_, std::span<uint8_t>(memory).subspan(1)).ok());
}

TEST_F(TaktHppTest, ValuesListsAndBytes) {
  auto list = takt::List::Create().value();
  ASSERT_TRUE(list.Append(int32_t{1}).ok());
  ASSERT_TRUE(list.Append(2.5).ok());
  const uint8_t text[3] = {'a', 'b', 'c'};
  ASSERT_TRUE(list.Append(takt::ByteBuffer::Copy(text).value()).ok());
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list.Get(0)->i32(), 1);
  EXPECT_EQ(list.Get(1)->f64(), 2.5);
  EXPECT_EQ(list.Get(2)->bytes().bytes().size(), 3u);
  EXPECT_FALSE(list.Get(2)->view());
  EXPECT_FALSE(list.Get(3).ok());
  const takt::Value value = list;
  EXPECT_EQ(value.kind(), TAKT_VALUE_REF);
  EXPECT_EQ(value.list().get(), list.get());
  takt::Value copy = value;
  copy = takt::Value(int64_t{5});
  EXPECT_EQ(copy.i64(), 5);
}

TEST_F(TaktHppTest, ElementsAreReadAsTheirTypeOnly) {
  const float floats[2] = {1, 2};
  auto view = takt::BufferView::Copy<float>(device_, {2}, floats).value();
  const auto wrong = view.ToVector<int32_t>();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(wrong.status().message(), "element type: expected i32, got f32");
  EXPECT_EQ(view.ToVector<double>().status().message(),
            "element type: expected f64, got f32");
  float one[1];
  EXPECT_EQ(view.Read(std::span<float>(one)).code(),
            TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(view.ToVector<std::byte>().value().size(), 8u);

  // Integers of any sign, and what claims no type.
  const int64_t shape[1] = {2};
  const int32_t words[2] = {-1, 2};
  for (const takt_element_type_t type :
       {TAKT_ELEMENT_I32, TAKT_ELEMENT_SI32, TAKT_ELEMENT_UI32,
        TAKT_ELEMENT_OPAQUE_32}) {
    auto integers =
        takt::BufferView::Copy(device_, type, shape, words, 8).value();
    EXPECT_EQ(integers.ToVector<int32_t>().value()[0], -1);
    EXPECT_EQ(integers.ToVector<uint32_t>().value()[0], 0xffffffffu);
    EXPECT_EQ(integers.ToVector<float>().ok(), type == TAKT_ELEMENT_OPAQUE_32);
    EXPECT_FALSE(integers.ToVector<int64_t>().ok());
  }
  auto halves =
      takt::BufferView::Copy(device_, TAKT_ELEMENT_F16, shape, words, 4)
          .value();
  EXPECT_EQ(halves.ToVector<uint16_t>().status().message(),
            "element type: expected i16, got f16");
  EXPECT_EQ(halves.ToVector<std::byte>().value().size(), 4u);
}

template <typename T>
void ExpectRefused(const T& outcome, const char* name) {
  const takt::Status* status;
  if constexpr (std::is_same_v<T, takt::Status>) {
    status = &outcome;
  } else {
    status = &outcome.status();
  }
  EXPECT_EQ(status->code(), TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(status->message(), std::string(name) + " is NULL");
}

TEST_F(TaktHppTest, EmptyObjectsGiveErrorsAndNothing) {
  const int64_t shape[1] = {1};
  const takt::Function function;
  ExpectRefused(function.Invoke(), "function");
  ExpectRefused(function.Invoke(int32_t{1}), "function");
  ExpectRefused(takt::AsyncInvoke(function, {}), "function");
  EXPECT_EQ(function.name(), "");
  EXPECT_EQ(function.signature().argument_count(), 0u);
  EXPECT_FALSE(function.signature().argument(0).is_tensor);
  EXPECT_EQ(function.signature().declaration(), "");
  EXPECT_EQ(function.attribute("takt.priority"), std::nullopt);

  const takt::Invocation invocation;
  ExpectRefused(invocation.Query(), "invocation");
  ExpectRefused(invocation.Get(), "invocation");
  ExpectRefused(invocation.TakeResults(), "invocation");
  ExpectRefused(invocation.fence(), "invocation");
  EXPECT_EQ(invocation.state(), TAKT_INVOCATION_DONE);
  invocation.Cancel();

  const takt::BufferView view;
  ExpectRefused(view.ToVector<float>(), "view");
  EXPECT_EQ(view.shape().size(), 0u);
  EXPECT_EQ(view.element_count(), 0u);
  EXPECT_FALSE(view.buffer());
  EXPECT_EQ(view.Format(), "INVALID_ARGUMENT: view is NULL");

  const takt::Buffer buffer;
  ExpectRefused(buffer.Map(), "buffer");
  ExpectRefused(buffer.Subspan(0), "buffer");
  EXPECT_EQ(buffer.byte_length(), 0u);
  ExpectRefused(takt::BufferView::Create(buffer, TAKT_ELEMENT_F32, shape),
                "buffer");

  const takt::Device device;
  ExpectRefused(takt::Buffer::Allocate(device, 4), "device");
  EXPECT_EQ(device.name(), "");
  EXPECT_EQ(device.QueryI64("hal.device.id", "local*"), std::nullopt);
  EXPECT_EQ(device.statistics().struct_size, sizeof(takt_device_statistics_t));
  device.Trim();

  const takt::Module module;
  ExpectRefused(takt::Context::Create(instance_, {module}),
                "options: modules[0]");
  EXPECT_EQ(module.export_name(0), "");
  EXPECT_EQ(module.content_hash(), 0u);
  const takt::Context context;
  ExpectRefused(context.FindFunction("mul"), "context");
  const takt::Instance instance;
  ExpectRefused(takt::Device::Create(instance, "local-sync"), "instance");
  EXPECT_EQ(instance.worker_count(), 0u);
  const takt::List list;
  ExpectRefused(list.Get(0), "list");
  EXPECT_EQ(list.size(), 0u);

  const takt::Stream stream;
  ExpectRefused(stream.Start(0), "stream");
  ExpectRefused(stream.SetInput({int32_t{1}}), "stream");
  ExpectRefused(stream.MapInput<float>(0), "stream");
  ExpectRefused(stream.WaitIdle(), "stream");
  EXPECT_FALSE(stream.TakeOutput(1));
  EXPECT_EQ(stream.statistics().released_count, 0u);
  stream.Stop();
  ExpectRefused(takt::Stream::Create(function, {}), "function");
}

TEST_F(TaktHppTest, TheViewOfAScalarIsEmpty) {
  const takt::Value scalar = 1.5f;
  EXPECT_FALSE(scalar.view());
  ExpectRefused(scalar.view().ToVector<float>(), "view");
  EXPECT_FALSE(scalar.buffer());
  EXPECT_EQ(scalar.list().size(), 0u);
  EXPECT_EQ(scalar.bytes().bytes().size(), 0u);
}

TEST(InstanceTest, RunsWhatIsReadyAndSaysWhatItLacks) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.host_loop = true;
  const takt::Instance instance = takt::Instance::Create(&options).value();
  const auto ran = instance.RunReady(1000);
  ASSERT_TRUE(ran.ok()) << ran.status().ToString();
  EXPECT_EQ(ran->count, 0u);
  EXPECT_EQ(ran->next_ns, TAKT_INFINITE_FUTURE);
  EXPECT_FALSE(instance.RunReady(-1).ok());
  EXPECT_EQ(instance.statistics().wanted_worker_count, 0u);
  EXPECT_FALSE(instance.statistics().may_be_throttled);
}

TEST(ElementTypeOfTest, IsWhatCompiledModulesUse) {
  EXPECT_EQ(takt::ElementTypeOf<float>(), uint32_t{TAKT_ELEMENT_F32});
  EXPECT_EQ(takt::ElementTypeOf<double>(), uint32_t{TAKT_ELEMENT_F64});
  EXPECT_EQ(takt::ElementTypeOf<bool>(), uint32_t{TAKT_ELEMENT_BOOL});
  EXPECT_EQ(takt::ElementTypeOf<int8_t>(), uint32_t{TAKT_ELEMENT_I8});
  EXPECT_EQ(takt::ElementTypeOf<const uint8_t>(), uint32_t{TAKT_ELEMENT_I8});
  EXPECT_EQ(takt::ElementTypeOf<int64_t>(), uint32_t{TAKT_ELEMENT_I64});
  EXPECT_EQ(takt::ElementTypeOf<std::complex<float>>(),
            uint32_t{TAKT_ELEMENT_CF64});
}

TEST_F(TaktHppTest, DevicesRunOnTheExecutorThatTheyAreGiven) {
  takt::Instance instance = takt::Instance::Create().value();
  takt_executor_options_t options;
  takt_executor_options_init(&options);
  options.worker_count = 1;
  takt::Executor executor = takt::Executor::Create(instance, &options).value();
  EXPECT_EQ(executor.statistics().worker_count, 1u);
  takt_device_options_t device_options;
  takt_device_options_init(&device_options);
  device_options.executor = executor.get();
  EXPECT_TRUE(
      takt::Device::Create(instance, "local-task", device_options).ok());
  EXPECT_FALSE(
      takt::Device::Create(instance, "local-sync", device_options).ok());
  options.worker_count = 0;
  EXPECT_FALSE(takt::Executor::Create(instance, &options).ok());
}

}  // namespace
