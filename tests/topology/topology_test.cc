#include "topology/topology.h"

#include <sched.h>

#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::topology {
namespace {

using ::testing::HasSubstr;

std::string ReadFixture(const std::string& name) {
  std::ifstream file(std::string(TAKT_TESTDATA_DIR) + "/topology/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TopologyTest, ReadsABoard) {
  const auto board = Topology::FromJson(ReadFixture("two_clusters_npu.json"));
  ASSERT_TRUE(board.ok()) << board.status();
  ASSERT_EQ(board->clusters.size(), 2u);
  EXPECT_EQ(board->clusters[1].name, "little");
  EXPECT_EQ(board->clusters[1].cpus.ToString(), "4-7");
  EXPECT_EQ(board->cpu_set().ToString(), "0-7");
  EXPECT_EQ(board->core_count(), 8u);
  EXPECT_EQ(board->FindCpu(5)->cluster, 1u);
  EXPECT_EQ(board->FindCpu(8), nullptr);
  ASSERT_EQ(board->npus.size(), 1u);
  EXPECT_EQ(board->npus[0].cluster, 0);
}

TEST(TopologyTest, PrintsWhatItReads) {
  const auto board = Topology::FromJson(ReadFixture("two_clusters_npu.json"));
  ASSERT_TRUE(board.ok()) << board.status();
  const auto again = Topology::FromJson(board->ToJson());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->ToJson(), board->ToJson());
}

TEST(TopologyTest, NumbersThreadsOfACore) {
  const auto board = Topology::FromJson(
      R"({"clusters":[{"cpus":[0,1,2,3],"threads_per_core":2}]})");
  ASSERT_TRUE(board.ok()) << board.status();
  EXPECT_EQ(board->core_count(), 2u);
  EXPECT_EQ(board->FindCpu(3)->core, 1u);
  EXPECT_EQ(board->FindCpu(3)->smt_index, 1u);
}

TEST(TopologyTest, ReadsMoreThan64Cpus) {
  const auto board = Topology::FromJson(
      R"({"clusters":[{"cpus":"0-127"},{"cpus":"128-255"}]})");
  ASSERT_TRUE(board.ok()) << board.status();
  EXPECT_EQ(board->cpus.size(), 256u);
  EXPECT_EQ(board->FindCpu(200)->cluster, 1u);
}

struct BadJson {
  const char* json;
  const char* reason;
};
class TopologyErrorTest : public ::testing::TestWithParam<BadJson> {};

TEST_P(TopologyErrorTest, NamesThePlace) {
  const auto board = Topology::FromJson(GetParam().json);
  ASSERT_FALSE(board.ok());
  EXPECT_THAT(std::string(board.status().message()),
              HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    All, TopologyErrorTest,
    ::testing::Values(
        BadJson{"", "is not JSON"}, BadJson{"[]", "expected an object"},
        BadJson{"{}", "clusters: there is none"},
        BadJson{R"({"clusters":1})", "clusters: expected a list"},
        BadJson{R"({"clusters":[1]})", "clusters[0]: expected an object"},
        BadJson{R"({"clusters":[{}]})", "\"cpus\" is missing"},
        BadJson{R"({"clusters":[{"cpus":[]}]})", "at least one CPU"},
        BadJson{R"({"clusters":[{"cpus":[-1]}]})", "got -1"},
        BadJson{R"({"clusters":[{"cpus":[8192]}]})", "got 8192"},
        BadJson{R"({"clusters":[{"cpus":"3-1"}]})", "3-1"},
        BadJson{R"({"clusters":[{"cpus":"0","isa":"v"}]})", "isa"},
        BadJson{R"({"clusters":[{"cpus":"0","speed":1}]})", "speed"},
        BadJson{R"({"clusters":[{"cpus":"0","threads_per_core":0}]})",
                "threads_per_core"},
        BadJson{R"({"clusters":[{"cpus":"0-2"},{"cpus":"2"}]})",
                "CPUs 2 are in cluster cluster0 too"},
        BadJson{R"({"clusters":[{"cpus":"0"}],"npus":[{"cluster":"x"}]})",
                "there is no cluster x"},
        BadJson{R"([[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]])", "too deep"}));

TEST(TopologyTest, RejectsEveryTruncation) {
  const std::string text = ReadFixture("two_clusters_npu.json");
  ASSERT_GT(text.size(), 100u);
  const size_t end = text.rfind('}');
  for (size_t length = 0; length <= end; ++length) {
    EXPECT_FALSE(Topology::FromJson(text.substr(0, length)).ok()) << length;
  }
}

TEST(TopologyTest, SeparatesInstructionSetsOfClusters) {
  const auto board = Topology::FromJson(ReadFixture("two_clusters_npu.json"));
  ASSERT_TRUE(board.ok()) << board.status();
  const CpuSet all = board->cpu_set();
  EXPECT_EQ(board->CpusWithIsa({"v"}, all, {}).value().ToString(), "0-7");
  EXPECT_EQ(board->CpusWithIsa({"xsmtvdot"}, all, {}).value().ToString(),
            "0-3");
  const auto none =
      board->CpusWithIsa({"xsmtvdot"}, CpuSet::Parse("4-7").value(), {});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(std::string(none.status().message()),
              HasSubstr("cluster little lacks xsmtvdot"));
  EXPECT_THAT(
      std::string(board->CpusWithIsa({}, CpuSet(), {}).status().message()),
      HasSubstr("no CPU is allowed"));
}

TEST(TopologyTest, UnknownClustersHaveTheHostsFeatures) {
  const auto board = Topology::FromJson(R"({"clusters":[{"cpus":"0-1"}]})");
  ASSERT_TRUE(board.ok()) << board.status();
  const CpuSet all = board->cpu_set();
  EXPECT_TRUE(board->CpusWithIsa({"avx2"}, all, {"avx2"}).ok());
  EXPECT_FALSE(board->CpusWithIsa({"avx2"}, all, {}).ok());
}

TEST(TopologyTest, DiscoversWithinTheAffinityMask) {
  const CpuSet allowed = AllowedCpus();
  ASSERT_FALSE(allowed.empty());
  const Topology host = DiscoverTopology();
  EXPECT_TRUE(host.cpu_set().IsSubsetOf(allowed));
  EXPECT_FALSE(host.clusters.empty());
  CpuSet in_clusters;
  for (const Cluster& cluster : host.clusters) {
    EXPECT_FALSE(in_clusters.Intersects(cluster.cpus));
    in_clusters = in_clusters | cluster.cpus;
  }
  EXPECT_EQ(in_clusters, host.cpu_set());
  EXPECT_GT(host.discovery_ns, 0);
}

TEST(TopologyTest, NeverLeavesANarrowedMask) {
  cpu_set_t before, narrow;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const uint32_t cpu = static_cast<uint32_t>(AllowedCpus().Next(0));
  CPU_ZERO(&narrow);
  CPU_SET(cpu, &narrow);
  ASSERT_EQ(sched_setaffinity(0, sizeof narrow, &narrow), 0);
  const Topology host = DiscoverTopology();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(host.cpu_set().ToString(), std::to_string(cpu));
}

}  // namespace
}  // namespace takt::topology
