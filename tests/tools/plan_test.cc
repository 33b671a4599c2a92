#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

using testing::HasSubstr;

ToolResult RunPlan(const std::vector<std::string>& arguments) {
  return RunProcess("takt-plan", arguments);
}

// Two jobs of two operations: 2 on machine 1, then 2 on machine 2 (or 3 on 1);
// 3 on machine 2, then 3 on machine 1 (or 4 on 2). The second cannot end
// before 6, and there is a schedule that does.
const char kInstance[] = "plan/two_jobs.fjs";

std::string Solved() {
  return RunPlan({"solve", TestData(kInstance), "--time_limit=0.2", "--json"})
      .out;
}

std::string Written(const char* name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::FILE* file = std::fopen(path.c_str(), "w");
  EXPECT_NE(file, nullptr);
  std::fputs(text.c_str(), file);
  std::fclose(file);
  return path;
}

TEST(PlanToolTest, SolvesToTheOptimum) {
  const auto json = nlohmann::json::parse(Solved(), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["makespan"], 6);
  EXPECT_EQ(json["schedule"].size(), 4u);
  EXPECT_LE(json["lower_bound"], 6);
}

TEST(PlanToolTest, PrintsTheScheduleAsText) {
  const ToolResult result =
      RunPlan({"solve", TestData(kInstance), "--time_limit=0.2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("makespan 6, lower bound "));
  EXPECT_THAT(result.out, HasSubstr("operation 3: machine "));
}

TEST(PlanToolTest, SolvesGraphs) {
  const ToolResult result =
      RunPlan({"solve", TestData("plan/diamond.fajs"), "--time_limit=0.2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("makespan 7, "));
}

TEST(PlanToolTest, ChecksWhatItSolved) {
  const std::string path = Written("solved.json", Solved());
  const ToolResult result = RunPlan({"check", TestData(kInstance), path});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "valid, makespan 6\n");
}

TEST(PlanToolTest, NamesWhatIsWrong) {
  auto json = nlohmann::json::parse(Solved());
  json["schedule"][1]["start"] = 0;  // With, or before, its predecessor.
  const std::string path = Written("wrong.json", json.dump());
  const ToolResult text = RunPlan({"check", TestData(kInstance), path});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("wrong.json"));
  EXPECT_THAT(text.err, HasSubstr("operation 1"));
  const ToolResult result =
      RunPlan({"check", TestData(kInstance), path, "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(result.out)["valid"], false);
}

// Two programs of an NPU: the second result, of 3 + 4 behind a change of 5, is
// due at 8. Without the weight, the change would be made once.
const char kPrograms[] =
    "3 1\n1 1 1 4\n2 1 1 3 1 1 4\n1 1 1 4\n"
    "family 1 1\nfamily 2 1\nsetup 1 0 1 5\nsetup 1 1 0 5\n"
    "setup 1 first 0 2\nsetup 1 first 1 2\n"
    "no-wait 1 2\njob-due 2 8 10\njob-due 1 7 1\njob-release 3 1\n";

TEST(PlanToolTest, SolvesForTardinessWithSideConstraints) {
  const std::string instance = Written("programs.fjs", kPrograms);
  const ToolResult solved = RunPlan({"solve", instance, "--time_limit=0.2",
                                     "--objective=tardiness", "--json"});
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  auto json = nlohmann::json::parse(solved.out);
  // 2 + 3 + 4 for the job that is due at 8; then 5 + 4 for the one at 7.
  EXPECT_EQ(json["weighted_tardiness"], 10 + 11);
  EXPECT_EQ(json["objective"], "tardiness");
  EXPECT_LE(json["lower_bound"], 21);
  const std::string path = Written("programs.json", json.dump());
  const ToolResult check = RunPlan({"check", instance, path});
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr(", weighted tardiness 21\n"));
  json["weighted_tardiness"] = 20;
  const ToolResult wrong =
      RunPlan({"check", instance, Written("wrong.json", json.dump())});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("the weighted tardiness is 21"));
  const ToolResult text =
      RunPlan({"solve", instance, "--time_limit=0.2", "--objective=tardiness"});
  EXPECT_THAT(text.out, HasSubstr("weighted tardiness 21, makespan "));
}

TEST(PlanToolTest, RefusesTardinessOfAWorkload) {
  const ToolResult result =
      RunPlan({"solve", TestData("plan/robot.json"), "--objective=tardiness"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--objective is for instances"));
}

TEST(PlanToolTest, RefusesFilesOfOtherKinds) {
  EXPECT_EQ(RunPlan({"solve", "/nonexistent.fjs"}).exit_code, 3);
  const ToolResult bad =
      RunPlan({"solve", Written("bad.fjs", "2 2\n1 1 9 5\n1 1 1 5\n")});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, HasSubstr("bad.fjs"));
  EXPECT_THAT(bad.err, HasSubstr("token "));
  for (const char* text :
       {"", "[]", "{\"makespan\": 1}", "{\"makespan\": 1, \"schedule\": [1]}",
        "{\"makespan\": 1, \"schedule\": [{\"alternative\": -1, "
        "\"start\": 0}]}"}) {
    const ToolResult result =
        RunPlan({"check", TestData(kInstance), Written("no.json", text)});
    EXPECT_EQ(result.exit_code, 3) << text;
    EXPECT_THAT(result.err, HasSubstr("no.json")) << text;
  }
}

TEST(PlanToolTest, PlansGoToFilesAndAreShown) {
  const std::string path = testing::TempDir() + "/solved.taktplan";
  const ToolResult solved = RunPlan(
      {"solve", TestData(kInstance), "--time_limit=0.2", "--output=" + path});
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  const ToolResult checked = RunPlan({"check", path});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(checked.out, "valid, makespan 6 ns\n");
  const ToolResult text = RunPlan({"show", path});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("4 operations of 2 jobs on 2 resources"));
  EXPECT_THAT(text.out, HasSubstr("job 1: operation 3 on machine "));
  const auto json =
      nlohmann::json::parse(RunPlan({"show", path, "--json"}).out);
  EXPECT_EQ(json["makespan_ns"], 6);
  EXPECT_EQ(json["jobs"][0]["deadline_ns"], nullptr);
  EXPECT_EQ(json["operations"][1]["after"][0], "operation 0");
}

TEST(PlanToolTest, SchedulesOfOtherRunnersAreImportedAndExported) {
  const std::string schedule =
      R"({"dispatches": {"a": {"hardware_target": "CPU_P#0", "start_time": 0,
          "duration": 1.5, "job_name": "j", "module_name": "m$x"}, "b":
          {"hardware_target": "CPU_P#0", "start_time": 1.5, "duration": 1,
          "dependencies": ["a"], "job_name": "j", "module_name": "m$y"}}})";
  const std::string path = testing::TempDir() + "/imported.taktplan";
  const ToolResult imported =
      RunPlan({"import", Written("loose.json", schedule), "--output=" + path});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(RunPlan({"check", path}).out, "valid, makespan 2500000 ns\n");
  const ToolResult exported = RunPlan({"export", path});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  const auto json = nlohmann::json::parse(exported.out);
  EXPECT_EQ(json["dispatches"]["b"]["dependencies"][0], "a");
  EXPECT_EQ(json["dispatches"]["b"]["start_time"], 1.5);
  EXPECT_EQ(RunPlan({"import", "/nonexistent", "--output=x"}).exit_code, 3);
  EXPECT_EQ(RunPlan({"import", Written("l.json", schedule)}).exit_code, 2);
  const ToolResult bad =
      RunPlan({"import", Written("bad.json", "{}"), "--output=" + path});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.err, HasSubstr("bad.json"));
}

