#include "vm/bytecode_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/module_builder.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A module with one of everything.
ModuleBuilder SmallModule() {
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({0});
  ModuleBuilder module("small");
  module.version = 3;
  module.attributes = {{"a", "1"}};
  module.types = {"i32", "!vm.buffer"};
  module.dependencies = {{"hal", 7, 1}, {"extra", 0, 2}};
  module.AddImport("hal.device.count", "0v_i");
  module.AddImport("extra.trace", "0rCiIrD_v", /*optional=*/true);
  module.AddFunction("0i_i", body, 1, 0);
  module.functions[0].attributes = {{"iree.abi.model", "coarse-fences"}};
  module.Export("first", 0);
  module.Export("second", 0);
  module.AddRodata({1, 2, 3});
  module.AddRodata({4, 5}, /*external=*/true);
  module.AddRodata({6}, /*external=*/true);
  module.global_bytes = 24;
  module.global_refs = 2;
  return module;
}

TEST(BytecodeArchiveTest, ReadsEveryTable) {
  const std::vector<uint8_t> bytes = SmallModule().Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_EQ(archive->name, "small");
  EXPECT_EQ(archive->version, 3u);
  EXPECT_EQ(archive->bytecode_version, 0x00110000u);
  EXPECT_EQ(archive->requirements, 15u);
  ASSERT_EQ(archive->attributes.size(), 1u);
  EXPECT_EQ(archive->attributes[0].key, "a");
  EXPECT_EQ(archive->attributes[0].value, "1");
  EXPECT_THAT(archive->type_names, ElementsAre("i32", "!vm.buffer"));
  ASSERT_EQ(archive->dependencies.size(), 2u);
  EXPECT_EQ(archive->dependencies[0].module_name, "hal");
  EXPECT_EQ(archive->dependencies[0].minimum_version, 7u);
  EXPECT_FALSE(archive->dependencies[0].optional);
  EXPECT_TRUE(archive->dependencies[1].optional);
  ASSERT_EQ(archive->imports.size(), 2u);
  EXPECT_EQ(archive->imports[0].full_name, "hal.device.count");
  EXPECT_FALSE(archive->imports[0].optional);
  EXPECT_EQ(archive->imports[1].convention.text, "0rCiIrD_v");
  EXPECT_TRUE(archive->imports[1].optional);
  ASSERT_EQ(archive->exports.size(), 2u);
  EXPECT_EQ(archive->exports[1].local_name, "second");
  EXPECT_EQ(archive->exports[1].function, 0u);
  EXPECT_EQ(archive->global_bytes, 24u);
  EXPECT_EQ(archive->global_ref_count, 2u);
}

TEST(BytecodeArchiveTest, RodataLiesWhereTheFileHasIt) {
  const std::vector<uint8_t> bytes = SmallModule().Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  ASSERT_EQ(archive->rodata.size(), 3u);
  EXPECT_THAT(archive->rodata[0], ElementsAre(1, 2, 3));
  EXPECT_THAT(archive->rodata[1], ElementsAre(4, 5));
  EXPECT_THAT(archive->rodata[2], ElementsAre(6));
  for (const auto& segment : archive->rodata) {
    EXPECT_GE(segment.data(), bytes.data());
    EXPECT_LE(segment.data() + segment.size(), bytes.data() + bytes.size());
  }
}

}  // namespace
}  // namespace takt::vm
