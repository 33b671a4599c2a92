// takt/takt.h - the whole C API.
//
// Takt runs modules that iree-compile wrote. The way from a file to a result:
//
//   takt_instance_create()         once; worker threads, types, caches
//   takt_device_create()           "local-sync" or "local-task"
//   takt_module_load_file()        a .vmfb, verified
//   takt_context_create()          modules linked, with their own state
//   takt_context_find_function()   "module.function"
//   takt_buffer_view_copy_from_host() and takt_function_invoke()
//
// takt/base.h has the rules for ownership, errors and threads.
#ifndef TAKT_TAKT_H_
#define TAKT_TAKT_H_

#include "takt/allocator.h"
#include "takt/async.h"
#include "takt/base.h"
#include "takt/buffer.h"
#include "takt/buffer_view.h"
#include "takt/byte_buffer.h"
#include "takt/check.h"
#include "takt/command_buffer.h"
#include "takt/compact_signature.h"
#include "takt/context.h"
#include "takt/device.h"
#include "takt/element_type.h"
#include "takt/executable.h"
#include "takt/executor.h"
#include "takt/fence.h"
#include "takt/file.h"
#include "takt/function.h"
#include "takt/instance.h"
#include "takt/list.h"
#include "takt/log_sink.h"
#include "takt/memory.h"
#include "takt/module.h"
#include "takt/native_module.h"
#include "takt/npu.h"
#include "takt/npu_driver.h"
#include "takt/npu_queue.h"
#include "takt/object.h"
#include "takt/parameters.h"
#include "takt/plan.h"
#include "takt/plan_run.h"
#include "takt/queue.h"
#include "takt/realtime.h"
#include "takt/scheduler.h"
#include "takt/signature.h"
#include "takt/statistics.h"
#include "takt/status.h"
#include "takt/stream.h"
#include "takt/timeline.h"
#include "takt/topology.h"
#include "takt/trace.h"
#include "takt/value.h"

#endif  // TAKT_TAKT_H_
