#include "npu/driver_table.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace takt::npu {
namespace {

absl::Status Refuse(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("NPU driver: ", what));
}

// The largest size of a tile; a greater number is invalid.
constexpr uint32_t kTileMax = 1 << 16;

}  // namespace

absl::StatusOr<takt_npu_driver_t> CheckDriver(const takt_npu_driver_t* table) {
  if (table == nullptr) return Refuse("the table is NULL");
  // The size of a table up to its last required function.
  constexpr size_t kSizeMin = offsetof(takt_npu_driver_t, telemetry);
  if (table->struct_size < kSizeMin) {
    return Refuse(absl::StrCat("a table of ", table->struct_size,
                               " bytes, expected ", kSizeMin, " or more"));
  }
  if (table->version != TAKT_NPU_DRIVER_VERSION) {
    return Refuse(absl::StrCat("version ", table->version, ", expected ",
                               TAKT_NPU_DRIVER_VERSION));
  }
  takt_npu_driver_t driver;
  std::memset(&driver, 0, sizeof(driver));
  std::memcpy(&driver, table, std::min(table->struct_size, sizeof(driver)));
  if (driver.name == nullptr) return Refuse("it has no name");
  const struct {
    const char* name;
    bool is_there;
  } needed[] = {{"open", driver.open != nullptr},
                {"close", driver.close != nullptr},
                {"query", driver.query != nullptr},
                {"submit", driver.submit != nullptr},
                {"cancel", driver.cancel != nullptr},
                {"reset", driver.reset != nullptr}};
  for (const auto& each : needed) {
    if (!each.is_there) {
      return Refuse(absl::StrCat(driver.name, ": ", each.name, " is NULL"));
    }
  }
  if ((driver.allocate != nullptr || driver.import_memory != nullptr) &&
      driver.free_buffer == nullptr) {
    return Refuse(absl::StrCat(driver.name, ": free_buffer is NULL"));
  }
  if (driver.load_program != nullptr && (driver.unload_program == nullptr ||
                                         driver.describe_function == nullptr)) {
    return Refuse(absl::StrCat(
        driver.name,
        ": load_program without unload_program, describe_function"));
  }
  return driver;
}

absl::StatusOr<takt_npu_capabilities_t> QueryCapabilities(
    const takt_npu_driver_t& driver, void* unit) {
  takt_npu_capabilities_t capabilities;
  std::memset(&capabilities, 0, sizeof(capabilities));
  capabilities.struct_size = sizeof(capabilities);
  const takt_npu_result_t result = driver.query(unit, &capabilities);
  if (result != TAKT_NPU_RESULT_OK) {
    return ResultStatus(result, absl::StrCat(driver.name, ": query"));
  }
  capabilities.struct_size = sizeof(capabilities);
  capabilities.name[sizeof(capabilities.name) - 1] = '\0';
  capabilities.path[sizeof(capabilities.path) - 1] = '\0';
  const auto refuse = [&](absl::string_view what) {
    return Refuse(absl::StrCat(driver.name, ": capabilities: ", what));
  };
  if (capabilities.alignment == 0) capabilities.alignment = 1;
  if (!std::has_single_bit(capabilities.alignment)) {
    return refuse(absl::StrCat("alignment ", capabilities.alignment,
                               " is no power of two"));
  }
  for (int d = 0; d < 3; ++d) {
    uint32_t& multiple = capabilities.tile_multiple[d];
    if (multiple == 0) multiple = 1;
    uint32_t& most = capabilities.tile_max[d];
    if (most == 0) most = kTileMax;
    if (multiple > most) {
      return refuse(absl::StrCat("tiles of at most ", most, " in multiples of ",
                                 multiple));
    }
  }
  const bool in_host_memory = (capabilities.flags & TAKT_NPU_HOST_MEMORY) != 0;
  if (!in_host_memory) {
    if (driver.allocate == nullptr) {
      return refuse("neither host memory nor any of its own");
    }
    if ((capabilities.kinds & 1u << TAKT_NPU_KIND_TRANSFER) == 0) {
      return refuse("memory of its own, but no transfers");
    }
  }
  return capabilities;
}

takt_npu_result_t KnownResult(takt_npu_result_t result) {
  return static_cast<unsigned>(result) <= TAKT_NPU_RESULT_LOST
             ? result
             : TAKT_NPU_RESULT_FAILED;
}

