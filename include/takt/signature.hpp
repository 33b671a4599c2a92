// takt/signature.hpp - signatures from C++; contracts are in takt/signature.h,
// rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_SIGNATURE_HPP_
#define TAKT_SIGNATURE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstddef>
#include <string_view>

#include "takt/core.hpp"
#include "takt/signature.h"

namespace takt {
inline namespace cxx {

// The types of a function's arguments and results; see takt/signature.h.
class Signature : public Object<Signature, takt_signature_t,
                                takt_signature_retain, takt_signature_release> {
 public:
  using Object::Object;
  bool is_async() const { return takt_signature_is_async(get()); }
  std::string_view convention() const {
    return takt_signature_convention(get());
  }
  std::string_view declaration() const {
    return takt_signature_declaration(get());
  }
  size_t argument_count() const { return takt_signature_argument_count(get()); }
  size_t result_count() const { return takt_signature_result_count(get()); }
  // The type of argument `index`; all zeros beyond the count.
  const takt_value_type_t& argument(size_t index) const {
    return OrNone(takt_signature_argument(get(), index));
  }
  const takt_value_type_t& result(size_t index) const {
    return OrNone(takt_signature_result(get(), index));
  }

 private:
  static const takt_value_type_t& OrNone(const takt_value_type_t* type) {
    static constexpr takt_value_type_t kNone = {};
    return type != nullptr ? *type : kNone;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_SIGNATURE_HPP_
