// Goal: what the style asks of every file, and a reviewer should not have to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

const char* const kFolders[] = {"include",    "src",     "tests",  "tools",
                                "benchmarks", "samples", "drivers"};

std::vector<SourceFile> AllSources(const std::vector<std::string>& endings) {
  std::vector<SourceFile> all;
  for (const char* folder : kFolders) {
    for (SourceFile& file : ReadSources(folder, endings)) {
      all.push_back(std::move(file));
    }
  }
  return all;
}

// Code points of UTF-8.
size_t Columns(const std::string& line) {
  return std::count_if(line.begin(), line.end(),
                       [](char c) { return (c & 0xc0) != 0x80; });
}

// The path without its first folder, if that is no part of the include path.
std::string IncludeName(const std::string& path) {
  for (const char* root : {"src/", "include/"}) {
    if (path.starts_with(root)) return path.substr(std::string(root).size());
  }
  return path;
}

// A table that clang-format leaves alone, or a text that cannot be broken.
bool MayBeLong(const std::string& line, bool is_table) {
  const size_t quote = line.find('"');
  const size_t end = line.rfind('"');
  const bool is_text = quote != std::string::npos && end - quote > 40;
  return is_table || is_text || line.starts_with("#include");
}

TEST(SourcesTest, LinesHaveEightyColumns) {
  for (const SourceFile& file : AllSources({".h", ".hpp", ".c", ".cc"})) {
    bool is_table = false;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.find("clang-format off") != std::string::npos) is_table = true;
      if (line.find("clang-format on") != std::string::npos) is_table = false;
      if (MayBeLong(line, is_table)) continue;
      EXPECT_LE(Columns(line), 80u) << file.path << ":" << i + 1;
    }
  }
}

TEST(SourcesTest, NothingIsLeftForLater) {
  const std::string marks[] = {std::string("TO") + "DO",
                               std::string("FIX") + "ME",
                               std::string("XX") + "X"};
  for (const SourceFile& file : AllSources({".h", ".hpp", ".c", ".cc"})) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& mark : marks) {
        // A longer word, as in mkstemp's template, is no mark.
        const size_t at = file.lines[i].find(mark);
        if (at == std::string::npos) continue;
        const std::string& line = file.lines[i];
        const size_t end = at + mark.size();
        const bool is_word = (at == 0 || !std::isalnum(line[at - 1])) &&
                             (end == line.size() || !std::isalnum(line[end])) &&
                             (at == 0 || line[at - 1] != '_');
        EXPECT_FALSE(is_word) << file.path << ":" << i + 1 << ": " << line;
      }
    }
  }
}

TEST(SourcesTest, NoTabsAndNoBlanksAtTheEnd) {
  for (const SourceFile& file : AllSources({".h", ".hpp", ".c", ".cc"})) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      EXPECT_EQ(line.find('\t'), std::string::npos)
          << file.path << ":" << i + 1;
      EXPECT_FALSE(line.ends_with(" ")) << file.path << ":" << i + 1;
    }
  }
}

TEST(SourcesTest, GuardsAreNamedAfterTheirFiles) {
  for (const SourceFile& file : AllSources({".h", ".hpp"})) {
    std::string guard = IncludeName(file.path) + "_";
    std::transform(guard.begin(), guard.end(), guard.begin(), [](char c) {
      return std::isalnum(c) ? static_cast<char>(std::toupper(c)) : '_';
    });
    if (!guard.starts_with("TAKT_")) guard = "TAKT_" + guard;
    const auto has = [&](const std::string& line) {
      return std::find(file.lines.begin(), file.lines.end(), line) !=
             file.lines.end();
    };
    EXPECT_TRUE(has("#ifndef " + guard)) << file.path << ": " << guard;
    EXPECT_TRUE(has("#define " + guard)) << file.path << ": " << guard;
  }
}

// So every header compiles alone; CMakeLists.txt has those without a source,
// and tests/api the public ones.
TEST(SourcesTest, SourcesIncludeTheirHeaderFirst) {
  for (const char* folder : {"src", "tools", "drivers"}) {
    for (const SourceFile& file : ReadSources(folder, {".cc"})) {
      std::string header = file.path;
      header.replace(header.size() - 3, 3, ".h");
      if (!Exists(header)) continue;
      const std::vector<Include> includes = Includes(file);
      ASSERT_FALSE(includes.empty()) << file.path;
      EXPECT_EQ(includes[0].target, IncludeName(header)) << file.path;
    }
  }
}

