// Calls that find no memory; tests/api makes all others.
#include "runtime/call.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "gtest/gtest.h"
#include "runtime/context.h"
#include "runtime/instance.h"
#include "tests/support/allocation_faults.h"
#include "vm/native_module.h"

namespace takt::runtime {
namespace {

size_t CountOf(const Recording& recording, EventKind kind) {
  return static_cast<size_t>(
      std::count_if(recording.events.begin(), recording.events.end(),
                    [&](const Event& event) { return event.kind == kind; }));
}

// A call without an end would stay open in the trace.
TEST(CallTest, WithoutMemoryTheTraceHasTheCallWithItsEndOrNotAtAll) {
  vm::NativeModule::Builder builder("test", 1);
  builder.ExportRaw(
      "f", "0v_v", [](void*, vm::NativeCall&) { return absl::OkStatus(); },
      nullptr);
  const Ref<vm::NativeModule> module = std::move(builder).Build().value();
  InstanceOptions instance_options;
  instance_options.host_loop = true;  // Makes no threads.
  const Ref<Instance> instance =
      Instance::Create(std::move(instance_options)).value();
  ContextOptions context_options;
  context_options.modules = {module.get()};
  const Ref<Context> context =
      Context::Create(instance.get(), context_options).value();
  const Ref<Function> function =
      Function::Find(context.get(), "test.f").value();
  CallOptions options;
  options.step_limit = 1000;
  // The pool of blocks makes several at once. Rounds that hold other numbers of
  // its blocks reach each allocation of the call without a free block.
  constexpr int64_t kRoundCount = 64, kAllocationsMax = 8;
  std::vector<Ref<Cancellation>> held;
  for (int64_t round = 0; round < kRoundCount; ++round) {
    for (int i = 0; i < 5; ++i) {
      held.push_back(Cancellation::Create(instance->blocks(),
                                          Cancellation::Scope::kKernels, 0));
    }
    ASSERT_TRUE(instance->tracer()->Start({}).ok());
    try {
      const AllocationFault fault(round % kAllocationsMax);
      CallAndWait(*function, options, {}, {}).IgnoreError();
    } catch (const std::bad_alloc&) {
    }
    const Recording recording = instance->tracer()->Collect();
    const size_t begin_count = CountOf(recording, EventKind::kInvocationBegin);
    EXPECT_EQ(CountOf(recording, EventKind::kInvocationEnd), begin_count)
        << "round " << round;
    EXPECT_TRUE(AllocationFault::is_hit() || begin_count == 1);
    instance->tracer()->Stop();
  }
}

}  // namespace
}  // namespace takt::runtime
