// Compares the instructions and imports of the compiler with those of Takt. The
// compiler's tables are in tests/testdata/compiler; they come from its
// binaries. Each instruction must have its code. Each import must link, with
// its convention and the version that it requires. docs/coverage.md must have a
// row for each.
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/vmvx_executable.h"
#include "cpu/vmvx_module.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/kernel_table.h"
#include "takt/takt.h"
#include "tests/vm/module_builder.h"
#include "vm/opcodes.h"

namespace takt {
namespace {

using testing::HasSubstr;

std::vector<std::vector<std::string>> ReadTable(const std::string& name) {
  std::ifstream file(std::string(TAKT_TESTDATA_DIR "/compiler/") + name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    rows.emplace_back();
    for (std::string word; words >> word;) rows.back().push_back(word);
  }
  return rows;
}

struct Instruction {
  vm::OpSet set;
  uint8_t code;
  std::string mnemonic;
};

std::vector<Instruction> ReadInstructions() {
  std::vector<Instruction> instructions;
  for (const auto& row : ReadTable("instructions.txt")) {
    EXPECT_EQ(row.size(), 3u);
    instructions.push_back(
        {row[0] == "core"  ? vm::OpSet::kCore
         : row[0] == "f32" ? vm::OpSet::kF32
                           : vm::OpSet::kF64,
         static_cast<uint8_t>(std::stoul(row[1], nullptr, 16)), row[2]});
  }
  return instructions;
}

struct Import {
  std::string module;
  uint32_t version;
  std::string name;
  std::string convention;
};

std::vector<Import> ReadImports() {
  std::vector<Import> imports;
  for (const auto& row : ReadTable("imports.txt")) {
    EXPECT_EQ(row.size(), 4u);
    imports.push_back(
        {row[0], static_cast<uint32_t>(std::stoul(row[1])), row[2], row[3]});
  }
  return imports;
}

// A module that only imports that function.
std::vector<uint8_t> ModuleImporting(const Import& import) {
  vm::ModuleBuilder module("m");
  module.dependencies.push_back({import.module, import.version});
  module.AddImport(import.module + "." + import.name, import.convention);
  return module.Build();
}

// The error of a context with this module; empty if there is none.
std::string LinkInContext(const Import& import) {
  const std::vector<uint8_t> bytes = ModuleImporting(import);
  takt_instance_t* instance = nullptr;
  takt_device_t* device = nullptr;
  takt_module_t* modules[2] = {};
  takt_context_t* context = nullptr;
  takt_instance_options_t instance_options;
  takt_instance_options_init(&instance_options);
  instance_options.worker_count = 0;
  takt_status_t status = takt_instance_create(&instance_options, &instance);
  if (status == nullptr) {
    status = takt_device_create(instance, "local-sync", nullptr, &device);
  }
  if (status == nullptr) {
    status = takt_check_module_create(
        instance, [](void*, const char*) {}, nullptr, &modules[0]);
  }
  if (status == nullptr) {
    status = takt_module_load_memory(instance, bytes.data(), bytes.size(),
                                     nullptr, &modules[1]);
  }
  if (status == nullptr) {
    takt_context_options_t options;
    takt_context_options_init(&options);
    options.modules = modules;
    options.module_count = 2;
    options.devices = &device;
    options.device_count = 1;
    status = takt_context_create(instance, &options, &context);
  }
  const std::string text = status == nullptr ? "" : takt_status_message(status);
  takt_status_free(status);
  takt_context_release(context);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_device_release(device);
  takt_instance_release(instance);
  return text;
}

std::string LinkInExecutable(const Import& import) {
  const auto vmvx = cpu::CreateVmvxModule(kernels::SelectKernels({}));
  EXPECT_TRUE(vmvx.ok());
  return std::string(
      cpu::VmvxExecutable::Load(ModuleImporting(import), nullptr, {}, *vmvx)
          .status()
          .message());
}

std::string Link(const Import& import) {
  return import.module == "vmvx" ? LinkInExecutable(import)
                                 : LinkInContext(import);
}

TEST(CompilerTablesTest, EveryInstructionHasItsCode) {
  const std::vector<Instruction> instructions = ReadInstructions();
  ASSERT_GT(instructions.size(), 260u);
  for (const Instruction& each : instructions) {
    const vm::OpInfo* const info = vm::FindOp(each.set, each.code);
    ASSERT_NE(info, nullptr) << each.mnemonic;
    EXPECT_EQ(info->mnemonic, each.mnemonic);
  }
}

// The other direction: the compiler can write each instruction that Takt reads.
// Blocks have no mnemonic.
TEST(CompilerTablesTest, TaktReadsNoOtherInstructions) {
  std::set<std::string> known = {"block"};
  for (const Instruction& each : ReadInstructions()) {
    known.insert(each.mnemonic);
  }
  EXPECT_EQ(known.size(), static_cast<size_t>(vm::Op::kCount));
}

TEST(CompilerTablesTest, EveryImportIsLinked) {
  const std::vector<Import> imports = ReadImports();
  ASSERT_GT(imports.size(), 110u);
  for (const Import& import : imports) {
    EXPECT_EQ(Link(import), "") << import.module << "." << import.name;
  }
}

// Checks the test itself: a function that does not exist is not linked.
TEST(CompilerTablesTest, OtherImportsAreNotLinked) {
  EXPECT_THAT(Link({"hal", 0, "no_such", "0v_v"}), HasSubstr("hal.no_such"));
  EXPECT_THAT(Link({"hal", 0, "fence.signal", "0i_v"}),
              HasSubstr("hal.fence.signal"));
  EXPECT_THAT(Link({"hal", 1000, "fence.signal", "0r_v"}),
              HasSubstr("version 1000"));
  EXPECT_THAT(Link({"vmvx", 0, "no_such", "0v_v"}), HasSubstr("vmvx.no_such"));
}

TEST(CompilerTablesTest, TheCoveragePageHasARowForEach) {
  std::ifstream file(TAKT_SOURCE_DIR "/docs/coverage.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  for (const Instruction& each : ReadInstructions()) {
    EXPECT_THAT(page, HasSubstr("| `" + each.mnemonic + "` | yes |"));
  }
  for (const Import& each : ReadImports()) {
    EXPECT_THAT(page,
                HasSubstr("| `" + each.module + "." + each.name + "` | yes |"));
  }
}

}  // namespace
}  // namespace takt