const char* ResultName(takt_npu_result_t result) {
  switch (result) {
    case TAKT_NPU_RESULT_OK:
      return "OK";
    case TAKT_NPU_RESULT_UNSUPPORTED:
      return "UNSUPPORTED";
    case TAKT_NPU_RESULT_INVALID:
      return "INVALID";
    case TAKT_NPU_RESULT_NO_MEMORY:
      return "NO_MEMORY";
    case TAKT_NPU_RESULT_FAILED:
      return "FAILED";
    case TAKT_NPU_RESULT_CORRUPTED:
      return "CORRUPTED";
    case TAKT_NPU_RESULT_CANCELLED:
      return "CANCELLED";
    case TAKT_NPU_RESULT_OVERHEATED:
      return "OVERHEATED";
    case TAKT_NPU_RESULT_LOST:
      return "LOST";
  }
  return "?";
}

// For readers of messages without takt/npu_driver.h.
absl::string_view ExplainResult(takt_npu_result_t result) {
  switch (result) {
    case TAKT_NPU_RESULT_OK:
      break;
    case TAKT_NPU_RESULT_UNSUPPORTED:
      return "this NPU cannot do it";
    case TAKT_NPU_RESULT_INVALID:
      return "no NPU could do it: a damaged program, for example";
    case TAKT_NPU_RESULT_NO_MEMORY:
      return "the NPU's memory is full";
    case TAKT_NPU_RESULT_FAILED:
      return "the NPU reported a fault; another attempt may work";
    case TAKT_NPU_RESULT_CORRUPTED:
      return "the checksum of a transfer was wrong";
    case TAKT_NPU_RESULT_CANCELLED:
      return "the operation was cancelled";
    case TAKT_NPU_RESULT_OVERHEATED:
      return "the NPU is too hot; it may work once it is cooler";
    case TAKT_NPU_RESULT_LOST:
      return "the NPU does not answer until it is reset";
  }
  return "the driver gave a result that takt/npu_driver.h does not have";
}

absl::Status ResultStatus(takt_npu_result_t result, absl::string_view what) {
  const std::string text = absl::StrCat(what, ": ", ResultName(result), " (",
                                        ExplainResult(result), ")");
  switch (result) {
    case TAKT_NPU_RESULT_OK:
      return absl::OkStatus();
    case TAKT_NPU_RESULT_UNSUPPORTED:
      return absl::UnimplementedError(text);
    case TAKT_NPU_RESULT_INVALID:
      return absl::InvalidArgumentError(text);
    case TAKT_NPU_RESULT_NO_MEMORY:
      return absl::ResourceExhaustedError(text);
    case TAKT_NPU_RESULT_CORRUPTED:
      return absl::DataLossError(text);
    case TAKT_NPU_RESULT_CANCELLED:
      return absl::CancelledError(text);
    case TAKT_NPU_RESULT_OVERHEATED:
    case TAKT_NPU_RESULT_LOST:
    case TAKT_NPU_RESULT_FAILED:
      return absl::UnavailableError(text);
  }
  return absl::InternalError(text);  // The driver's own mistake.
}

absl::StatusOr<std::shared_ptr<DriverLibrary>> DriverLibrary::Load(
    const std::string& path) {
  // The loader does not look into the current directory for a bare name.
  const bool is_here =
      path.find('/') == std::string::npos && access(path.c_str(), F_OK) == 0;
  const std::string name = is_here ? absl::StrCat("./", path) : path;
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    return absl::NotFoundError(absl::StrCat(
        "NPU driver: ", error != nullptr ? error : path.c_str(),
        absl::StrContains(path, "/")
            ? ""
            : "; a file of this folder is written with \"./\" before it"));
  }
  void* const symbol = dlsym(handle, TAKT_NPU_DRIVER_QUERY_SYMBOL);
  if (symbol == nullptr) {
    dlclose(handle);
    return absl::NotFoundError(absl::StrCat(
        "NPU driver: ", path, " exports no ", TAKT_NPU_DRIVER_QUERY_SYMBOL));
  }
  takt_npu_driver_query_t query = nullptr;
  std::memcpy(&query, &symbol, sizeof(query));
  const takt_npu_driver_t* const table = query(TAKT_NPU_DRIVER_VERSION);
  absl::Status status = CheckDriver(table).status();
  if (!status.ok()) {
    dlclose(handle);
    return Annotate(status, path);
  }
  return std::shared_ptr<DriverLibrary>(new DriverLibrary(handle, table));
}

DriverLibrary::~DriverLibrary() { dlclose(handle_); }

}  // namespace takt::npu
