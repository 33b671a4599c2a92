// Options of windows.
#ifndef TAKT_FOLLOW_WINDOW_OPTIONS_H_
#define TAKT_FOLLOW_WINDOW_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "follow/window.h"

namespace takt::follow {

struct WindowOptions {
  int64_t length_ns = 100'000'000;
  // Its budget, if 0, is a twentieth of the length.
  WindowPlanning planning;
  // Lateness that ends a plan.
  int64_t divergence_ns = 500'000;
  // The largest number of operations of a window: more of them could not be
  // planned within the budget.
  size_t operation_count_max = 2'000;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_WINDOW_OPTIONS_H_
