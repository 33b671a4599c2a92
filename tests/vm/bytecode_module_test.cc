#include "vm/bytecode_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/vm/vm_test_util.h"
#include "vm/instance.h"
#include "vm/module.h"

namespace takt::vm {
namespace {

using ::testing::HasSubstr;

ModuleBuilder Small() {
  ModuleBuilder builder("m");
  builder.version = 4;
  builder.global_bytes = 12;
  builder.global_refs = 2;
  builder.attributes = {{"key", "value"}};
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({});
  const uint32_t function = builder.AddFunction("0v_v", body, 0, 0);
  builder.functions[function].attributes = {{"iree.abi.declaration", "d"}};
  builder.Export("f", static_cast<int32_t>(function));
  builder.Export("same", static_cast<int32_t>(function));
  return builder;
}

TEST(BytecodeModuleTest, ListsTheContentsOfTheArchive) {
  auto module = TryLoad(Small());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->name(), "m");
  EXPECT_EQ((*module)->version(), 4u);
  EXPECT_EQ((*module)->kind(), Module::Kind::kBytecode);
  ASSERT_EQ((*module)->attributes().size(), 1u);
  EXPECT_EQ((*module)->FindExport("same"), 1u);
  EXPECT_FALSE((*module)->FindExport("g").has_value());
  const ExportInfo& info = (*module)->exports()[0];
  EXPECT_EQ(info.convention.text, "0v_v");
  ASSERT_NE(info.FindAttribute("iree.abi.declaration"), nullptr);
  EXPECT_EQ(*info.FindAttribute("iree.abi.declaration"), "d");
  EXPECT_EQ(info.FindAttribute("iree.abi"), nullptr);
}

TEST(BytecodeModuleTest, StatesStartAtZero) {
  auto module = TryLoad(Small());
  ASSERT_TRUE(module.ok());
  auto state = (*module)->CreateState();
  ASSERT_TRUE(state.ok());
  const auto& bytecode = static_cast<const BytecodeState&>(**state);
  for (int n = 0; n < 12; ++n) EXPECT_EQ(bytecode.instance().globals[n], 0);
  EXPECT_EQ(bytecode.instance().global_refs[1], nullptr);
  EXPECT_GE(bytecode.memory_bytes(), 28u);
}

TEST(BytecodeModuleTest, ErrorsNameTheFile) {
  TypeRegistry types;
  auto garbage = MakeRef<ModuleBytes>(std::vector<uint8_t>(100, 0x5a));
  const absl::Status status =
      BytecodeModule::Load(types, garbage->bytes(), garbage, "dir/x.vmfb")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("dir/x.vmfb: "));
  EXPECT_TRUE(garbage->IsUnique());
}

}  // namespace
}  // namespace takt::vm
