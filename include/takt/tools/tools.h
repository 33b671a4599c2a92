// takt/tools/tools.h - all headers of libtakt-tools, the library for programs
// that analyse modules, plans and traces.
//
// Link takt::tools (CMake) or takt-tools (pkg-config). The interface of this
// library may change with every release; libtakt and libtakt-tools of one
// program must come from the same release. docs/analysis.md has an overview.
#ifndef TAKT_TOOLS_TOOLS_H_
#define TAKT_TOOLS_TOOLS_H_

#include "takt/takt.h"
#include "takt/tools/module_contents.h"
#include "takt/tools/plan_contents.h"
#include "takt/tools/plan_problem.h"
#include "takt/tools/small_float.h"
#include "takt/tools/trace_contents.h"
#include "takt/tools/workload.h"

#endif  // TAKT_TOOLS_TOOLS_H_
