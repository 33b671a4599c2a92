#include "api/topology.h"

#include "abi/c_string.h"
#include "abi/guard.h"
#include "api/handle.h"
#include "takt/topology.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<Topology>> Parse(const char* json) {
  TAKT_ASSIGN_OR_RETURN(topology::Topology value,
                        topology::Topology::FromJson(json));
  return Ref<Topology>::Adopt(new Topology(std::move(value)));
}

absl::StatusOr<Ref<Topology>> Discover() {
  return Ref<Topology>::Adopt(new Topology(topology::DiscoverTopology()));
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_topology_discover(takt_topology_t** out_topology) {
  TAKT_REQUIRE(out_topology);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::Discover(), out_topology);
  }
  TAKT_CATCH_ALL(out_topology);
}

takt_status_t takt_topology_parse(const char* json,
                                  takt_topology_t** out_topology) {
  TAKT_REQUIRE(json, out_topology);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::Parse(json), out_topology);
  }
  TAKT_CATCH_ALL(json, out_topology);
}

void takt_topology_retain(takt_topology_t* topology) {
  takt::api::RetainHandle(topology);
}

void takt_topology_release(takt_topology_t* topology) {
  takt::api::ReleaseHandle(topology);
}

takt_status_t takt_topology_to_json(const takt_topology_t* topology,
                                    char** out_text) {
  TAKT_REQUIRE(topology, out_text);
  TAKT_TRY {
    return takt::api::GiveText(__func__, Unwrap(topology)->value().ToJson(),
                               out_text);
  }
  TAKT_CATCH_ALL(topology, out_text);
}
