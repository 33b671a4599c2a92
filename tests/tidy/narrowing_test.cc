// Goal: what reads files converts counts, sizes and offsets by base/narrow.h,
// never by a bare static_cast, which drops the bits that do not fit.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_code.h"
#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

// The readers of files, by how their paths begin.
const char* const kReaders[] = {
    "src/cpu/elf_image",
    "src/cpu/executable_loader",
    "src/cpu/library_executable",
    "src/cpu/riscv_attributes",
    "src/cpu/system_library",
    "src/modules/parameter_",
    "src/modules/safetensors",
    "src/npu/command_program",
    "src/npu/program_",
    "src/npu/sim_profile",
    "src/plan/json_fields",
    "src/plan/plan_file",
    "src/plan/workload_json",
    "src/plan/workload_reader",
    "src/plan/workload_unroll",
    "src/plan/xpu_rt_schedule",
    "src/sched/profile",
    "src/sim/board",
    "src/sim/xrbench",
    "src/solve/instance_reader",
    "src/topology/topology_json",
    "src/trace/perfetto_reader",
    "src/vm/",
};

// Files of src/vm that read none: they compute with the values of a program
// that was verified, wrap as its instructions ask, and are as fast as they can
// be.
const std::set<std::string> kNoReaders = {
    "src/vm/context.cc",       "src/vm/interpreter.cc", "src/vm/invocation.cc",
    "src/vm/native_marshal.h", "src/vm/object_ops.cc",  "src/vm/object_ops.h",
    "src/vm/program.h",        "src/vm/run_guard.cc",   "src/vm/scalar_math.cc",
    "src/vm/scalar_math.h",    "src/vm/value.cc",
};

bool IsReader(const std::string& path) {
  if (kNoReaders.contains(path)) return false;
  for (const char* prefix : kReaders) {
    if (path.starts_with(prefix)) return true;
  }
  return false;
}

// The casts of `code` to integers, such as "static_cast<int16_t>(".
std::vector<std::string> CastsToIntegers(const std::string& code) {
  static const std::regex kCast(
      "static_cast<\\s*(std::)?(u?int(8|16|32|64)_t|int|unsigned|short|long|"
      "size_t|ptrdiff_t|WireRegister|(flatbuffers::)?uoffset_t)\\s*>");
  std::vector<std::string> casts;
  for (std::sregex_iterator i(code.begin(), code.end(), kCast), end; i != end;
       ++i) {
    casts.push_back(i->str());
  }
  return casts;
}

TEST(NarrowingTest, ReadersOfFilesNarrowByCheckedHelpers) {
  std::set<std::string> seen;
  for (const SourceFile& file : ReadSources("src", {".h", ".cc"})) {
    if (!IsReader(file.path)) continue;
    for (const char* prefix : kReaders) {
      if (file.path.starts_with(prefix)) seen.insert(prefix);
    }
    for (const std::string& cast : CastsToIntegers(CodeOf(file))) {
      ADD_FAILURE() << file.path << ": " << cast
                    << ": use Narrow, CheckedNarrow or Truncate";
    }
  }
  for (const char* prefix : kReaders) {
    EXPECT_TRUE(seen.contains(prefix)) << "no file begins with " << prefix;
  }
  for (const std::string& path : kNoReaders) {
    EXPECT_TRUE(Exists(path)) << path;
  }
}

TEST(NarrowingTest, TheRuleFindsACast) {
  EXPECT_EQ(CastsToIntegers("a = static_cast<int16_t>(b + static_cast< "
                            "size_t>(c)) + static_cast<double>(d);")
                .size(),
            2u);
}

}  // namespace
}  // namespace takt::tidy
