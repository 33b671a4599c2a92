#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "takt/takt.hpp"

namespace {

std::string TestData(const std::string& name) {
  return std::string(TAKT_TESTDATA_DIR) + "/" + name;
}

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
