// Limits, futures, names and memory of results, from C++.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "takt/takt.hpp"
#include "tests/api/test_data.h"

namespace {

class CallsHppTest : public ::testing::Test {
 protected:
  takt::Context Load(const std::string& path) {
    auto module = takt::Module::Load(instance_, TestData(path)).value();
    return takt::Context::Create(instance_, {module}, {device_}).value();
  }
  takt::BufferView Floats(const std::vector<int64_t>& shape,
                          const std::vector<float>& values) {
    return takt::BufferView::Copy<float>(device_, shape, values).value();
  }

  takt::Instance instance_ = takt::Instance::Create().value();
  takt::Device device_ = takt::Device::Create(instance_, "local-task").value();
};

TEST_F(CallsHppTest, ResultsBecomeArgumentsWithoutAWait) {
  auto context = Load("async/dag.cpu.vmfb");
  const auto storage = [&] { return Floats({4}, {0, 0, 0, 0}); };
  auto begin = takt::Fence::Create().value();
  auto fn0 = context.FindFunction("fn0").value();
  auto fn1 = context.FindFunction("fn1").value();
  auto u = takt::AsyncInvoke(fn0, {Floats({4}, {1, 2, 3, 4}), storage()},
                             {.wait = begin})
               .value();
  auto v = takt::AsyncInvoke(fn1, {takt::Value(), storage()},
                             {.future_arguments = {{0, u}}})
               .value();
  auto w = takt::AsyncInvoke(fn1, {takt::Value(), storage()},
                             {.future_arguments = {{0, v, 0}}})
               .value();
  EXPECT_TRUE(begin.Signal().ok());
  EXPECT_EQ(w.Get().value()[0].view().Format(), "4xf32=4 6 8 10");
  EXPECT_EQ(v.Get().value()[0].view().Format(), "4xf32=3 5 7 9");
}

TEST_F(CallsHppTest, ALimitFailsTheCall) {
  auto context = Load("async/dag.cpu.vmfb");
  auto fn0 = context.FindFunction("fn0").value();
  auto never = takt::Fence::Create().value();
  auto view = Floats({4}, {1, 2, 3, 4});
  auto call = takt::AsyncInvoke(fn0, {view, view},
                                {.wait = never, .timeout_ns = 1000000})
                  .value();
  const takt::Status status = call.Wait();
  EXPECT_EQ(status.code(), TAKT_STATUS_DEADLINE_EXCEEDED);
  EXPECT_EQ(status.message(), std::string("dag.fn0: not done within 1 ms"));
}

TEST_F(CallsHppTest, ArgumentsByName) {
  auto policy = Load("onnx/policy.cpu.vmfb").FindFunction("policy").value();
  auto declared = policy
                      .Declare(
                          "(%joints: tensor<1x4xf32>) -> "
                          "(%torque: tensor<1x3xf32>, %mean: tensor<1x1xf32>)")
                      .value();
  EXPECT_EQ(declared.FindInput("joints").value(), 0u);
  EXPECT_EQ(declared.FindOutput("mean").value(), 1u);
  EXPECT_EQ(declared.FindOutput("x").status().code(), TAKT_STATUS_NOT_FOUND);
  auto view = Floats({1, 4}, {1, 2, 3, 4});
  auto arguments = declared.NamedArguments({{"joints", view}}).value();
  std::vector<takt::Value> results(2);
  ASSERT_TRUE(declared.Invoke(arguments, results).ok());
  EXPECT_EQ(results[1].view().Format(), "1x1xf32=[5]");
  EXPECT_EQ(declared.NamedArguments({{"hips", view}}).status().code(),
            TAKT_STATUS_NOT_FOUND);
  EXPECT_EQ(declared.NamedArguments({}).status().code(),
            TAKT_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(policy.Declare("()").status().code(), TAKT_STATUS_INVALID_ARGUMENT);
}

TEST_F(CallsHppTest, ResultsInMemoryOfTheCaller) {
  auto mul = Load("api/simple_mul.vmfb").FindFunction("mul").value();
  auto view = Floats({4}, {1, 2, 3, 4});
  auto out = Floats({4}, {0, 0, 0, 0});
  for (int i = 0; i < 3; ++i) {
    auto call =
        takt::AsyncInvoke(mul, {view, view}, {.result_buffers = {{0, out}}})
            .value();
    EXPECT_EQ(call.Get().value()[0].view().get(), out.get());
    EXPECT_EQ(out.Format(), "4xf32=1 4 9 16");
  }
  EXPECT_EQ(mul.binding_statistics().copied_count, 1u);
  EXPECT_EQ(mul.binding_statistics().in_place_count, 2u);
}

}  // namespace
