#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace takt {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: takt: check failed: %s\n", file, line,
               condition);
  std::abort();
}

}  // namespace takt