// Of policy.cpu.vmfb, by its own name or behind the module's.
TEST(PlanToolTest, ImportedNamesAreCheckedAgainstModules) {
  const auto schedule = [](const std::string& kernel) {
    return R"({"dispatches": {"a": {"hardware_target": "CPU_P#0",
        "start_time": 0, "duration": 1, "job_name": "j", "module_name": ")" +
           kernel + "\"}}}";
  };
  const std::string path = testing::TempDir() + "/named.taktplan";
  const auto import = [&](const std::string& kernel) {
    return RunPlan({"import", Written("named.json", schedule(kernel)),
                    "--output=" + path, "--json",
                    "--module=" + TestData("workload/estimator.cpu.vmfb"),
                    "--module=" + TestData("workload/policy.cpu.vmfb")});
  };
  for (const char* kernel : {"act_dispatch_0_matmul_1x256x64_f32",
                             "policy$act_dispatch_0_matmul_1x256x64_f32"}) {
    const ToolResult result = import(kernel);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json["operations"][0]["kernel"], kernel);
    EXPECT_EQ(json["modules"][0]["content_hash"].get<std::string>().size(),
              16u);
  }
  for (const char* kernel :
       {"policy$act_dispatch_7", "act_dispatch_0_matmul_1x256x64_f",
        "dispatch_0_matmul_1x256x64_f32"}) {
    const ToolResult result = import(kernel);
    EXPECT_EQ(result.exit_code, 3) << kernel;
    EXPECT_THAT(result.err, HasSubstr("no module has the kernel of a: "));
    EXPECT_THAT(result.err, HasSubstr(kernel));
  }
  EXPECT_EQ(RunPlan({"import", Written("named.json", schedule("k")),
                     "--output=" + path, "--module=/nonexistent"})
                .exit_code,
            3);
}

