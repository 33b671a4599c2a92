// takt/executor.hpp - executors from C++; contracts are in takt/executor.h,
// rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_EXECUTOR_HPP_
#define TAKT_EXECUTOR_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include "takt/executor.h"
#include "takt/instance.hpp"

namespace takt {
inline namespace cxx {

// A group of worker threads; see takt/executor.h.
class Executor : public Object<Executor, takt_executor_t, takt_executor_retain,
                               takt_executor_release> {
 public:
  using Object::Object;
  static Result<Executor> Create(
      const Instance& instance,
      const takt_executor_options_t* options = nullptr) {
    takt_executor_t* executor = nullptr;
    takt_status_t status =
        takt_executor_create(instance.get(), options, &executor);
    return TakeResult<Executor>(status, executor);
  }
  takt_executor_statistics_t statistics() const {
    takt_executor_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_executor_query_statistics(get(), &statistics);
    return statistics;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_EXECUTOR_HPP_
