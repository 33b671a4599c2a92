// The context's use of its queue of calls; tests/api runs contexts.
#include "runtime/context.h"

#include <new>
#include <utility>

#include "gtest/gtest.h"
#include "runtime/instance.h"
#include "tests/support/allocation_faults.h"
#include "vm/native_module.h"

namespace takt::runtime {
namespace {

// Later calls would wait for a queue that a failed one has kept.
TEST(ContextTest, ANotificationWithoutMemoryLeavesTheQueue) {
  int count = 0;
  vm::NativeModule::Builder builder("test", 1);
  builder.ExportRaw(
      "__notify", "0i_v",
      [](void* self, vm::NativeCall&) {
        ++*static_cast<int*>(self);
        return absl::OkStatus();
      },
      &count);
  const Ref<vm::NativeModule> module = std::move(builder).Build().value();
  InstanceOptions instance_options;
  instance_options.host_loop = true;  // Makes no threads.
  const Ref<Instance> instance =
      Instance::Create(std::move(instance_options)).value();
  ContextOptions options;
  options.modules = {module.get()};
  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    const Ref<Context> context =
        Context::Create(instance.get(), options).value();
    try {
      const AllocationFault fault(first);
      context->Notify(vm::Signal::kResume).IgnoreError();
    } catch (const std::bad_alloc&) {
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_FALSE(context->call_queue().RunsHere()) << "allocation " << first;
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace takt::runtime
