// The handles of libtakt, each with the class of its objects.
#ifndef TAKT_API_HANDLE_H_
#define TAKT_API_HANDLE_H_

#include "abi/c_string.h"
#include "abi/handle.h"
#include "abi/null.h"
#include "abi/status.h"

struct takt_buffer_t;
struct takt_buffer_view_t;
struct takt_byte_buffer_t;
struct takt_command_buffer_t;
struct takt_context_t;
struct takt_device_t;
struct takt_executable_t;
struct takt_executor_t;
struct takt_fence_t;
struct takt_file_t;
struct takt_function_t;
struct takt_instance_t;
struct takt_invocation_t;
struct takt_list_t;
struct takt_module_t;
struct takt_object_t;
struct takt_object_type_t;
struct takt_parameters_t;
struct takt_plan_run_t;
struct takt_plan_t;
struct takt_signature_t;
struct takt_stream_t;
struct takt_timeline_t;
struct takt_topology_t;
struct takt_trace_t;

namespace takt::hal {
class Buffer;
class BufferView;
class CommandBuffer;
class Device;
class Executable;
class Fence;
class File;
class Timeline;
}  // namespace takt::hal
namespace takt::exec {
class Executor;
}  // namespace takt::exec
namespace takt::trace {
class Trace;
}  // namespace takt::trace
namespace takt::vm {
class ByteBuffer;
class List;
class Module;
}  // namespace takt::vm

namespace takt::runtime {
class AsyncCall;
class Context;
class Function;
class Instance;
class Parameters;
class Signature;
class UserType;
}  // namespace takt::runtime

namespace takt::plan_run {
class PlanRun;
}  // namespace takt::plan_run

namespace takt::stream {
class Stream;
}  // namespace takt::stream

namespace takt::api {

class PlanFile;
class Topology;

}  // namespace takt::api

namespace takt::abi {

TAKT_HANDLE(takt_buffer_t, hal::Buffer);
TAKT_HANDLE(takt_buffer_view_t, hal::BufferView);
TAKT_HANDLE(takt_byte_buffer_t, vm::ByteBuffer);
TAKT_HANDLE(takt_command_buffer_t, hal::CommandBuffer);
TAKT_HANDLE(takt_context_t, runtime::Context);
TAKT_HANDLE(takt_device_t, hal::Device);
TAKT_HANDLE(takt_executable_t, hal::Executable);
TAKT_HANDLE(takt_executor_t, exec::Executor);
TAKT_HANDLE(takt_fence_t, hal::Fence);
TAKT_HANDLE(takt_file_t, hal::File);
TAKT_HANDLE(takt_function_t, runtime::Function);
TAKT_HANDLE(takt_instance_t, runtime::Instance);
TAKT_HANDLE(takt_invocation_t, runtime::AsyncCall);
TAKT_HANDLE(takt_list_t, vm::List);
TAKT_HANDLE(takt_module_t, vm::Module);
TAKT_HANDLE(takt_object_t, Object);
TAKT_HANDLE(takt_object_type_t, runtime::UserType);
TAKT_HANDLE(takt_parameters_t, runtime::Parameters);
TAKT_HANDLE(takt_plan_run_t, plan_run::PlanRun);
TAKT_HANDLE(takt_plan_t, api::PlanFile);
TAKT_HANDLE(takt_signature_t, runtime::Signature);
TAKT_HANDLE(takt_stream_t, stream::Stream);
TAKT_HANDLE(takt_timeline_t, hal::Timeline);
TAKT_HANDLE(takt_topology_t, api::Topology);
TAKT_HANDLE(takt_trace_t, trace::Trace);

}  // namespace takt::abi

namespace takt::api {

using abi::ErrorFrom;
using abi::FromStatus;
using abi::Give;
using abi::GiveText;
using abi::HandleTraits;
using abi::ReadOptions;
using abi::ReleaseHandle;
using abi::Require;
using abi::RequireSized;
using abi::RetainHandle;
using abi::ToStatus;
using abi::Unwrap;
using abi::Wrap;
using abi::WriteSized;

}  // namespace takt::api

#endif  // TAKT_API_HANDLE_H_
