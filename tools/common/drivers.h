// The drivers of devices: those that --device names.
#ifndef TAKT_TOOLS_COMMON_DRIVERS_H_
#define TAKT_TOOLS_COMMON_DRIVERS_H_

#include <string>

#include "takt/npu.h"
#include "takt/takt.hpp"
#include "tools/common/session.h"

namespace takt::tools {

inline constexpr char kDefaultDevice[] = "local-task";

// The device of --device=`name`. `npu` is for a device that is an NPU;
// `options` for the others.
//
// Errors: NOT_FOUND  no such device; says which there are.
Result<Device> CreateDevice(const Instance& instance, const std::string& name,
                            const takt_device_options_t& options,
                            const takt_npu_options_t& npu);

// An NPU as --device names it: "npu-host" or, without threads,
// "npu-host-sync"; "npu-sim" with a profile ("npu-sim=FILE"); or
// "npu=driver.so" with the driver's options after a comma. They take the place
// of those in `options`.
//
// Errors: NOT_FOUND  no such NPU; says which there are.
Result<Device> CreateNpu(const Instance& instance, const std::string& name,
                         takt_npu_options_t options);

// Prints to stdout what --list_drivers, --list_devices, --dump_devices or
// --dump_task_topologies asks for. False if none of them was given.
//
// Errors: NOT_FOUND  no driver has the name that the flag has.
Result<bool> ListDevices(const SessionFlags& flags);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_DRIVERS_H_
