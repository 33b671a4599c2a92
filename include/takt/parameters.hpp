// takt/parameters.hpp - parameters from C++; contracts are in
// takt/parameters.h, rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_PARAMETERS_HPP_
#define TAKT_PARAMETERS_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <string>

#include "takt/instance.hpp"
#include "takt/parameters.h"

namespace takt {
inline namespace cxx {

// Weights in a file of their own; see takt/parameters.h.
class Parameters
    : public Object<Parameters, takt_parameters_t, takt_parameters_retain,
                    takt_parameters_release> {
 public:
  using Object::Object;
  static Result<Parameters> Open(const Instance& instance,
                                 const std::string& path,
                                 const std::string& scope = "") {
    takt_parameters_options_t options;
    takt_parameters_options_init(&options);
    options.scope = scope.c_str();
    return Open(instance, path, options);
  }
  static Result<Parameters> Open(const Instance& instance,
                                 const std::string& path,
                                 const takt_parameters_options_t& options) {
    takt_parameters_t* parameters = nullptr;
    takt_status_t status = takt_parameters_open(instance.get(), path.c_str(),
                                                &options, &parameters);
    return TakeResult<Parameters>(status, parameters);
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_PARAMETERS_HPP_
