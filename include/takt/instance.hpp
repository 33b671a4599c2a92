// takt/instance.hpp - instances from C++; contracts are in takt/instance.h,
// rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_INSTANCE_HPP_
#define TAKT_INSTANCE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstddef>
#include <cstdint>

#include "takt/core.hpp"
#include "takt/instance.h"

namespace takt {
inline namespace cxx {

// The root object; see takt/instance.h.
class Instance : public Object<Instance, takt_instance_t, takt_instance_retain,
                               takt_instance_release> {
 public:
  using Object::Object;
  static Result<Instance> Create(
      const takt_instance_options_t* options = nullptr) {
    takt_instance_t* instance = nullptr;
    takt_status_t status = takt_instance_create(options, &instance);
    return TakeResult<Instance>(status, instance);
  }
  uint32_t worker_count() const { return takt_instance_worker_count(get()); }
  void Trim() const { takt_instance_trim(get()); }
  // The number of pieces of work that ran, and the time of the next call.
  struct Ran {
    size_t count = 0;
    int64_t next_ns = 0;
  };
  Result<Ran> RunReady(int64_t max_ns) const {
    Ran ran;
    Status status(
        takt_instance_run_ready(get(), max_ns, &ran.count, &ran.next_ns));
    if (!status.ok()) return status;
    return ran;
  }
  takt_instance_statistics_t statistics() const {
    takt_instance_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_status_free(takt_instance_query_statistics(get(), &statistics));
    return statistics;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_INSTANCE_HPP_
