// What packages install beside a tool, made of the tool's own flags.
#ifndef TAKT_TOOLS_COMMON_MANUAL_H_
#define TAKT_TOOLS_COMMON_MANUAL_H_

#include <string>

#include "tools/common/flags.h"

namespace takt::tools {

// A manual page of section 1, for man(1).
std::string ManualPage(const Flags& flags);

// What bash sources to complete commands, flags, their values and files.
std::string BashCompletion(const Flags& flags);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_MANUAL_H_