// Sources whose noun is tested under another name, and by what.
const std::map<std::string, std::string> kTestedBy = {
    {"abi/handle", "tests/api/version_test.c"},
    {"abi/null", "tests/api/null_calls_test.cc"},
    {"abi/status", "tests/api/status_test.c"},
    {"analysis/handle", "tests/analysis/module_contents_test.c"},
    {"analysis/libtakt", "tests/analysis/module_contents_test.c"},
    {"analysis/trace_contents", "tests/tools/trace_test.cc"},
    {"api/absent_npu", "tests/install/options/absent_test.c"},
    {"api/absent_planner", "tests/install/options/absent_test.c"},
    {"api/absent_scheduler", "tests/install/options/absent_test.c"},
    {"api/absent_tracing", "tests/install/options/absent_test.c"},
    {"api/async", "tests/api/async_call_test.c"},
    {"api/handle", "tests/api/version_test.c"},
    {"api/npu_batch", "tests/api/npu_queue_test.c"},
    {"api/npu_device", "tests/api/npu_test.c"},
    {"api/npu_routes", "tests/api/npu_route_test.c"},
    {"api/options", "tests/api/async_call_test.c"},
    {"api/plan", "tests/api/plan_run_test.c"},
    {"api/quantiles", "tests/api/stream_test.c"},
    {"api/release_guard", "tests/api/allocation_test.c"},
    {"api/submission", "tests/api/queue_test.c"},
    {"base/absent", "tests/install/options/absent_test.c"},
    {"base/exceptions", "tests/vm/list_test.cc"},
    {"base/job_attributes", "tests/cpu/execution_test.cc"},
    {"base/memory_lock", "tests/api/realtime_test.c"},
    {"base/overwriting_ring", "tests/weak_memory/overwriting_ring_test.cc"},
    {"base/pause", "tests/base/timer_service_test.cc"},
    {"base/realtime_checks", "tests/api/realtime_checks_test.cc"},
    {"base/realtime_section", "tests/api/realtime_checks_test.cc"},
    {"cpu/absent_native_kernels", "tests/install/options/absent_test.c"},
    {"cpu/absent_vmvx", "tests/install/options/absent_test.c"},
    {"kernels/absent_avx512", "tests/install/options/absent_test.c"},
    {"kernels/absent_matrix_kernels", "tests/install/options/absent_test.c"},
    {"kernels/absent_native_kernels", "tests/install/options/absent_test.c"},
    {"kernels/activation", "tests/kernels/conv2d_test.cc"},
    {"base/sleep_word", "tests/weak_memory/sleep_word_test.cc"},
    {"cpu/block_layout", "tests/cpu/execution_test.cc"},
    {"cpu/code_image", "tests/cpu/elf_image_test.cc"},
    {"cpu/code_loader", "tests/npu/npu_formats_test.cc"},
    {"cpu/command", "tests/cpu/cpu_command_buffer_test.cc"},
    {"cpu/dispatch_observer", "tests/api/statistics_test.c"},
    {"cpu/dispatch_route", "tests/route/route_test.cc"},
    {"cpu/execution_part", "tests/cpu/execution_test.cc"},
    {"cpu/import_resolver", "tests/cpu/library_executable_test.cc"},
    {"cpu/library_abi", "tests/cpu/library_executable_test.cc"},
    {"cpu/operation", "tests/conformance/device_conformance.cc"},
    {"cpu/recurrent_parameters", "tests/cpu/gru_import_test.cc"},
    {"cpu/resource_waits", "tests/route/route_test.cc"},
    {"cpu/tile_run", "tests/cpu/execution_test.cc"},
    {"cpu/vmvx_offload", "tests/npu/npu_offload_test.cc"},
    {"cpu/vmvx_operand", "tests/cpu/vmvx_module_test.cc"},
    {"exec/caller_scope", "tests/exec/stealing_executor_test.cc"},
    {"exec/expected_time", "tests/exec/stealing_executor_test.cc"},
    {"exec/job", "tests/exec/stealing_executor_test.cc"},
    {"exec/thread_state", "tests/exec/stealing_executor_test.cc"},
    {"exec/worker_slot", "tests/exec/stealing_executor_test.cc"},
    {"follow/adaptive_policy", "tests/follow/plan_follower_test.cc"},
    {"follow/follow_options", "tests/follow/plan_follower_test.cc"},
    {"follow/follow_policy", "tests/follow/plan_follower_test.cc"},
    {"follow/followed_plan", "tests/follow/plan_follower_test.cc"},
    {"follow/live_jobs", "tests/follow/window_advisor_test.cc"},
    {"follow/plan_progress", "tests/follow/plan_follower_test.cc"},
    {"follow/plan_remainder", "tests/follow/plan_repair_test.cc"},
    {"follow/plan_switcher", "tests/api/plan_run_test.c"},
    {"follow/replanner", "tests/follow/plan_repair_test.cc"},
    {"follow/strict_policy", "tests/follow/plan_follower_test.cc"},
    {"follow/window", "tests/follow/window_advisor_test.cc"},
    {"follow/window_options", "tests/follow/window_advisor_test.cc"},
    {"hal/command_buffer", "tests/conformance/device_conformance.cc"},
    {"hal/device", "tests/conformance/device_conformance.cc"},
    {"hal/memory_group", "tests/cpu/memory_budget_test.cc"},
    {"kernels/instruction_sets", "tests/kernels/kernel_table_test.cc"},
    {"kernels/operand", "tests/kernels/elementwise_test.cc"},
    {"kernels/target", "tests/kernels/mmt4d_test.cc"},
    {"modules/absent_io_parameters", "tests/install/options/absent_test.c"},
    {"modules/hal_state", "tests/modules/hal_module_test.cc"},
    {"modules/queue_ticket", "tests/modules/io_parameters_module_test.cc"},
    {"npu/batch_executable", "tests/api/npu_queue_test.c"},
    {"npu/built_in_driver", "tests/npu/npu_formats_test.cc"},
    {"npu/device", "tests/api/npu_test.c"},
    {"npu/fault_policy", "tests/npu/npu_unit_test.cc"},
    {"npu/host_driver", "tests/npu/npu_offload_test.cc"},
    {"npu/npu_statistics", "tests/npu/npu_unit_test.cc"},
    {"npu/npu_trace", "tests/npu/npu_unit_test.cc"},
    {"npu/program_container", "tests/npu/npu_formats_test.cc"},
    {"npu/program_executable", "tests/npu/npu_formats_test.cc"},
    {"npu/program_table", "tests/npu/npu_formats_test.cc"},
    {"npu/reference", "tests/npu/npu_offload_test.cc"},
    {"npu/request_executable", "tests/npu/npu_formats_test.cc"},
    {"npu/sim_driver", "tests/npu/npu_unit_test.cc"},
    {"npu/sim_profile", "tests/npu/sim_model_test.cc"},
    {"npu/staging", "tests/npu/npu_offload_test.cc"},
    {"plan/json_fields", "tests/plan/workload_test.cc"},
    {"plan/response_analysis", "tests/sim/response_bound_test.cc"},
    {"plan_run/plan_run_bind", "tests/api/plan_run_test.c"},
    {"plan_run/plan_run_calls", "tests/api/plan_run_test.c"},
    {"plan_run/plan_run_control", "tests/api/plan_run_test.c"},
    {"plan_run/plan_run_options", "tests/api/plan_run_test.c"},
    {"route/exclusive_code", "tests/route/route_test.cc"},
    {"runtime/argument_futures", "tests/api/future_argument_test.c"},
    {"runtime/async_call", "tests/api/async_call_test.c"},
    {"runtime/async_call_program", "tests/api/async_call_test.c"},
    {"runtime/async_call_results", "tests/api/async_call_test.c"},
    {"runtime/async_call_timeout", "tests/api/timeout_test.c"},
    {"runtime/instance_threads", "tests/api/instance_test.c"},
    {"runtime/call_batch", "tests/api/call_batch_test.cc"},
    {"runtime/call_options", "tests/api/async_call_test.c"},
    {"runtime/call_trace", "tests/api/trace_test.c"},
    {"runtime/device", "tests/api/device_test.c"},
    {"runtime/function", "tests/api/function_test.c"},
    {"runtime/initializer_waiter", "tests/api/context_test.c"},
    {"runtime/instance", "tests/api/instance_test.c"},
    {"runtime/job_annotations", "tests/api/job_options_test.c"},
    {"runtime/log", "tests/api/log_test.c"},
    {"runtime/memory_preparation", "tests/api/memory_test.c"},
    {"runtime/module_loader", "tests/api/module_test.c"},
    {"runtime/native_modules", "tests/api/context_test.c"},
    {"runtime/parameters", "tests/api/parameters_test.c"},
    {"runtime/result_binding", "tests/api/result_binding_test.c"},
    {"runtime/signature", "tests/api/signature_test.c"},
    {"runtime/user_type", "tests/api/user_type_test.c"},
    {"sched/demand", "tests/sched/admission_test.cc"},
    {"sched/placement_advisor", "tests/follow/plan_follower_test.cc"},
    {"sched/priority", "tests/sched/scheduler_test.cc"},
    {"sched/stream", "tests/sched/scheduler_test.cc"},
    {"shop/absent_scheduler", "tests/install/options/absent_test.c"},
    {"shop/advisor_switch", "tests/shop/job_shop_test.cc"},
    {"shop/resource_monitor", "tests/shop/frequency_monitor_test.cc"},
    {"shop/scheduled_stream", "tests/shop/job_shop_test.cc"},
    {"shop/shop_event_queue", "tests/shop/job_shop_test.cc"},
    {"shop/work", "tests/shop/job_shop_test.cc"},
    {"sim/arrivals", "tests/sim/simulation_test.cc"},
    {"sim/board", "tests/sim/simulation_test.cc"},
    {"sim/event_queue", "tests/sim/simulation_test.cc"},
    {"sim/plan_run", "tests/follow/plan_follower_test.cc"},
    {"sim/report", "tests/sim/simulation_test.cc"},
    {"sim/report_json", "tests/sim/simulation_test.cc"},
    {"sim/sweep", "tests/sim/xrbench_test.cc"},
    {"sim/thermal", "tests/sim/simulation_test.cc"},
    {"sim/workload", "tests/plan/workload_test.cc"},
    {"solve/annealing", "tests/solve/constrained_solver_test.cc"},
    {"solve/bounds", "tests/solve/solver_test.cc"},
    {"solve/chains", "tests/solve/problem_test.cc"},
    {"solve/constrained_schedule", "tests/solve/constrained_solver_test.cc"},
    {"solve/evolution", "tests/solve/solver_test.cc"},
    {"solve/list_schedule", "tests/solve/solver_test.cc"},
    {"solve/scaled_problem", "tests/solve/solver_test.cc"},
    {"solve/schedule_check", "tests/solve/problem_test.cc"},
    {"solve/search_threads", "tests/solve/solver_test.cc"},
    {"solve/setup_table", "tests/solve/problem_test.cc"},
    {"stream/stream_job", "tests/api/stream_test.c"},
    {"stream/triple_buffer", "tests/weak_memory/triple_buffer_test.cc"},
    {"topology/absent_hwloc", "tests/topology/sysfs_topology_test.cc"},
    {"topology/hwloc_topology", "tests/topology/sysfs_topology_test.cc"},
    {"trace/perfetto_format", "tests/trace/perfetto_writer_test.cc"},
    {"vm/call", "tests/vm/native_module_test.cc"},
    {"vm/frame", "tests/vm/interpreter_test.cc"},
    {"vm/function_translator", "tests/vm/translator_test.cc"},
    {"vm/function_translator_branches", "tests/vm/translator_test.cc"},
    {"vm/instance", "tests/vm/context_test.cc"},
    {"vm/module", "tests/vm/bytecode_module_test.cc"},
    {"vm/program", "tests/vm/translator_test.cc"},
};

