// Numbers in flags and inputs: the whole text must be one, unlike with the C
// functions behind them.
#ifndef TAKT_TOOLS_COMMON_NUMBER_H_
#define TAKT_TOOLS_COMMON_NUMBER_H_

#include <cstdint>
#include <string_view>

#include "tools/common/status.h"

namespace takt::tools {

// Decimal, 0x hexadecimal or 0 octal; with a sign.
//
// Errors: INVALID_ARGUMENT  no number; OUT_OF_RANGE  beyond 64 bits.
Result<int64_t> ParseInteger(std::string_view text);
// Reads an integer up to 2^64 - 1, without a minus sign. Errors as above.
Result<uint64_t> ParseUnsigned(std::string_view text);

// Reads a number in the forms of strtod(): "1.5", "1e-3", "0x1p3", "nan",
// "-inf". A number that is too large becomes infinite, one too small 0.
Result<double> ParseReal(std::string_view text);
// The same, rounded once, to a float.
Result<float> ParseFloat(std::string_view text);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_NUMBER_H_
