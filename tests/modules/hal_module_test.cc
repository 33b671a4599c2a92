// The module as a whole: what it exports is what the compiler's table of
// imports says, letter for letter.
#include "modules/hal_module.h"

#include <map>

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

// From the description of the ABI.
const std::multimap<std::string, std::string>& Conventions() {
  static const auto& table = *new std::multimap<std::string, std::string>{
      {"allocator.allocate", "0rIiiI_r"},
      {"allocator.import", "0riIiirII_r"},
      {"allocator.select", "0iiICrID_rI"},
      {"buffer.assert", "0rrrIii_v"},
      {"buffer.load", "0rIi_i"},
      {"buffer.store", "0irIi_v"},
      {"buffer.length", "0r_I"},
      {"buffer.subspan", "0rII_r"},
      {"buffer.allocation.preserve", "0r_v"},
      {"buffer.allocation.discard", "0r_i"},
      {"buffer.allocation.is_terminal", "0r_i"},
      {"buffer_view.create", "0rIIiiCID_r"},
      {"buffer_view.assert", "0rriiCID_v"},
      {"buffer_view.buffer", "0r_r"},
      {"buffer_view.dim", "0ri_I"},
      {"buffer_view.rank", "0r_i"},
      {"buffer_view.element_type", "0r_i"},
      {"buffer_view.encoding_type", "0r_i"},
      {"buffer_view.trace", "0rCrD_v"},
      {"channel.create", "0rIIrrii_r"},
      {"channel.split", "0riiI_r"},
      {"channel.rank_and_count", "0r_ii"},
      {"command_buffer.collective", "0rriiiirrIIIII_v"},
      {"command_buffer.create", "0riiIi_r"},
      {"command_buffer.finalize", "0r_v"},
      {"command_buffer.execution_barrier", "0riiI_v"},
      {"command_buffer.fill_buffer", "0rrIIiIiI_v"},
      {"command_buffer.copy_buffer", "0riirIrIII_v"},
      {"command_buffer.update_buffer", "0rrIrIIiI_v"},
      {"command_buffer.dispatch", "0rrIiiiICiDCiirIID_v"},
      {"command_buffer.dispatch", "0rriiiiICiDCiirIID_v"},  // To 3.11.
      {"command_buffer.dispatch.indirect", "0rrIirIICiDCiirIID_v"},
      {"command_buffer.dispatch.indirect", "0rriirIICiDCiirIID_v"},
      {"command_buffer.flush_buffer", "0rirII_v"},
      {"command_buffer.invalidate_buffer", "0rirII_v"},
      {"command_buffer.advise_buffer", "0rrIIIi_v"},
      {"command_buffer.begin_debug_group", "0rr_v"},
      {"command_buffer.end_debug_group", "0r_v"},
      {"devices.count", "0v_i"},
      {"devices.get", "0i_r"},
      {"device.allocator", "0r_r"},
      {"device.query.i64", "0rrr_iI"},
      {"device.queue.alloca", "0rIrrIiiII_r"},
      {"device.queue.dealloca", "0rIrrrI_v"},
      {"device.queue.fill", "0rIrrrIIIiI_v"},
      {"device.queue.update", "0rIrrrIrIII_v"},
      {"device.queue.copy", "0rIrrrIrIII_v"},
      {"device.queue.read", "0rIrrrIrIII_v"},
      {"device.queue.write", "0rIrrrIrIII_v"},
      {"device.queue.barrier", "0rIrrI_v"},
      {"device.queue.execute", "0rIrrrI_v"},
      {"device.queue.execute.indirect", "0rIrrrICrIID_v"},
      {"device.queue.flush", "0rI_v"},
      {"ex.file.from_memory", "0rIirIIi_r"},
      {"executable.create", "0rIrrr_r"},
      {"executable.lookup.function", "0rr_I"},
      {"fence.create", "0rI_r"},
      {"fence.join", "0ICrD_r"},
      {"fence.query", "0r_i"},
      {"fence.signal", "0r_v"},
      {"fence.fail", "0ri_v"},
      {"fence.await", "0iICrD_i"},
  };
  return table;
}

TEST(HalModuleTest, ExportsEveryImportWithItsConvention) {
  HalCalls calls;
  auto module = CreateHalModule(calls.types, calls.options);
  TAKT_ASSERT_OK(module);
  EXPECT_EQ((*module)->name(), "hal");
  EXPECT_EQ((*module)->version(), 7u);
  std::multimap<std::string, std::string> exported;
  for (const vm::ExportInfo& info : (*module)->exports()) {
    exported.emplace(info.name, info.convention.text);
  }
  EXPECT_EQ(exported, Conventions());
}

// The result of a lookup by name alone, for the host's own calls.
TEST(HalModuleTest, TheFormOfTheNewestCompilerIsFirst) {
  HalCalls calls;
  auto module = CreateHalModule(calls.types, calls.options);
  TAKT_ASSERT_OK(module);
  const auto dispatch = (*module)->FindExport("command_buffer.dispatch");
  ASSERT_TRUE(dispatch.has_value());
  EXPECT_EQ((*module)->exports()[*dispatch].convention.text,
            "0rrIiiiICiDCiirIID_v");
}

TEST(HalModuleTest, RegistersEveryRefType) {
  vm::TypeRegistry registry;
  TAKT_ASSERT_OK(RegisterHalTypes(registry));
  TAKT_ASSERT_OK(RegisterHalTypes(registry));  // Again is fine.
  for (const char* name :
       {"hal.allocator", "hal.buffer", "hal.buffer_view", "hal.channel",
        "hal.command_buffer", "hal.device", "hal.event", "hal.executable",
        "hal.fence", "hal.file", "hal.semaphore"}) {
    ASSERT_NE(registry.Find(name), nullptr) << name;
    EXPECT_STREQ(registry.Find(name)->name, name);
  }
}

TEST(HalModuleTest, RejectsANullDevice) {
  HalCalls calls;
  calls.options.devices.push_back(nullptr);
  EXPECT_THAT(CreateHalModule(calls.types, calls.options),
              FailsWith(kInvalid, "device 1 is null"));
}

TEST(HalModuleTest, WorksWithoutDevices) {
  HalCalls calls;
  calls.options.devices.clear();
  TAKT_ASSERT_OK(calls.Link("hal_device"));
  EXPECT_EQ(*calls.CallI32("hal.devices.count"), 0);
}

// The compiler's code for a function is linked and run, initializer and
// all: the fixture's results are worked out by hand.
TEST(HalModuleTest, RunsACompiledModule) {
  HalCalls calls;
  TAKT_ASSERT_OK(calls.Link("../api/simple_mul"));
  auto view = [&](std::vector<float> values) {
    return *hal::BufferView::Create(
        calls.BufferOfValues(values),
        hal::MakeElementType(hal::NumericalKind::kFloatIeee, 32),
        hal::EncodingType::kDenseRowMajor, {4});
  };
  auto result = calls.CallRef<hal::BufferView>("mul", view({1, 2, 3, 4}),
                                               view({2, 4, 6, 8}));
  TAKT_ASSERT_OK(result);
  EXPECT_EQ(*hal::FormatBufferView(**result, 10), "4xf32=2 8 18 32");
  EXPECT_THAT(calls.Call("mul", view({1, 2, 3, 4}), nullptr),
              FailsWith(kInvalid, "hal.buffer_view"));
}

}  // namespace
}  // namespace takt::modules
