// BufferState has the functions on buffers and buffer views that the modules
// `hal` and `hal_inline` both export, with the same names and conventions.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_MODULES_BUFFER_STATE_H_
#define TAKT_MODULES_BUFFER_STATE_H_

#include <cstdint>
#include <functional>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hal/buffer_view.h"
#include "hal/device.h"
#include "vm/byte_buffer.h"
#include "vm/module.h"
#include "vm/native_module.h"

namespace takt::modules {

// A limit of the compiler's ABI; what is beyond it is OUT_OF_RANGE.
inline constexpr size_t kMaxTraceViews = 128;

using TraceSink = std::function<void(absl::string_view)>;

// Writes to the standard error stream.
void TraceToStderr(absl::string_view text);

class BufferState : public vm::ModuleState {
 public:
  // `devices` and `trace_sink` outlive this object.
  BufferState(absl::Span<const Ref<hal::Device>> devices,
              const TraceSink& trace_sink)
      : devices_(devices), trace_sink_(trace_sink) {}

  // Exports buffer.length, buffer.subspan and buffer_view.*.
  static void Export(vm::NativeModule::Builder& builder);

  absl::StatusOr<uint64_t> BufferLength(hal::Buffer& buffer);
  absl::StatusOr<Ref<hal::Buffer>> BufferSubspan(hal::Buffer& buffer,
                                                 uint64_t offset,
                                                 uint64_t length);

  absl::StatusOr<Ref<hal::BufferView>> BufferViewCreate(
      hal::Buffer& buffer, uint64_t offset, uint64_t length,
      uint32_t element_type, uint32_t encoding, vm::VarArgs<int64_t> shape);
  absl::Status BufferViewAssert(hal::BufferView& view, vm::ByteBuffer& message,
                                uint32_t element_type, uint32_t encoding,
                                vm::VarArgs<int64_t> shape);
  absl::StatusOr<Ref<hal::Buffer>> BufferViewBuffer(hal::BufferView& view);
  absl::StatusOr<int64_t> BufferViewDim(hal::BufferView& view, uint32_t index);
  absl::StatusOr<int32_t> BufferViewRank(hal::BufferView& view);
  absl::StatusOr<int32_t> BufferViewElementType(hal::BufferView& view);
  absl::StatusOr<int32_t> BufferViewEncodingType(hal::BufferView& view);
  absl::Status BufferViewTrace(vm::ByteBuffer& key,
                               vm::VarArgs<hal::BufferView*> views);

 protected:
  absl::Span<const Ref<hal::Device>> devices() const { return devices_; }
  // The pool of objects that belong to no device; nullptr for the system's
  // heap.
  BlockPool* blocks() const {
    return devices_.empty() ? nullptr : &devices_.front()->blocks();
  }
  // The value of a query, as an import returns it.
  static std::tuple<int32_t, int64_t> QueryDevice(const hal::Device& device,
                                                  absl::string_view category,
                                                  absl::string_view key);

 private:
  const absl::Span<const Ref<hal::Device>> devices_;
  const TraceSink& trace_sink_;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_BUFFER_STATE_H_
