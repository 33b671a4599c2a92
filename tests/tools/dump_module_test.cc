#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/elf_format.h"
#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ToolResult RunDumpModule(const std::vector<std::string>& arguments) {
  return RunProcess("takt-dump-module", arguments);
}

std::string Mul() { return TestData("models/simple_mul.cpu.vmfb"); }

TEST(DumpModuleTest, PrintsTables) {
  const ToolResult result = RunDumpModule({"--output=metadata", Mul()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* text :
       {"@module : version 0", "Bytecode version: 17.0", "!hal.buffer_view\n",
        "hal, version >= 7, required",
        "hal.device.allocator(!vm.ref<?>) -> (!vm.ref<?>)\n",
        "simple_mul(!vm.ref<?>, !vm.ref<?>) -> (!vm.ref<?>)\n",
        "iree.abi.declaration: sync func @simple_mul(",
        "executable " TAKT_ELF_FORMAT, "`hal.executable.format`", "| __init"}) {
    EXPECT_THAT(result.out, HasSubstr(text));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("func[")));
}

TEST(DumpModuleTest, Disassembles) {
  const ToolResult all = RunDumpModule({"--output=disassembly", Mul()});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("func[1] @simple_mul ("));
  EXPECT_THAT(all.out, HasSubstr("func[2] @__init ("));
  EXPECT_THAT(all.out, HasSubstr("hal.device.queue.alloca"));
  const ToolResult one =
      RunDumpModule({"--output=disassembly", "--function=simple_mul", Mul()});
  EXPECT_THAT(one.out, HasSubstr("func[1] @simple_mul ("));
  EXPECT_THAT(one.out, Not(HasSubstr("__init")));
}

TEST(DumpModuleTest, PrintsJson) {
  const ToolResult result = RunDumpModule({"--json", Mul()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded());
  EXPECT_EQ(document["name"], "module");
  EXPECT_EQ(document["bytecode_version"], "17.0");
  EXPECT_EQ(document["dependencies"][0]["module"], "hal");
  EXPECT_EQ(document["exports"][0]["name"], "simple_mul");
  EXPECT_EQ(document["exports"][0]["convention"], "0rr_r");
  EXPECT_EQ(document["exports"][0]["function"], 1);
  EXPECT_EQ(document["exports"][0]["async"], false);
  EXPECT_FALSE(
      document["exports"][0]["attributes"]["iree.abi.declaration"].empty());
  EXPECT_EQ(document["functions"][1]["export"], "simple_mul");
  EXPECT_THAT(document["functions"][1]["disassembly"].get<std::string>(),
              HasSubstr("return"));
  bool has_executable = false;
  for (const auto& rodata : document["rodata"]) {
    has_executable |= rodata.value("executable_format", "") == TAKT_ELF_FORMAT;
  }
  EXPECT_TRUE(has_executable);
}

TEST(DumpModuleTest, ReadsModulesForOtherMachines) {
  const ToolResult result =
      RunDumpModule({"--output=metadata", TestData("fat/fat.vmfb")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* format : {"embedded-elf-x86_64", "embedded-elf-arm_64",
                             "embedded-elf-riscv_64"}) {
    EXPECT_THAT(result.out,
                HasSubstr(std::string("executable ") + format + "\n"));
  }
}

TEST(DumpModuleTest, ShowsModulesWithTypesOfTheirOwn) {
  const std::string path = TestData("tools/custom_type.vmfb");
  const ToolResult text = RunDumpModule({path});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  for (const char* part : {"!custom.string", "custom.string.create", "run"}) {
    EXPECT_THAT(text.out, HasSubstr(part));
  }
  const ToolResult json = RunDumpModule({"--json", path});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto document = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded());
  EXPECT_THAT(document["types"].dump(), HasSubstr("\"!custom.string\""));
  const ToolResult run = RunProcess(
      "takt-run-module", {"--module=" + path, "--function=run", "--input=1"});
  EXPECT_NE(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("no type is known as !custom.string"));
}

TEST(DumpModuleTest, Errors) {
  EXPECT_THAT(RunDumpModule({"/nonexistent.vmfb"}).err,
              HasSubstr("/nonexistent.vmfb"));
  EXPECT_EQ(RunDumpModule({"/nonexistent.vmfb"}).exit_code, 1);
  EXPECT_EQ(RunDumpModule({}).exit_code, 1);
  EXPECT_EQ(RunDumpModule({Mul(), Mul()}).exit_code, 1);
  EXPECT_THAT(RunDumpModule({"--output=zork", Mul()}).err,
              HasSubstr("--output=zork"));
  EXPECT_THAT(RunDumpModule({"--function=zork", Mul()}).err, HasSubstr("zork"));
  const std::string path = ScratchPath("bad.vmfb");
  WriteContents(path, FileContents(Mul()).substr(0, 1000));
  const ToolResult result = RunDumpModule({path});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr(path));
}

TEST(DumpModuleTest, PrintsHelp) {
  EXPECT_EQ(RunDumpModule({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace takt::tools
