// The schedules in benchmarks/records. Without the instances, a test checks
// what a record says of itself; with TAKT_FJSP_DIR, the checker checks it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "solve/instance_reader.h"
#include "solve/problem.h"

namespace takt::solve {
namespace {

using Json = nlohmann::json;

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Json> Records() {
  std::vector<Json> records;
  const std::string folder =
      std::string(TAKT_SOURCE_DIR) + "/benchmarks/records";
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    records.push_back(Json::parse(Read(entry.path()), nullptr, false));
    EXPECT_FALSE(records.back().is_discarded()) << entry.path();
  }
  return records;
}

TEST(RecordsTest, AreBetterThanWhatIsPublishedAndHaveASeed) {
  const std::vector<Json> records = Records();
  EXPECT_FALSE(records.empty());
  for (const Json& record : records) {
    EXPECT_LT(record["makespan"], record["published"]) << record["instance"];
    EXPECT_GE(record["makespan"], record["lower_bound"]) << record["instance"];
    EXPECT_GE(record["seed"], 1) << record["instance"];
  }
}

TEST(RecordsTest, NoMachineRunsTwoOperationsAtOnce) {
  for (const Json& record : Records()) {
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> uses;
    int64_t makespan = 0;
    for (const Json& entry : record["schedule"]) {
      const auto end = entry["end"].get<int64_t>();
      makespan = std::max(makespan, end);
      for (const Json& machine : entry["machines"]) {
        uses[machine.get<int64_t>()].emplace_back(entry["start"], end);
      }
    }
    EXPECT_EQ(record["makespan"], makespan) << record["instance"];
    for (auto& [machine, list] : uses) {
      std::sort(list.begin(), list.end());
      for (size_t i = 1; i < list.size(); ++i) {
        EXPECT_LE(list[i - 1].second, list[i].first)
            << record["instance"] << " machine " << machine;
      }
    }
  }
}

TEST(RecordsTest, AreSchedulesOfTheirInstances) {
  const char* folder = std::getenv("TAKT_FJSP_DIR");
  if (folder == nullptr) GTEST_SKIP() << "TAKT_FJSP_DIR is not set";
  for (const Json& record : Records()) {
    const auto name = record["instance"].get<std::string>();
    const auto problem =
        ReadFjs(Read(std::filesystem::path(folder) / (name + ".fjs")));
    ASSERT_TRUE(problem.ok()) << name << ": " << problem.status();
    Schedule schedule;
    schedule.makespan = record["makespan"];
    for (const Json& entry : record["schedule"]) {
      schedule.entries.push_back({entry["alternative"], entry["start"]});
    }
    const absl::Status status = CheckSchedule(*problem, schedule);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
  }
}

}  // namespace
}  // namespace takt::solve
