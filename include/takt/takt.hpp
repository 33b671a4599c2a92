// takt/takt.hpp - all headers of the C++ interface: the C API with C++20
// ownership. Each class holds one reference to one C object, and each method is
// one call of a C function.
//
//   auto instance = takt::Instance::Create().value();
//   auto device = takt::Device::Create(instance, "local-task").value();
//   auto module = takt::Module::Load(instance, "policy.vmfb").value();
//   auto context = takt::Context::Create(instance, {module}, {device}).value();
//   auto act = context.FindFunction("policy.act").value();
//   const float values[4] = {1, 2, 3, 4};
//   auto input = takt::BufferView::Copy<float>(device, {1, 4}, values).value();
//   takt::Result<std::vector<takt::Value>> out = act.Invoke(input);
//
// Errors: there are no exceptions. A method that can fail returns a Status or a
// Result, and the compiler warns if the caller ignores it. value() of a failed
// Result prints the error and aborts the process, for programs that cannot
// continue anyway.
//
// Ownership: a copy of an object is another reference; a move leaves the object
// empty. An empty object is a NULL handle: its methods return INVALID_ARGUMENT,
// or 0, "" and empty objects. Contracts and the rules for threads are those of
// the C headers.
//
// Element types: a method that reads or writes elements as T checks T against
// the tensor's element type by takt_element_type_fits(): float fits f32,
// int32_t and uint32_t fit i32, si32 and ui32. std::byte fits any type.
#ifndef TAKT_TAKT_HPP_
#define TAKT_TAKT_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include "takt/async.hpp"
#include "takt/buffer.hpp"
#include "takt/buffer_view.hpp"
#include "takt/context.hpp"
#include "takt/core.hpp"
#include "takt/device.hpp"
#include "takt/element_type.hpp"
#include "takt/executor.hpp"
#include "takt/fence.hpp"
#include "takt/function.hpp"
#include "takt/instance.hpp"
#include "takt/module.hpp"
#include "takt/parameters.hpp"
#include "takt/queue.hpp"
#include "takt/scheduler.hpp"
#include "takt/signature.hpp"
#include "takt/stream.hpp"
#include "takt/takt.h"
#include "takt/trace.hpp"
#include "takt/value.hpp"

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TAKT_HPP_
