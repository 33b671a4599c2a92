// takt/function.hpp - functions from C++; contracts are in takt/function.h,
// rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_FUNCTION_HPP_
#define TAKT_FUNCTION_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/function.h"
#include "takt/instance.hpp"
#include "takt/memory.h"
#include "takt/signature.hpp"
#include "takt/value.hpp"

namespace takt {
inline namespace cxx {

// An exported function of a context; see takt/function.h.
class Function : public Object<Function, takt_function_t, takt_function_retain,
                               takt_function_release> {
 public:
  using Object::Object;
  std::string_view name() const { return takt_function_name(get()); }
  Signature signature() const {
    return Signature::Retain(takt_function_signature(get()));
  }
  // Returns the same function with the names, element types and shapes of the
  // declaration.
  Result<Function> Declare(const std::string& declaration) const {
    takt_function_t* function = nullptr;
    takt_status_t status =
        takt_function_declare(get(), declaration.c_str(), &function);
    return TakeResult<Function>(status, function);
  }
  Result<size_t> FindInput(const std::string& name) const {
    size_t index = 0;
    Status status(takt_function_find_input(get(), name.c_str(), &index));
    if (!status.ok()) return status;
    return index;
  }
  Result<size_t> FindOutput(const std::string& name) const {
    size_t index = 0;
    Status status(takt_function_find_output(get(), name.c_str(), &index));
    if (!status.ok()) return status;
    return index;
  }
  // Brings named arguments into the function's order. All must be present.
  Result<std::vector<Value>> NamedArguments(
      const std::vector<std::pair<std::string, Value>>& named) const {
    std::vector<Value> arguments(
        takt_signature_argument_count(takt_function_signature(get())));
    if (named.size() != arguments.size()) {
      return Status(TAKT_STATUS_INVALID_ARGUMENT,
                    std::string(name()) + ": expected " +
                        std::to_string(arguments.size()) + " inputs, got " +
                        std::to_string(named.size()));
    }
    std::vector<bool> is_given(arguments.size());
    for (const auto& [key, value] : named) {
      Result<size_t> index = FindInput(key);
      if (!index.ok()) return index.status();
      if (is_given[*index]) {
        return Status(TAKT_STATUS_INVALID_ARGUMENT,
                      std::string(name()) + ": " + key + " is given twice");
      }
      is_given[*index] = true;
      arguments[*index] = value;
    }
    return arguments;
  }

  takt_binding_statistics_t binding_statistics() const {
    takt_binding_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_status_free(takt_function_query_bindings(get(), &statistics));
    return statistics;
  }
  std::optional<std::string_view> attribute(const std::string& key) const {
    const char* value = takt_function_attribute(get(), key.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  }

  // Calls the function and waits; `results` are overwritten. Allocates nothing
  // once warm.
  Status Invoke(std::span<const Value> arguments, std::span<Value> results,
                const takt_invoke_options_t* options = nullptr) const {
    for (Value& result : results) result = Value();
    return Status(takt_function_invoke(
        get(), options, arguments.size(),
        reinterpret_cast<const takt_value_t*>(arguments.data()), results.size(),
        reinterpret_cast<takt_value_t*>(results.data())));
  }
  // Calls the function with values, views and other objects as arguments:
  // act.Invoke(view, 3, 0.5f).
  template <typename... Arguments>
  requires(std::is_convertible_v<const Arguments&, Value>&&...)
      Result<std::vector<Value>> Invoke(const Arguments&... arguments)
  const {
    const std::array<Value, sizeof...(Arguments)> values = {
        Value(arguments)...};
    std::vector<Value> results(
        takt_signature_result_count(takt_function_signature(get())));
    Status status = Invoke(std::span<const Value>(values), results);
    if (!status.ok()) return status;
    return results;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_FUNCTION_HPP_
