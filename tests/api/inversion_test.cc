// The classic inversion of three jobs, with calls: a low call holds what a high
// one waits for, and middle calls keep the worker busy. Counts and order, no
// times: the one worker is held until all calls are queued.
#include <deque>
#include <semaphore>
#include <string>
#include <vector>

#include "api/handle.h"
#include "base/borrower.h"
#include "gtest/gtest.h"
#include "runtime/instance.h"
#include "takt/async.h"
#include "takt/buffer_view.h"
#include "takt/context.h"
#include "takt/device.h"
#include "takt/function.h"
#include "takt/module.h"
#include "takt/scheduler.h"

namespace takt::api {
namespace {

// Keeps a worker until it is let go.
class Gate final : public exec::Job {
 public:
  Gate() { lane = exec::kLaneCount - 1; }
  uint32_t RunTiles(uint32_t, uint32_t end, exec::Worker&) override {
    is_entered.release();
    may_leave.acquire();
    return end;
  }
  void Finish(exec::Worker&) override { is_left.release(); }

  std::binary_semaphore is_entered{0}, may_leave{0}, is_left{0};
};

void Check(takt_status_t status) {
  ASSERT_EQ(status, nullptr) << takt_status_message(status);
}

class InversionTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    takt_scheduler_options_t scheduler;
    takt_scheduler_options_init(&scheduler);
    scheduler.policy = GetParam();
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_count = 1;
    options.scheduler = &scheduler;
    Check(takt_instance_create(&options, &instance_));
    takt_device_options_t device_options;
    takt_device_options_init(&device_options);
    Check(
        takt_device_create(instance_, "local-task", &device_options, &device_));
    Check(takt_module_load_file(instance_,
                                TAKT_TESTDATA_DIR "/api/simple_mul.vmfb",
                                nullptr, &module_));
    const float values[4] = {1, 2, 3, 4};
    const int64_t shape[1] = {4};
    Check(takt_buffer_view_copy_from_host(device_, TAKT_ELEMENT_F32, 1, shape,
                                          values, sizeof(values), &view_));
    executor_ = Unwrap(instance_)->FindExecutor();
    executor_->Submit(&gate_);
    gate_.is_entered.acquire();
  }
  void TearDown() override {
    for (takt_fence_t* fence : fences_) takt_fence_release(fence);
    takt_buffer_view_release(view_);
    takt_module_release(module_);
    takt_device_release(device_);
    executor_.reset();
    takt_instance_release(instance_);
  }

  takt_fence_t* MakeFence() {
    fences_.push_back(nullptr);
    Check(takt_fence_create(&fences_.back()));
    return fences_.back();
  }

  // In a context of its own.
  takt_function_t* FindFunction() {
    takt_context_options_t options;
    takt_context_options_init(&options);
    options.module_count = 1;
    options.modules = &module_;
    options.device_count = 1;
    options.devices = &device_;
    takt_context_t* context = nullptr;
    takt_function_t* function = nullptr;
    Check(takt_context_create(instance_, &options, &context));
    Check(takt_context_find_function(context, "mul", &function));
    takt_context_release(context);
    return function;
  }

  // Each call has a context of its own, so none waits for another's turn.
  void Call(std::string name, int32_t priority, takt_fence_t* wait,
            takt_fence_t* signal) {
    takt_function_t* const function = FindFunction();
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.priority = priority;
    ends_.push_back({this, std::move(name)});
    ++call_count_;
    options.user_data = &ends_.back();
    options.on_done = [](void* user_data, takt_invocation_t*,
                         takt_status_t status) {
      auto* const end = static_cast<End*>(user_data);
      EXPECT_EQ(takt_status_code(status), TAKT_STATUS_OK);
      end->test->order_.push_back(end->name);
      end->test->ended_.release();
    };
    const takt_value_t arguments[2] = {takt_value_ref(view_),
                                       takt_value_ref(view_)};
    Check(takt_async_invoke(function, &options, 2, arguments, wait, signal,
                            nullptr));
    takt_function_release(function);
  }

