// Running captured jobs again.
#ifndef TAKT_TOOLS_COMMON_REPLAY_H_
#define TAKT_TOOLS_COMMON_REPLAY_H_

#include "tools/common/capture.h"
#include "tools/common/session.h"

namespace takt::tools {

// Calls `function` with the inputs of each job of `capture`, in order, and
// compares the bytes of its results with those of the job. Prints a line for
// each job, or one JSON object. If results differ, it finds out whether that
// may be because the function has state. The exit code: kFailure if results
// differ.
//
// Errors: INVALID_ARGUMENT  a job's inputs do not fit the function; what a call
//                           fails with. The message names the job.
Result<int> Replay(const Session& session, const Function& function,
                   const Capture& capture, bool is_json);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_REPLAY_H_
