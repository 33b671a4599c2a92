// A CodeLoader knows executable formats that the CPU device itself does not: a
// device of another kind brings one.
//
// Thread-safety: every method may run on any thread, also at once.
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
  // The device takes no others.
  virtual bool is_exclusive() const = 0;
  // As ExecutableLoader::Load(), for a format that it takes.
  virtual absl::StatusOr<std::shared_ptr<ExecutableCode>> Load(
      absl::string_view format, absl::Span<const uint8_t> data,
      const Ref<Object>& owner, absl::Span<const uint32_t> constants) = 0;
  // What stands for native code that its device has loaded.
  virtual std::shared_ptr<ExecutableCode> Wrap(
      std::shared_ptr<ExecutableCode> code) {
    return code;
  }
  // The device ends; its threads are still there.
  virtual void Retire() {}
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_CODE_LOADER_H_
