// takt/context.hpp - contexts from C++; contracts are in takt/context.h, rules
// for errors and ownership in takt/takt.hpp.
#ifndef TAKT_CONTEXT_HPP_
#define TAKT_CONTEXT_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <string>
#include <vector>

#include "takt/context.h"
#include "takt/device.hpp"
#include "takt/function.hpp"
#include "takt/instance.hpp"
#include "takt/module.hpp"
#include "takt/parameters.hpp"
#include "takt/statistics.h"

namespace takt {
inline namespace cxx {

// Linked modules with their state; see takt/context.h.
class Context : public Object<Context, takt_context_t, takt_context_retain,
                              takt_context_release> {
 public:
  using Object::Object;
  static Result<Context> Create(
      const Instance& instance, const std::vector<Module>& modules,
      const std::vector<Device>& devices = {},
      const std::vector<Parameters>& parameters = {}) {
    const auto module_pointers = Pointers(modules);
    const auto device_pointers = Pointers(devices);
    const auto parameters_pointers = Pointers(parameters);
    takt_context_options_t options;
    takt_context_options_init(&options);
    options.modules = module_pointers.data();
    options.module_count = module_pointers.size();
    options.devices = device_pointers.data();
    options.device_count = device_pointers.size();
    options.parameters = parameters_pointers.data();
    options.parameters_count = parameters_pointers.size();
    takt_context_t* context = nullptr;
    takt_status_t status =
        takt_context_create(instance.get(), &options, &context);
    return TakeResult<Context>(status, context);
  }
  Result<Function> FindFunction(const std::string& name) const {
    takt_function_t* function = nullptr;
    takt_status_t status =
        takt_context_find_function(get(), name.c_str(), &function);
    return TakeResult<Function>(status, function);
  }
  Status Notify(takt_context_signal_t signal) const {
    return Status(takt_context_notify(get(), signal));
  }
  takt_context_statistics_t statistics() const {
    takt_context_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_context_query_statistics(get(), &statistics);
    return statistics;
  }

 private:
  template <typename T>
  static std::vector<typename T::CType*> Pointers(
      const std::vector<T>& objects) {
    std::vector<typename T::CType*> pointers;
    for (const T& object : objects) pointers.push_back(object.get());
    return pointers;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_CONTEXT_HPP_
