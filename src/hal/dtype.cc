#include "hal/dtype.h"

namespace takt::hal {
namespace {

using Kind = NumericalKind;

struct Dtype {
  const char* name;
  Kind kind;
  uint32_t bits;
};
constexpr Dtype kDtypes[] = {
    {"BOOL", Kind::kBoolean, 8},         {"I8", Kind::kSignedInteger, 8},
    {"I16", Kind::kSignedInteger, 16},   {"I32", Kind::kSignedInteger, 32},
    {"I64", Kind::kSignedInteger, 64},   {"U8", Kind::kUnsignedInteger, 8},
    {"U16", Kind::kUnsignedInteger, 16}, {"U32", Kind::kUnsignedInteger, 32},
    {"U64", Kind::kUnsignedInteger, 64}, {"F16", Kind::kFloatIeee, 16},
    {"F32", Kind::kFloatIeee, 32},       {"F64", Kind::kFloatIeee, 64},
    {"BF16", Kind::kBFloat, 16},         {"F8_E5M2", Kind::kF8E5M2, 8},
    {"F8_E4M3", Kind::kF8E4M3FN, 8},
};

}  // namespace

const char* DtypeName(ElementType type) {
  Kind kind = KindOf(type);
  if (kind == Kind::kInteger) kind = Kind::kSignedInteger;
  if (kind == Kind::kFloat) kind = Kind::kFloatIeee;
  for (const Dtype& dtype : kDtypes) {
    if (dtype.kind == kind && dtype.bits == BitCount(type)) return dtype.name;
  }
  return nullptr;
}

uint32_t DtypeBits(absl::string_view name) {
  for (const Dtype& dtype : kDtypes) {
    if (name == dtype.name) return dtype.bits;
  }
  return 0;
}

}  // namespace takt::hal
