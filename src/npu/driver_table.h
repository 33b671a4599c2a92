// Checks of driver tables. A checked table has the right version, all required
// functions, and the size that this library knows.
#ifndef TAKT_NPU_DRIVER_TABLE_H_
#define TAKT_NPU_DRIVER_TABLE_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Returns the table in the size that this library knows. INVALID_ARGUMENT for
// another version, a size of no version, no name, or a missing required
// function.
absl::StatusOr<takt_npu_driver_t> CheckDriver(const takt_npu_driver_t* table);

// Reads the capabilities. Values that contradict each other or are out of range
// are an error.
absl::StatusOr<takt_npu_capabilities_t> QueryCapabilities(
    const takt_npu_driver_t& driver, void* unit);

// Copies a struct to a caller whose version of it may be shorter: no more than
// the caller's size is written.
template <typename T>
void GiveStruct(T value, T* out) {
  value.struct_size = out->struct_size;
  std::memcpy(static_cast<void*>(out), &value,
              std::min(out->struct_size, sizeof(value)));
}

// Returns `result`, or FAILED for a number that is not a result (from a faulty
// driver).
takt_npu_result_t KnownResult(takt_npu_result_t result);

// The name of a result: "FAILED". "?" for a number that is no result.
const char* ResultName(takt_npu_result_t result);

// OK, or the result as an error: "`what`: FAILED".
absl::Status ResultStatus(takt_npu_result_t result, absl::string_view what);

// A shared object with a driver in it, kept loaded.
class DriverLibrary {
 public:
  // `path` without a slash is a file of the current directory, if that has one,
  // else one that the system's loader finds. NOT_FOUND if there is no such
  // file, or it does not export a driver; INVALID_ARGUMENT as CheckDriver().
  static absl::StatusOr<std::shared_ptr<DriverLibrary>> Load(
      const std::string& path);
  ~DriverLibrary();
  DriverLibrary(const DriverLibrary&) = delete;
  DriverLibrary& operator=(const DriverLibrary&) = delete;

  const takt_npu_driver_t* table() const { return table_; }

 private:
  DriverLibrary(void* handle, const takt_npu_driver_t* table)
      : handle_(handle), table_(table) {}

  void* const handle_;
  const takt_npu_driver_t* const table_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_DRIVER_TABLE_H_