// Two files that have the kernel: neither is known to be the one.
TEST(PlanToolTest, ImportedNamesOfSeveralModulesAreBoundToNone) {
  const std::string schedule =
      R"({"dispatches": {"a": {"hardware_target": "CPU#0", "start_time": 0,
          "duration": 1, "job_name": "j",
          "module_name": "m$act_dispatch_0_matmul_1x256x64_f32"}}})";
  const std::string module = "--module=" + TestData("workload/policy.cpu.vmfb");
  const ToolResult result =
      RunPlan({"import", Written("twice.json", schedule), module, module,
               "--output=" + testing::TempDir() + "/twice.taktplan", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["modules"][0]["content_hash"],
            "");
}

TEST(PlanToolTest, FaultsOfAPlanAreNamed) {
  const std::string schedule =
      R"({"dispatches": {"a": {"hardware_target": "CPU#0", "start_time": 0,
          "duration": 2, "job_name": "j", "module_name": "m"}, "b":
          {"hardware_target": "CPU#0", "start_time": 1, "duration": 1,
          "dependencies": ["a"], "job_name": "j", "module_name": "m"}}})";
  const std::string path = testing::TempDir() + "/faulty.taktplan";
  ASSERT_EQ(
      RunPlan({"import", Written("faulty.json", schedule), "--output=" + path})
          .exit_code,
      0);
  const ToolResult text = RunPlan({"check", path});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, HasSubstr("precedence: \"b\""));
  EXPECT_THAT(text.out, HasSubstr("overlap: \"b\""));
  EXPECT_THAT(text.out, HasSubstr("2 faults\n"));
  const ToolResult json = RunPlan({"check", path, "--json"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(json.out)["faults"].size(), 2u);
  const ToolResult none =
      RunPlan({"check", Written("none.taktplan", "no plan at all")});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("none.taktplan"));
}

