// takt/device.hpp - devices from C++; contracts are in takt/device.h, rules for
// errors and ownership in takt/takt.hpp.
#ifndef TAKT_DEVICE_HPP_
#define TAKT_DEVICE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "takt/device.h"
#include "takt/executor.hpp"
#include "takt/instance.hpp"
#include "takt/memory.h"
#include "takt/statistics.h"

namespace takt {
inline namespace cxx {

// Where work runs; see takt/device.h.
class Device : public Object<Device, takt_device_t, takt_device_retain,
                             takt_device_release> {
 public:
  using Object::Object;
  static Result<Device> Create(const Instance& instance,
                               const std::string& name) {
    return Create(instance, name, nullptr);
  }
  static Result<Device> Create(const Instance& instance,
                               const std::string& name,
                               const takt_device_options_t& options) {
    return Create(instance, name, &options);
  }
  // `options` may be nullptr, for the defaults.
  static Result<Device> Create(const Instance& instance,
                               const std::string& name,
                               const takt_device_options_t* options) {
    takt_device_t* device = nullptr;
    takt_status_t status =
        takt_device_create(instance.get(), name.c_str(), options, &device);
    return TakeResult<Device>(status, device);
  }
  std::string_view name() const { return takt_device_name(get()); }
  std::optional<int64_t> QueryI64(const std::string& category,
                                  const std::string& key) const {
    int64_t value = 0;
    if (!takt_device_query_i64(get(), category.c_str(), key.c_str(), &value)) {
      return std::nullopt;
    }
    return value;
  }
  takt_device_statistics_t statistics() const {
    takt_device_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_device_query_statistics(get(), &statistics);
    return statistics;
  }
  void Trim() const { takt_device_trim(get()); }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_DEVICE_HPP_
