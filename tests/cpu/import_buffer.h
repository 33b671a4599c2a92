// A buffer as compiled kernels lay it out among the parameters of an import.
#ifndef TAKT_TESTS_CPU_IMPORT_BUFFER_H_
#define TAKT_TESTS_CPU_IMPORT_BUFFER_H_

#include <cstdint>

namespace takt::cpu {

struct ImportBuffer {
  const void* base;
  int64_t offset;
  int64_t size;
};

}  // namespace takt::cpu

#endif  // TAKT_TESTS_CPU_IMPORT_BUFFER_H_
