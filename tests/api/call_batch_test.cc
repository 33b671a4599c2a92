#include "runtime/call_batch.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "api/handle.h"
#include "gtest/gtest.h"
#include "hal/buffer_view.h"
#include "takt/takt.hpp"

namespace takt::api {
namespace {

const char* const kVariants[] = {"cpu", "cpu.async", "vmvx", "vmvx.async"};

// What shows that calls have run as one: slices of one result are ranges of
// one storage, where they are aligned.
const void* StorageOf(const takt::Value& value) {
  return Unwrap(takt_value_as_buffer_view(&value.get()))->buffer()->storage();
}

class CallBatchTest : public testing::TestWithParam<const char*> {
 protected:
  takt::Function Find(const char* name) {
    auto module = takt::Module::Load(instance_, std::string(TAKT_TESTDATA_DIR) +
                                                    "/async/batch." +
                                                    GetParam() + ".vmfb")
                      .value();
    return takt::Context::Create(instance_, {module}, {device_})
        .value()
        .FindFunction(name)
        .value();
  }
  // rows x 4, with `first` and what follows it.
  takt::BufferView Rows(int64_t rows, float first) {
    std::vector<float> values(static_cast<size_t>(rows) * 4);
    for (float& value : values) value = first++;
    return takt::BufferView::Copy<float>(device_, {rows, 4},
                                         std::span<const float>(values))
        .value();
  }
  // x times y and x plus y of Rows(rows, first) and Rows(rows, 1).
  void ExpectScaled(const std::vector<takt::Value>& results, int64_t rows,
                    float first) {
    ASSERT_EQ(results.size(), 2u);
    const auto products = results[0].view().ToVector<float>().value();
    const auto sums = results[1].view().ToVector<float>().value();
    ASSERT_EQ(products.size(), static_cast<size_t>(rows) * 4);
    EXPECT_EQ(results[0].view().shape()[0], rows);
    for (size_t i = 0; i < products.size(); ++i) {
      EXPECT_EQ(products[i], (first + i) * (1 + i));
      EXPECT_EQ(sums[i], first + i + 1 + i);
    }
  }

