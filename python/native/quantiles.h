// Quantiles in Python.
#ifndef TAKT_PYTHON_QUANTILES_H_
#define TAKT_PYTHON_QUANTILES_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

namespace takt::python {

inline nanobind::dict DescribeQuantiles(const takt_quantiles_t& from) {
  nanobind::dict result;
  result["count"] = from.count;
  result["q50_ns"] = from.q50;
  result["q99_ns"] = from.q99;
  result["q999_ns"] = from.q999;
  result["max_ns"] = from.max;
  return result;
}

}  // namespace takt::python

#endif  // TAKT_PYTHON_QUANTILES_H_