// A test of the noun, or of what the noun is a part of: mmt4d_avx2 is tested
// by mmt4d_test.
bool HasTest(const std::string& layer, std::string stem) {
  while (true) {
    for (const char* ending : {"_test.cc", "_test.c"}) {
      if (Exists("tests/" + layer + "/" + stem + ending)) return true;
    }
    const size_t cut = stem.rfind('_');
    if (cut == std::string::npos) return false;
    stem.resize(cut);
  }
}

TEST(SourcesTest, NoSourceWithoutATest) {
  std::set<std::string> nouns;
  for (const SourceFile& file : ReadSources("src", {".h", ".cc"})) {
    const std::string layer = LayerOf(file.path);
    if (layer.empty()) continue;
    nouns.insert(layer + "/" + StemOf(file.path));
    const std::string stem = StemOf(file.path);
    const auto other = kTestedBy.find(layer + "/" + stem);
    if (other != kTestedBy.end()) {
      EXPECT_TRUE(Exists(other->second)) << other->second;
      EXPECT_FALSE(Exists("tests/" + layer + "/" + stem + "_test.cc"))
          << other->first << " has a test of its own";
      continue;
    }
    EXPECT_TRUE(HasTest(layer, stem)) << file.path;
  }
  for (const auto& [noun, test] : kTestedBy) {
    EXPECT_TRUE(nouns.count(noun)) << noun << " is not a source";
  }
}

}  // namespace
}  // namespace takt::tidy
