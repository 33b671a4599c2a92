// An Executable is device code that has been loaded: one blob of a module,
// with its exported functions. Immutable; shared by contexts whose blobs have
// the same content.
#ifndef TAKT_HAL_EXECUTABLE_H_
#define TAKT_HAL_EXECUTABLE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/object.h"

namespace takt::hal {

class Executable : public Object {
 public:
  static constexpr ObjectType kType{"hal.executable", &CloneIsSame};

  // Identifies the implementation, so that a device recognizes its own
  // executables. The address is only compared. nullptr: no device's.
  virtual const void* implementation() const { return nullptr; }

  virtual size_t function_count() const = 0;
  virtual absl::string_view function_name(size_t function) const = 0;
  // u32 constants and bindings that a dispatch of `function` must supply.
  virtual size_t constant_count(size_t function) const = 0;
  virtual size_t binding_count(size_t function) const = 0;

  // The handle by which dispatches name the function. NOT_FOUND, with a list of
  // the functions.
  absl::StatusOr<uint64_t> LookupFunction(absl::string_view name) const;

 protected:
  Executable() : Object(&kType) {}
};

}  // namespace takt::hal

#endif  // TAKT_HAL_EXECUTABLE_H_
