// A CodeLoader loads executable formats that the CPU device does not support. A
// device of another kind supplies one.
//
// Thread-safety: every method may run on any thread, and on several threads at
// the same time.
#ifndef TAKT_CPU_CODE_LOADER_H_
#define TAKT_CPU_CODE_LOADER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "cpu/loaded_executable.h"

namespace takt::cpu {

class CodeLoader {
 public:
  virtual ~CodeLoader() = default;

  // Asked before the device's own formats.
  virtual bool Takes(absl::string_view format) const = 0;
  // Whether the device supports no other formats.
  virtual bool is_exclusive() const = 0;
  // As ExecutableLoader::Load(), for a format that it takes.
  virtual absl::StatusOr<std::shared_ptr<ExecutableCode>> Load(
      absl::string_view format, absl::Span<const uint8_t> data,
      const Ref<Object>& owner, absl::Span<const uint32_t> constants) = 0;
  // Returns the code that represents native code which the device has loaded.
  virtual std::shared_ptr<ExecutableCode> Wrap(
      std::shared_ptr<ExecutableCode> code) {
    return code;
  }
  // Called when the device ends, while its threads still run.
  virtual void Retire() {}
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_CODE_LOADER_H_