TEST(PlanToolTest, PlansAWorkload) {
  const std::string path = testing::TempDir() + "/shot.taktplan";
  const ToolResult solved =
      RunPlan({"solve", TestData("plan/shot.json"), "--time_limit=0.2",
               "--output=" + path, "--json"});
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  const auto json = nlohmann::json::parse(solved.out, nullptr, false);
  EXPECT_EQ(json["operations"], 8);
  EXPECT_EQ(json["late_jobs"], 0);
  const ToolResult checked = RunPlan({"check", path});
  EXPECT_EQ(checked.exit_code, 0) << checked.out;
  const ToolResult annotated = RunPlan({"annotate", path});
  EXPECT_EQ(annotated.exit_code, 0) << annotated.err;
  EXPECT_THAT(annotated.out, HasSubstr("\"takt.deadline_ns\" = \"1000000\""));
  EXPECT_THAT(annotated.out, HasSubstr("\"takt.resource\" = \"npu\""));
  for (const char* mode : {"strict", "adaptive"}) {
    const ToolResult played =
        RunPlan({"simulate", TestData("plan/shot.json"), "--plan=" + path,
                 std::string("--mode=") + mode, "--json"});
    ASSERT_EQ(played.exit_code, 0) << played.err;
    const auto report = nlohmann::json::parse(played.out, nullptr, false);
    EXPECT_EQ(report["plan"]["started"], 8);
    EXPECT_EQ(report["plan"]["violations"], 0);
  }
}

TEST(PlanToolTest, BeginsWhereItIsTold) {
  const std::string schedule = Written("start.json", Solved());
  const ToolResult from_schedule =
      RunPlan({"solve", TestData(kInstance), "--time_limit=0",
               "--start=" + schedule, "--json"});
  ASSERT_EQ(from_schedule.exit_code, 0) << from_schedule.err;
  EXPECT_EQ(nlohmann::json::parse(from_schedule.out)["makespan"], 6);
  const std::string plan = testing::TempDir() + "/start.taktplan";
  const auto solve = [&plan](const std::string& flag) {
    return RunPlan({"solve", TestData("plan/shot.json"), "--time_limit=0.1",
                    flag, "--json"});
  };
  const ToolResult first = solve("--output=" + plan);
  const ToolResult second = solve("--start=" + plan);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_LE(nlohmann::json::parse(second.out)["makespan_ns"].get<int64_t>(),
            nlohmann::json::parse(first.out)["makespan_ns"].get<int64_t>());
  const std::string other = testing::TempDir() + "/other.taktplan";
  ASSERT_EQ(RunPlan({"solve", TestData(kInstance), "--time_limit=0",
                     "--output=" + other})
                .exit_code,
            0);
  EXPECT_THAT(solve("--start=" + other).err, HasSubstr("start: the plan has"));
}

TEST(PlanToolTest, BoundsResponsesOrSaysWhyNot) {
  const ToolResult result =
      RunPlan({"analyse", TestData("plan/shot.json"), "--json"});
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_EQ(json["streams"].size(), 2u) << result.err;
  EXPECT_GE(json["streams"][0]["bound_ns"], 700'000);
  const ToolResult text = RunPlan({"analyse", TestData("plan/shot.json")});
  EXPECT_THAT(text.out, HasSubstr("at most"));
}

TEST(PlanToolTest, ProfilesThisMachineForAPlan) {
  const std::string profile = testing::TempDir() + "/robot.profile.json";
  const ToolResult profiled = RunPlan({"profile", TestData("plan/robot.json"),
                                       "--samples=3", "--output=" + profile});
  ASSERT_EQ(profiled.exit_code, 0) << profiled.err;
  EXPECT_THAT(profiled.out, HasSubstr("policy.act"));
  EXPECT_THAT(profiled.out, HasSubstr("median us"));
  std::ifstream file(profile);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["modules"].size(), 4u);
  EXPECT_EQ(json["modules"][0]["content_hash"].get<std::string>().size(), 16u);
  ASSERT_EQ(json["programs"].size(), 4u);
  EXPECT_GE(json["programs"][0]["operations"].size(), 1u);
  for (const auto& kernel : json["kernels"]) {
    const auto& first = kernel["alternatives"][0];
    EXPECT_LE(first["q50_us"], first["q99_us"]) << kernel["name"];
    EXPECT_GE(first["samples"], 3);
  }
  // Late or not is the machine's matter, not this test's.
  const ToolResult solved =
      RunPlan({"solve", TestData("plan/robot.json"), "--profile=" + profile,
               "--time_limit=0.2", "--json"});
  const auto plan = nlohmann::json::parse(solved.out, nullptr, false);
  ASSERT_FALSE(plan.is_discarded()) << solved.err;
  EXPECT_EQ(plan["period_ns"], 100'000'000);
  EXPECT_EQ(plan["jobs"], 1 + 20 + 50 + 2);
}