  takt::Instance instance_ = takt::Instance::Create().value();
  takt::Device device_ = takt::Device::Create(instance_, "local-task").value();
};

TEST_P(CallBatchTest, CallsReleasedTogetherRunAsOne) {
  const takt::Function scale = Find("scale");
  for (const bool batch : {true, false}) {
    auto wait = takt::Fence::Create().value();
    std::vector<takt::Invocation> calls;
    for (int i = 0; i < 8; ++i) {
      calls.push_back(takt::AsyncInvoke(scale, {Rows(4, 10.0f * i), Rows(4, 1)},
                                        {.wait = wait, .batch = batch})
                          .value());
    }
    ASSERT_TRUE(wait.Signal().ok());
    std::vector<std::vector<takt::Value>> results;
    for (int i = 0; i < 8; ++i) {
      results.push_back(calls[i].Get().value());
      ExpectScaled(results.back(), 4, 10.0f * i);
    }
    for (int i = 1; i < 8; ++i) {
      for (int r = 0; r < 2; ++r) {
        EXPECT_EQ(StorageOf(results[i][r]) == StorageOf(results[0][r]), batch);
      }
    }
  }
}

TEST_P(CallBatchTest, RowsMayBeOfAnyNumber) {
  const takt::Function scale = Find("scale");
  const int64_t rows[] = {1, 3, 4, 2, 1, 7};
  auto wait = takt::Fence::Create().value();
  std::vector<takt::Invocation> calls;
  for (int64_t count : rows) {
    calls.push_back(takt::AsyncInvoke(scale, {Rows(count, 5), Rows(count, 1)},
                                      {.wait = wait, .batch = true})
                        .value());
  }
  ASSERT_TRUE(wait.Signal().ok());
  for (size_t i = 0; i < calls.size(); ++i) {
    ExpectScaled(calls[i].Get().value(), rows[i], 5);
  }
}

TEST_P(CallBatchTest, EachHasItsOwnFenceAndCallback) {
  const takt::Function scale = Find("scale");
  auto wait = takt::Fence::Create().value();
  auto all = takt::Fence::CreateBarrier(3).value();
  std::atomic<int> told{0};
  for (int i = 0; i < 3; ++i) {
    takt::AsyncOptions options;
    options.wait = wait;
    options.signal = all;
    options.batch = true;
    options.on_done = [&](const takt::Invocation& call, takt::Status status) {
      EXPECT_TRUE(status.ok());
      ExpectScaled(call.TakeResults().value(), 2, 1);
      told.fetch_add(1);
    };
    takt::AsyncInvoke(scale, {Rows(2, 1), Rows(2, 1)}, options).value();
  }
  ASSERT_TRUE(wait.Signal().ok());
  EXPECT_TRUE(all.Wait(instance_).ok());
  EXPECT_EQ(told.load(), 3);
}

// Steps of several sequences, each waiting for the one before it.
TEST_P(CallBatchTest, ChainsThatMetStayTogether) {
  const takt::Function scale = Find("scale");
  constexpr int kSequences = 4, kSteps = 5;
  auto start = takt::Fence::Create().value();
  std::vector<takt::Fence> before(kSequences, start);
  std::vector<takt::Invocation> calls;
  for (int step = 0; step < kSteps; ++step) {
    for (takt::Fence& fence : before) {
      calls.push_back(takt::AsyncInvoke(scale,
                                        {Rows(4, 10.0f * step), Rows(4, 1)},
                                        {.wait = fence, .batch = true})
                          .value());
      fence = calls.back().fence().value();
    }
  }
  ASSERT_TRUE(start.Signal().ok());
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::vector<takt::Value>> results;
    for (int i = 0; i < kSequences; ++i) {
      results.push_back(calls[step * kSequences + i].Get().value());
      ExpectScaled(results.back(), 4, 10.0f * step);
      EXPECT_EQ(StorageOf(results.back()[0]), StorageOf(results[0][0])) << step;
    }
  }
}

// A recurrent cell: each step is issued with the result of the one before, by
// its callback. Sequences of different lengths share the steps that they have.
TEST_P(CallBatchTest, CellsOfRecurrentSequencesMeetAtEachStep) {
  struct Sequence {
    int steps_left;
    takt::Value state;
    std::vector<takt::Value> products;  // Of each step.
  };
  const takt::Function scale = Find("scale");
  auto start = takt::Fence::Create().value();
  auto all = takt::Fence::CreateBarrier(3).value();
  std::function<void(Sequence&, takt::AsyncOptions)> issue =
      [&](Sequence& sequence, takt::AsyncOptions options) {
        options.batch = true;
        options.on_done = [&](const takt::Invocation& call,
                              takt::Status status) {
          ASSERT_TRUE(status.ok());
          std::vector<takt::Value> results = call.TakeResults().value();
          sequence.products.push_back(results[0]);
          sequence.state = results[0];
          if (--sequence.steps_left > 0) {
            issue(sequence, {});
          } else {
            ASSERT_TRUE(all.Signal().ok());
          }
        };
        takt::AsyncInvoke(scale, {sequence.state, Rows(4, 1)}, options).value();
      };
  std::vector<Sequence> sequences;
  for (int steps : {2, 4, 3}) sequences.push_back({steps, Rows(4, 1), {}});
  for (Sequence& sequence : sequences) issue(sequence, {.wait = start});
  ASSERT_TRUE(start.Signal().ok());
  ASSERT_TRUE(all.Wait(instance_).ok());
  for (const Sequence& sequence : sequences) {
    const size_t steps = sequence.products.size();
    const auto values = sequence.state.view().ToVector<float>().value();
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], std::pow(1.0f + i, 1.0f + steps));
    }
    // Each has two steps, the longer ones a third.
    for (size_t step = 0; step < std::min<size_t>(steps, 3); ++step) {
      EXPECT_EQ(StorageOf(sequence.products[step]),
                StorageOf(sequences[1].products[step]))
          << step;
    }
  }
}