  // The order in which the calls end; the worker alone ends them.
  std::vector<std::string> LetGo() {
    gate_.may_leave.release();
    for (int i = 0; i < call_count_; ++i) ended_.acquire();
    gate_.is_left.acquire();
    return order_;
  }

  struct End {
    InversionTest* test;
    std::string name;
  };
  takt_instance_t* instance_ = nullptr;
  takt_device_t* device_ = nullptr;
  takt_module_t* module_ = nullptr;
  takt_buffer_view_t* view_ = nullptr;
  Ref<exec::Executor> executor_;
  Gate gate_;
  std::vector<takt_fence_t*> fences_;
  std::deque<End> ends_;
  int call_count_ = 0;
  std::vector<std::string> order_;
  std::counting_semaphore<64> ended_{0};
};

using Names = std::vector<std::string>;

TEST_P(InversionTest, TheLowCallGoesFirstWhileTheHighOneWaitsForIt) {
  takt_fence_t* const held = MakeFence();
  Call("low", 0, nullptr, held);
  for (int i = 0; i < 4; ++i) Call("middle", 128, nullptr, nullptr);
  Call("high", 255, held, nullptr);
  EXPECT_EQ(LetGo(),
            (Names{"low", "high", "middle", "middle", "middle", "middle"}));
  EXPECT_FALSE(Borrower::AnyHasLoan());
}

TEST_P(InversionTest, WithoutAHighCallTheLowOneGoesLast) {
  Call("low", 0, nullptr, MakeFence());
  for (int i = 0; i < 2; ++i) Call("middle", 128, nullptr, nullptr);
  EXPECT_EQ(LetGo(), (Names{"middle", "middle", "low"}));
}

TEST_P(InversionTest, ALoanPassesThroughAChainOfFences) {
  takt_fence_t* const first = MakeFence();
  takt_fence_t* const second = MakeFence();
  Call("low", 0, nullptr, first);
  Call("next", 32, first, second);
  for (int i = 0; i < 2; ++i) Call("middle", 128, nullptr, nullptr);
  Call("high", 255, second, nullptr);
  EXPECT_EQ(LetGo(), (Names{"low", "next", "high", "middle", "middle"}));
}

TEST_P(InversionTest, AWaitThatIsOverTakesTheLoanBack) {
  takt_fence_t* const held = MakeFence();
  takt_fence_t* const gone = MakeFence();
  Call("low", 0, nullptr, held);
  for (int i = 0; i < 2; ++i) Call("middle", 128, nullptr, nullptr);
  // The urgent call waits for both, and one fails.
  takt_fence_t* const both_of[2] = {held, gone};
  takt_fence_t* both = nullptr;
  Check(takt_fence_join(2, both_of, &both));
  takt_function_t* const function = FindFunction();
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.priority = 255;
  const takt_value_t arguments[2] = {takt_value_ref(view_),
                                     takt_value_ref(view_)};
  takt_invocation_t* high = nullptr;
  Check(takt_async_invoke(function, &options, 2, arguments, both, nullptr,
                          &high));
  EXPECT_TRUE(Borrower::AnyHasLoan());
  takt_fence_fail(gone, takt_status_create(TAKT_STATUS_ABORTED, "gone"));
  EXPECT_FALSE(Borrower::AnyHasLoan());
  EXPECT_EQ(LetGo(), (Names{"middle", "middle", "low"}));
  takt_invocation_release(high);
  takt_function_release(function);
  takt_fence_release(both);
}

INSTANTIATE_TEST_SUITE_P(Policies, InversionTest,
                         testing::Values("off", "job-shop"),
                         [](const auto& test) {
                           return std::string(test.param) == "off" ? "Lanes"
                                                                   : "JobShop";
                         });

}  // namespace
}  // namespace takt::api
