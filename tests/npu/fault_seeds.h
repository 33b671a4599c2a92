// How many seeds tests of faults go through, and of which kinds. A few by
// default; all that are promised by
//   TAKT_FAULT_SEEDS=1000 npu_unit_test && ... npu_unit_offload_test
#ifndef TAKT_TESTS_NPU_FAULT_SEEDS_H_
#define TAKT_TESTS_NPU_FAULT_SEEDS_H_

#include <cstdlib>
#include <string>

namespace takt::npu {

inline int FaultSeedCount() {
  const char* const given = std::getenv("TAKT_FAULT_SEEDS");
  return given != nullptr ? std::atoi(given) : 60;
}

// Members of a profile's "faults", one kind each.
inline constexpr const char* kFaultKinds[] = {
    R"("error": 0.3)",
    R"("time_out": 0.3)",
    R"("time_out": 0.3, "stuck": 0.5)",
    R"("late": 0.3)",
    R"("twice": 0.5)",
    R"("lost": 0.3)",
    R"("lost": 0.3, "reset_failures": 2)",
    R"("overheat": 0.3)",
};

inline std::string FaultyProfile(int seed, const std::string& kind,
                                 const std::string& members = "") {
  return "{" + members + "\"faults\": {\"seed\": " + std::to_string(seed) +
         ", " + kind + "}}";
}

}  // namespace takt::npu

#endif  // TAKT_TESTS_NPU_FAULT_SEEDS_H_