TEST_P(CallBatchTest, OneByOneTheyRunAlone) {
  const takt::Function scale = Find("scale");
  for (int i = 0; i < 3; ++i) {
    auto wait = takt::Fence::Create().value();
    auto call = takt::AsyncInvoke(scale, {Rows(4, 3), Rows(4, 1)},
                                  {.wait = wait, .batch = true})
                    .value();
    EXPECT_EQ(call.state(), TAKT_INVOCATION_WAITING);
    ASSERT_TRUE(wait.Signal().ok());
    ExpectScaled(call.Get().value(), 4, 3);
  }
  auto call =
      takt::AsyncInvoke(scale, {Rows(1, 3), Rows(1, 1)}, {.batch = true})
          .value();
  ExpectScaled(call.Get().value(), 1, 3);
}

TEST_P(CallBatchTest, CancelledCallsTakeNoPart) {
  const takt::Function scale = Find("scale");
  auto wait = takt::Fence::Create().value();
  std::vector<takt::Invocation> calls;
  for (int i = 0; i < 4; ++i) {
    calls.push_back(takt::AsyncInvoke(scale, {Rows(4, 2), Rows(4, 1)},
                                      {.wait = wait, .batch = true})
                        .value());
  }
  calls[1].Cancel();
  EXPECT_EQ(calls[1].Wait().code(), TAKT_STATUS_CANCELLED);
  ASSERT_TRUE(wait.Signal().ok());
  for (int i : {0, 2, 3}) ExpectScaled(calls[i].Get().value(), 4, 2);
}

TEST_P(CallBatchTest, AFailedWaitFenceFailsThemAll) {
  const takt::Function scale = Find("scale");
  auto wait = takt::Fence::Create().value();
  std::vector<takt::Invocation> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(takt::AsyncInvoke(scale, {Rows(1, 2), Rows(1, 1)},
                                      {.wait = wait, .batch = true})
                        .value());
  }
  wait.Fail(takt::Status(TAKT_STATUS_DATA_LOSS, "torn"));
  for (const takt::Invocation& call : calls) {
    EXPECT_EQ(call.Wait().code(), TAKT_STATUS_DATA_LOSS);
  }
}

TEST_P(CallBatchTest, FunctionsWithoutTheAttributeRunAlone) {
  const takt::Function plain = Find("plain");
  auto wait = takt::Fence::Create().value();
  std::vector<takt::Invocation> calls;
  for (int i = 0; i < 2; ++i) {
    calls.push_back(
        takt::AsyncInvoke(plain, {Rows(4, 1)}, {.wait = wait, .batch = true})
            .value());
  }
  ASSERT_TRUE(wait.Signal().ok());
  const auto first = calls[0].Get().value();
  const auto second = calls[1].Get().value();
  EXPECT_NE(StorageOf(first[0]), StorageOf(second[0]));
}

TEST_P(CallBatchTest, ContradictionsAreRefused) {
  const float values[4] = {1, 2, 3, 4};
  auto view = takt::BufferView::Copy<float>(device_, {4}, values).value();
  auto wide = takt::BufferView::Copy<float>(device_, {4, 1}, values).value();
  const auto fixed =
      takt::AsyncInvoke(Find("fixed"), {view}, {.batch = true}).status();
  EXPECT_EQ(fixed.code(), TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_NE(fixed.message().find("batch.fixed: cannot be batched: input 0"),
            std::string::npos)
      << fixed.message();
  const auto columns =
      takt::AsyncInvoke(Find("columns"), {wide}, {.batch = true}).status();
  EXPECT_EQ(columns.code(), TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT_NE(columns.message().find("takt.batch_dim: expected 0, got 1"),
            std::string::npos)
      << columns.message();
  // Who does not ask for it is not concerned.
  EXPECT_TRUE(takt::AsyncInvoke(Find("fixed"), {view}).ok());
}

INSTANTIATE_TEST_SUITE_P(Variants, CallBatchTest, testing::ValuesIn(kVariants),
                         [](const auto& variant) {
                           std::string name = variant.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace takt::api
