// Quantiles as the C API has them.
#ifndef TAKT_API_QUANTILES_H_
#define TAKT_API_QUANTILES_H_

#include "base/histogram.h"
#include "takt/stream.h"

namespace takt::api {

inline takt_quantiles_t ToQuantiles(const Quantiles& quantiles) {
  return {quantiles.count, quantiles.q50, quantiles.q99, quantiles.q999,
          quantiles.max};
}

}  // namespace takt::api

#endif  // TAKT_API_QUANTILES_H_
