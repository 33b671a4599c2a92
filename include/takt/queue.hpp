// takt/queue.hpp - queue operations, files, command buffers, executables and
// takt/memory.h from C++. Contracts are in the C headers, rules for errors and
// ownership in takt/takt.hpp.
#ifndef TAKT_QUEUE_HPP_
#define TAKT_QUEUE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include "takt/context.hpp"
#include "takt/takt.h"

namespace takt {
inline namespace cxx {

// See takt/file.h.
class File
    : public Object<File, takt_file_t, takt_file_retain, takt_file_release> {
 public:
  using Object::Object;
  static Result<File> Open(const std::string& path,
                           const takt_file_options_t* options = nullptr) {
    takt_file_t* file = nullptr;
    takt_status_t status = takt_file_open(path.c_str(), options, &file);
    return TakeResult<File>(status, file);
  }
  // `memory` belongs to the caller and must live until `release` is called.
  static Result<File> Wrap(std::span<uint8_t> memory,
                           uint32_t access = TAKT_ACCESS_ALL,
                           takt_buffer_release_t release = nullptr,
                           void* user_data = nullptr) {
    takt_file_t* file = nullptr;
    takt_status_t status = takt_file_wrap(memory.data(), memory.size(), access,
                                          release, user_data, &file);
    return TakeResult<File>(status, file);
  }
  uint64_t byte_length() const { return takt_file_byte_length(get()); }
};

// See takt/executable.h.
class Executable
    : public Object<Executable, takt_executable_t, takt_executable_retain,
                    takt_executable_release> {
 public:
  using Object::Object;
  static Result<Executable> Load(const Device& device,
                                 const std::string& format,
                                 std::span<const uint8_t> data,
                                 std::span<const uint32_t> constants = {}) {
    takt_executable_t* executable = nullptr;
    takt_status_t status = takt_executable_load(
        device.get(), format.c_str(), data.data(), data.size(),
        constants.size(), constants.data(), &executable);
    return TakeResult<Executable>(status, executable);
  }
  size_t function_count() const {
    return takt_executable_function_count(get());
  }
  takt_executable_function_t function(size_t index) const {
    return takt_executable_function(get(), index);
  }
};

// A range of a buffer, or of a slot of the binding table; borrows the buffer.
inline takt_buffer_range_t RangeOf(const Buffer& buffer, size_t byte_offset = 0,
                                   size_t byte_length = TAKT_WHOLE_BUFFER) {
  return {buffer.get(), 0, byte_offset, byte_length};
}
inline takt_buffer_range_t RangeOfSlot(uint32_t slot, size_t byte_offset,
                                       size_t byte_length) {
  return {nullptr, slot, byte_offset, byte_length};
}

// See takt/command_buffer.h.
class CommandBuffer
    : public Object<CommandBuffer, takt_command_buffer_t,
                    takt_command_buffer_retain, takt_command_buffer_release> {
 public:
  using Object::Object;
  using Range = takt_buffer_range_t;

  static Result<CommandBuffer> Create(const Device& device,
                                      size_t binding_capacity = 0,
                                      bool one_shot = false) {
    takt_command_buffer_options_t options;
    takt_command_buffer_options_init(&options);
    options.binding_capacity = binding_capacity;
    options.one_shot = one_shot;
    takt_command_buffer_t* commands = nullptr;
    takt_status_t status =
        takt_command_buffer_create(device.get(), &options, &commands);
    return TakeResult<CommandBuffer>(status, commands);
  }
  Status Barrier() const { return Status(takt_command_buffer_barrier(get())); }
  // `pattern` of 1, 2 or 4 bytes.
  template <typename T>
  Status Fill(const Range& target, T pattern) const {
    return Status(
        takt_command_buffer_fill(get(), &target, &pattern, sizeof(pattern)));
  }
  Status Update(std::span<const uint8_t> source, const Range& target) const {
    return Status(takt_command_buffer_update(get(), source.data(),
                                             source.size(), &target));
  }
  Status Copy(const Range& source, const Range& target) const {
    return Status(takt_command_buffer_copy(get(), &source, &target));
  }
  Status Dispatch(const Executable& executable, size_t function,
                  const std::array<uint32_t, 3>& workgroups,
                  std::span<const Range> bindings,
                  std::span<const uint32_t> constants = {}) const {
    const takt_dispatch_t dispatch = {
        executable.get(),
        function,
        {workgroups[0], workgroups[1], workgroups[2]},
        nullptr,
        constants.size(),
        constants.data(),
        bindings.size(),
        bindings.data()};
    return Status(takt_command_buffer_dispatch(get(), &dispatch));
  }
  Status Finalize() const {
    return Status(takt_command_buffer_finalize(get()));
  }
};

// The fences for which a queue operation waits, and which it signals; borrowed.
// An empty fence is left out.
struct Order {
  const Fence& wait;
  const Fence& signal;
};

// The queue of a device; see takt/queue.h. It holds a reference to the device.
class Queue {
 public:
  explicit Queue(Device device) : device_(std::move(device)) {}

  Result<Buffer> Alloca(const Order& order, size_t byte_length,
                        const takt_buffer_options_t* options = nullptr) const {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_queue_alloca(device_.get(), order.wait.get(), order.signal.get(),
                          byte_length, options, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  Status Dealloca(const Order& order, const Buffer& buffer) const {
    return Status(takt_queue_dealloca(device_.get(), order.wait.get(),
                                      order.signal.get(), buffer.get()));
  }
  // `pattern` of 1, 2 or 4 bytes.
  template <typename T>
  Status Fill(const Order& order, const Buffer& target, T pattern,
              size_t target_offset = 0,
              size_t byte_length = TAKT_WHOLE_BUFFER) const {
    return Status(takt_queue_fill(
        device_.get(), order.wait.get(), order.signal.get(), target.get(),
        target_offset, byte_length, &pattern, sizeof(pattern)));
  }
  Status Update(const Order& order, std::span<const uint8_t> source,
                const Buffer& target, size_t target_offset = 0) const {
    return Status(takt_queue_update(
        device_.get(), order.wait.get(), order.signal.get(), source.data(),
        source.size(), target.get(), target_offset));
  }
  Status Copy(const Order& order, const Buffer& source, size_t source_offset,
              const Buffer& target, size_t target_offset,
              size_t byte_length) const {
    return Status(takt_queue_copy(
        device_.get(), order.wait.get(), order.signal.get(), source.get(),
        source_offset, target.get(), target_offset, byte_length));
  }
  Status Read(const Order& order, const File& source, uint64_t source_offset,
              const Buffer& target, size_t target_offset = 0,
              size_t byte_length = TAKT_WHOLE_BUFFER) const {
    return Status(takt_queue_read(
        device_.get(), order.wait.get(), order.signal.get(), source.get(),
        source_offset, target.get(), target_offset, byte_length));
  }
  Status Write(const Order& order, const Buffer& source, size_t source_offset,
               const File& target, uint64_t target_offset,
               size_t byte_length = TAKT_WHOLE_BUFFER) const {
    return Status(takt_queue_write(
        device_.get(), order.wait.get(), order.signal.get(), source.get(),
        source_offset, target.get(), target_offset, byte_length));
  }
  Status Execute(const Order& order, const CommandBuffer& commands,
                 std::span<const takt_buffer_range_t> bindings = {}) const {
    return Status(takt_queue_execute(device_.get(), order.wait.get(),
                                     order.signal.get(), commands.get(),
                                     bindings.size(), bindings.data()));
  }
  Status Barrier(const Order& order) const {
    return Status(takt_queue_barrier(device_.get(), order.wait.get(),
                                     order.signal.get()));
  }
  // `call` is a callable that returns a Status; it is moved to the heap.
  template <typename Call>
  Status HostCall(const Order& order, Call call) const {
    auto* moved = new Call(std::move(call));
    takt_status_t status = takt_queue_host_call(
        device_.get(), order.wait.get(), order.signal.get(),
        [](void* data) -> takt_status_t {
          return (*static_cast<Call*>(data))().release();
        },
        [](void* data) { delete static_cast<Call*>(data); }, moved);
    if (status != nullptr) delete moved;
    return Status(status);
  }
  void Flush() const { takt_queue_flush(device_.get()); }

 private:
  Device device_;
};

// See takt/memory.h.
inline Result<takt_memory_need_t> QueryMemory(const Function& function) {
  takt_memory_need_t need = {};
  need.struct_size = sizeof(need);
  Status status(takt_function_query_memory(function.get(), &need));
  if (!status.ok()) return status;
  return need;
}
inline Status Prepare(const Function& function) {
  return Status(takt_function_prepare(function.get()));
}
inline Status Prepare(const Context& context) {
  return Status(takt_context_prepare(context.get()));
}
inline Result<Buffer> ImportFd(const Device& device, int fd,
                               uint64_t byte_offset, size_t byte_length,
                               const takt_buffer_options_t* options = nullptr) {
  takt_buffer_t* buffer = nullptr;
  takt_status_t status = takt_buffer_import_fd(device.get(), fd, byte_offset,
                                               byte_length, options, &buffer);
  return TakeResult<Buffer>(status, buffer);
}
inline Result<Buffer> AllocateShared(
    const Device& device, size_t byte_length,
    const takt_buffer_options_t* options = nullptr) {
  takt_buffer_t* buffer = nullptr;
  takt_status_t status =
      takt_buffer_allocate_shared(device.get(), byte_length, options, &buffer);
  return TakeResult<Buffer>(status, buffer);
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_QUEUE_HPP_
