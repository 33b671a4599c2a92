// takt/tools/workload.hpp - workloads from C++; contracts are in
// takt/tools/workload.h.
//
// Part of libtakt-tools. This interface may change with every release.
#ifndef TAKT_TOOLS_WORKLOAD_HPP_
#define TAKT_TOOLS_WORKLOAD_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstdint>
#include <string>
#include <vector>

#include "takt/plan.hpp"
#include "takt/takt.hpp"
#include "takt/tools/workload.h"

namespace takt {
inline namespace cxx {

// The functions that streams call; see takt/tools/workload.h.
class Workload : public Object<Workload, takt_workload_t, takt_workload_retain,
                               takt_workload_release> {
 public:
  using Object::Object;

  // `profile` "": none. `topology` nullptr: the workload's own.
  static Result<Workload> Parse(const std::string& json,
                                const std::string& profile = "",
                                const takt_topology_t* topology = nullptr) {
    takt_workload_options_t options;
    takt_workload_options_init(&options);
    options.profile = profile.data();
    options.profile_length = profile.size();
    options.topology = topology;
    takt_workload_t* workload = nullptr;
    takt_status_t status =
        takt_workload_parse(json.data(), json.size(), &options, &workload);
    return TakeResult<Workload>(status, workload);
  }
  takt_workload_info_t info() const { return takt_workload_info(get()); }
  // `options` nullptr: the defaults; `report` may be nullptr.
  Result<Plan> Solve(const takt_plan_solve_options_t* options = nullptr,
                     takt_workload_plan_report_t* report = nullptr) const {
    takt_plan_t* plan = nullptr;
    takt_status_t status = takt_workload_plan(get(), options, &plan, report);
    return TakeResult<Plan>(status, plan);
  }
  struct ResponseBound {
    std::string stream;
    int64_t deadline_ns;
    int64_t bound_ns;
    int64_t least_ns;
    int64_t blocking_ns;
    std::string reason;
  };
  Result<std::vector<ResponseBound>> Analyse() const {
    std::vector<ResponseBound> bounds;
    Status status(takt_workload_analyse(
        get(),
        [](void* user_data, const takt_response_bound_t* b) {
          static_cast<std::vector<ResponseBound>*>(user_data)->push_back(
              {b->stream, b->deadline_ns, b->bound_ns, b->least_ns,
               b->blocking_ns, b->reason});
        },
        &bounds));
    if (!status.ok()) return status;
    return bounds;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TOOLS_WORKLOAD_HPP_
