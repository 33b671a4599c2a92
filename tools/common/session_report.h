// What a tool prints to stderr when a session ends.
#ifndef TAKT_TOOLS_COMMON_SESSION_REPORT_H_
#define TAKT_TOOLS_COMMON_SESSION_REPORT_H_

#include "tools/common/dispatch_recorder.h"
#include "tools/common/session.h"

namespace takt::tools {

// The use of memory by the devices, and of their NPUs.
void PrintDevices(const Session& session);
// The same, and what the workers did.
void PrintStatistics(const Session& session);
// How often and how long each kernel ran; the recorder forgets that.
void PrintDispatches(DispatchRecorder* recorder);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_SESSION_REPORT_H_
