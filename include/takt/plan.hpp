// takt/plan.hpp - plans from C++; contracts are in takt/plan.h.
#ifndef TAKT_PLAN_HPP_
#define TAKT_PLAN_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstdint>
#include <span>
#include <string>

#include "takt/core.hpp"
#include "takt/plan.h"

namespace takt {
inline namespace cxx {

// A plan; see takt/plan.h.
class Plan
    : public Object<Plan, takt_plan_t, takt_plan_retain, takt_plan_release> {
 public:
  using Object::Object;

  static Result<Plan> Load(const std::string& path) {
    takt_plan_t* plan = nullptr;
    takt_status_t status = takt_plan_load_file(path.c_str(), &plan);
    return TakeResult<Plan>(status, plan);
  }
  static Result<Plan> Load(const std::string& name,
                           std::span<const uint8_t> bytes) {
    takt_plan_t* plan = nullptr;
    takt_status_t status =
        takt_plan_load(name.c_str(), bytes.data(), bytes.size(), &plan);
    return TakeResult<Plan>(status, plan);
  }
  // The bytes that Load() reads.
  Result<std::string> Encode() const {
    char* data = nullptr;
    size_t byte_length = 0;
    Status status(takt_plan_encode(get(), &data, &byte_length));
    if (!status.ok()) return status;
    std::string bytes(data, byte_length);
    takt_string_free(data);
    return bytes;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_PLAN_HPP_
