#include "takt/element_type.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "abi/guard.h"
#include "api/handle.h"
#include "hal/element_type.h"

using takt::api::ToStatus;

const char* takt_element_type_format(takt_element_type_t type, char* out_text) {
  TAKT_REQUIRE_OR(nullptr, out_text);
  const std::string name =
      takt::hal::ElementTypeName(static_cast<takt::hal::ElementType>(type));
  const size_t length =
      std::min<size_t>(name.size(), TAKT_ELEMENT_TYPE_TEXT_MAX - 1);
  std::memcpy(out_text, name.data(), length);
  out_text[length] = 0;
  return out_text;
}

bool takt_element_type_fits(takt_element_type_t actual,
                            takt_element_type_t expected) {
  return takt::hal::ElementTypeFits(
      static_cast<takt::hal::ElementType>(actual),
      static_cast<takt::hal::ElementType>(expected));
}

takt_status_t takt_element_type_parse(const char* text,
                                      takt_element_type_t* out_type) {
  TAKT_REQUIRE(text, out_type);
  TAKT_TRY {
    *out_type = 0;
    auto type = takt::hal::ParseElementType(text);
    if (!type.ok()) return ToStatus(__func__, type.status());
    *out_type = static_cast<takt_element_type_t>(*type);
    return nullptr;
  }
  TAKT_CATCH_ALL(text, out_type);
}

takt_status_t takt_element_type_dense_byte_length(takt_element_type_t type,
                                                  size_t rank,
                                                  const int64_t* shape,
                                                  size_t* out_byte_length) {
  TAKT_REQUIRE(Items(rank, shape), out_byte_length);
  TAKT_TRY {
    *out_byte_length = 0;
    auto length = takt::hal::DenseByteLength(
        static_cast<takt::hal::ElementType>(type), {shape, rank});
    if (!length.ok()) return ToStatus(__func__, length.status());
    *out_byte_length = *length;
    return nullptr;
  }
  TAKT_CATCH_ALL(Items(rank, shape), out_byte_length);
}