// The pools of each kernel, by its name, of a profile that was measured so.
std::map<std::string, std::vector<std::string>> ProfiledPools(
    const std::string& workload, const std::vector<std::string>& flags,
    const std::string& profile) {
  std::vector<std::string> arguments = {"profile", workload, "--samples=3",
                                        "--output=" + profile};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const ToolResult result = RunPlan(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, std::vector<std::string>> pools;
  const auto json =
      nlohmann::json::parse(FileContents(profile), nullptr, false);
  for (const auto& kernel : json["kernels"]) {
    for (const auto& alternative : kernel["alternatives"]) {
      EXPECT_TRUE(alternative["measured"].get<bool>());
      EXPECT_GE(alternative["samples"], 3);
      pools[kernel["function"]].push_back(alternative["pool"]);
    }
  }
  return pools;
}

TEST(PlanToolTest, ProfilesNpusOfTheTopology) {
  const std::string profile = testing::TempDir() + "/npu.profile.json";
  for (const std::string& device :
       {std::string(), std::string("--npu=sim=npu-host"),
        std::string("--npu=sim=npu-sim=" TAKT_SOURCE_DIR
                    "/samples/npu/k1_cluster.json")}) {
    std::vector<std::string> flags;
    if (!device.empty()) flags.push_back(device);
    const auto pools = ProfiledPools(TestData("plan/npu.json"), flags, profile);
    ASSERT_EQ(pools.size(), 5u);
    int both = 0;
    for (const auto& [function, there] : pools) {
      EXPECT_THAT(there, testing::AnyOf(testing::ElementsAre("cores"),
                                        testing::ElementsAre("cores", "sim")))
          << function;
      both += there.size() == 2;
    }
    EXPECT_EQ(both, 3);
    // That is what can be planned: for the NPU, if it is to be quick.
    const ToolResult solved =
        RunPlan({"solve", TestData("plan/npu.json"), "--profile=" + profile,
                 "--time_limit=0.1", "--json"});
    EXPECT_EQ(solved.exit_code, 0) << solved.err;
  }
}

TEST(PlanToolTest, ProfilesOperationsOfAnNpuOnly) {
  const std::string workload = Written("npu_only.json", R"({
    "modules": [{"name": "module", "file": ")" + TestData("npu/route_a.vmfb") +
                                                            R"("}],
    "functions": [{"function": "module.run",
                   "inputs": ["32x64xi8=1", "64x48xi8=3", "32x48xi32=5"]}],
    "streams": [{"name": "s", "function": "module.run", "arrival": "once"}]})");
  const std::string profile = testing::TempDir() + "/npu_only.profile.json";
  const auto pools = ProfiledPools(workload, {"--npu=engine=npu-sim"}, profile);
  int on_npu = 0;
  for (const auto& [function, there] : pools) {
    const auto count = std::count(there.begin(), there.end(), "engine");
    EXPECT_TRUE(count == 0 || there.size() == 1) << function;
    on_npu += static_cast<int>(count);
  }
  EXPECT_GT(on_npu, 0);
  // The machine that it was measured on has that NPU.
  const ToolResult solved = RunPlan({"solve", workload, "--profile=" + profile,
                                     "--time_limit=0.1", "--json"});
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  // Without one it cannot be.
  EXPECT_NE(RunPlan({"profile", workload, "--samples=3"}).exit_code, 0);
}

TEST(PlanToolTest, RefusesNpusThatAreNone) {
  const std::string workload = TestData("plan/npu.json");
  EXPECT_THAT(RunPlan({"profile", workload, "--npu=sim"}).err,
              HasSubstr("--npu: expected NAME=DEVICE, got sim"));
  EXPECT_THAT(RunPlan({"profile", workload, "--npu=sim=npu-none"}).err,
              HasSubstr("--npu=sim=npu-none: no such NPU"));
  EXPECT_THAT(RunPlan({"profile", workload, "--npu=sim=npu-sim=nowhere"}).err,
              HasSubstr("nowhere"));
}

TEST(PlanToolTest, RefusesWorkloadsThatAreNone) {
  const std::string path = Written("none.json", R"({"streams": [{}]})");
  EXPECT_EQ(RunPlan({"solve", path}).exit_code, 3);
  EXPECT_THAT(RunPlan({"solve", TestData("plan/robot.json")}).err,
              HasSubstr("topology"));
  EXPECT_EQ(RunPlan({"profile", TestData("plan/shot.json")}).exit_code, 3);
}

TEST(PlanToolTest, WritesToStdoutForADash) {
  const std::string schedule =
      R"({"dispatches": {"a": {"hardware_target": "CPU_P#0", "start_time": 0,
          "duration": 1.5, "job_name": "j", "module_name": "m$x"}}})";
  const ToolResult imported =
      RunPlan({"import", Written("dash.json", schedule), "--output=-"});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  const std::string plan = ScratchPath("dash.taktplan");
  WriteContents(plan, imported.out);
  EXPECT_EQ(RunPlan({"check", plan}).out, "valid, makespan 1500000 ns\n");
  const ToolResult exported = RunPlan({"export", plan, "--output=-"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_TRUE(nlohmann::json::parse(exported.out).contains("dispatches"));
}

TEST(PlanToolTest, ReportsTheModuleOfAProfile) {
  const std::string path = Written("learned", "TAKTPROF and more");
  for (const char* command : {"solve", "analyse", "simulate"}) {
    const ToolResult result =
        RunPlan({command, TestData("plan/shot.json"), "--profile=" + path});
    EXPECT_EQ(result.exit_code, 3) << command;
    EXPECT_THAT(result.err, HasSubstr("is a profile of the scheduler"));
    EXPECT_THAT(result.err, HasSubstr("takt-sim --profile="));
  }
}

TEST(PlanToolTest, AFileThatIsNoPlanIsNone) {
  const ToolResult result = RunPlan({"check", TestData("plan/shot.json")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("shot.json: "));
  EXPECT_THAT(result.err, HasSubstr("plan"));
}

TEST(PlanToolTest, CommandsHaveHelpOfTheirOwn) {
  const ToolResult result = RunPlan({"simulate", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("takt-plan simulate WORKLOAD.json"));
  EXPECT_THAT(result.out, HasSubstr("One of strict, adaptive."));
  EXPECT_EQ(result.out.find("--time_limit"), std::string::npos);
}

TEST(PlanToolTest, AFileThatCannotBeWrittenHasAnExitCode) {
  for (const char* path : {"/", "/dev/full", "/no/such/file"}) {
    EXPECT_EQ(RunPlan({"solve", TestData(kInstance), "--time_limit=0",
                       std::string("--output=") + path})
                  .exit_code,
              3)
        << path;
  }
}

TEST(PlanToolTest, RefusesBadFlags) {
  EXPECT_EQ(RunPlan({}).exit_code, 2);
  EXPECT_EQ(RunPlan({"fly", TestData(kInstance)}).exit_code, 2);
  EXPECT_EQ(RunPlan({"solve"}).exit_code, 2);
  EXPECT_EQ(RunPlan({"solve", TestData(kInstance), "--threads=0"}).exit_code,
            2);
  EXPECT_EQ(
      RunPlan({"solve", TestData(kInstance), "--time_limit=-1"}).exit_code, 2);
  const ToolResult profile =
      RunPlan({"solve", TestData(kInstance), "--profile=/no/such/file"});
  EXPECT_EQ(profile.exit_code, 2);
  EXPECT_THAT(profile.err, HasSubstr("--profile is for workloads"));
  EXPECT_EQ(RunPlan({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace takt::tools
