// Draws command buffers with their barriers and binding tables, has a device
// with several workers run them, and compares memory with that of a model that
// runs one command after the other.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cpu/device.h"
#include "cpu/loaded_executable.h"
#include "exec/executor.h"
#include "hal/buffer.h"
#include "hal/command_buffer.h"
#include "hal/fence.h"

namespace takt::fuzz {
namespace {

constexpr size_t kBufferCount = 4;
constexpr uint64_t kBufferBytes = 1024;
constexpr uint64_t kBindingAlignment = 64;
constexpr uint32_t kWorkerCount = 3;

using Memory = std::array<std::vector<uint8_t>, kBufferCount>;

[[noreturn]] void Fail(const char* what, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  __builtin_trap();
}
void Require(const absl::Status& status, const char* what) {
  if (!status.ok()) Fail(what, status);
}

// ---- What is dispatched ----

enum Function : uint64_t { kAddConstant = 0, kAccumulate = 1 };

uint32_t Accumulate(uint32_t target, uint32_t source) {
  return target * 3 + source;
}

class Code final : public cpu::ExecutableCode {
 public:
  Code() {
    SetFunctions({Function{"add_constant", 1, 1, 0, false},
                  Function{"accumulate", 0, 2, 0, false}});
  }
  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override {
    auto* first = static_cast<uint32_t*>(arguments.bindings[0]);
    for (uint32_t i = begin; i < end; ++i) {
      if (function == kAddConstant) {
        first[i] += arguments.constants[0];
      } else {
        auto* target = static_cast<uint32_t*>(arguments.bindings[1]);
        target[i] = Accumulate(target[i], first[i]);
      }
    }
    return absl::OkStatus();
  }
};

// ---- What is drawn ----

struct Range {
  size_t buffer = 0;  // A slot, or a buffer.
  uint64_t offset = 0;
  uint64_t length = 0;

  bool Overlaps(const Range& other) const {
    return buffer == other.buffer && offset < other.offset + other.length &&
           other.offset < offset + length;
  }
};

struct Command {
  enum class Kind { kFill, kUpdate, kCopy, kAddConstant, kAccumulate };
  Kind kind = Kind::kFill;
  Range source;  // kCopy, kAccumulate.
  Range target;
  uint32_t value = 0;  // A pattern, a constant, the seed of an update.
  size_t pattern_length = 4;
  bool is_after_barrier = false;

  bool has_source() const {
    return kind == Kind::kCopy || kind == Kind::kAccumulate;
  }
  bool ConflictsWith(const Command& other) const {
    return target.Overlaps(other.target) ||
           (other.has_source() && target.Overlaps(other.source)) ||
           (has_source() && source.Overlaps(other.target));
  }
  std::vector<uint8_t> UpdateBytes() const {
    std::vector<uint8_t> bytes(target.length);
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(value + i * 7);
    }
    return bytes;
  }
};

// A recorded list, and the buffers that its submissions bind.
struct Recording {
  bool is_direct = false;
  std::vector<Command> commands;
  std::vector<std::array<size_t, kBufferCount>> tables;
};

class Drawer {
 public:
  Drawer(const uint8_t* data, size_t size) : data_(data), left_(size) {}
  bool is_empty() const { return left_ == 0; }
  size_t Below(size_t bound) { return Byte() % bound; }

  Recording DrawRecording() {
    Recording recording;
    recording.is_direct = Below(2) == 0;
    size_t since_barrier = 0;
    for (size_t left = 1 + Below(24); left > 0 && !is_empty(); --left) {
      Command command = DrawCommand();
      // Where two commands touch the same bytes, a barrier orders them.
      const std::vector<Command>& all = recording.commands;
      command.is_after_barrier =
          Below(8) == 0 ||
          std::any_of(all.begin() + static_cast<ptrdiff_t>(since_barrier),
                      all.end(), [&](const Command& other) {
                        return command.ConflictsWith(other);
                      });
      if (command.is_after_barrier) since_barrier = all.size();
      recording.commands.push_back(command);
    }
    for (size_t left = 1 + Below(3); left > 0; --left) {
      std::array<size_t, kBufferCount> table = {0, 1, 2, 3};
      for (size_t i = 0; i < kBufferCount && !recording.is_direct; ++i) {
        std::swap(table[i], table[Below(kBufferCount)]);
      }
      recording.tables.push_back(table);
    }
    return recording;
  }

 private:
  uint8_t Byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }

  Range DrawRange(uint64_t alignment, uint64_t length) {
    Range range;
    range.buffer = Below(kBufferCount);
    range.length = length;
    const uint64_t places = (kBufferBytes - length) / alignment + 1;
    range.offset = (Byte() * 251 + Byte()) % places * alignment;
    return range;
  }

  Command DrawCommand() {
    using Kind = Command::Kind;
    static constexpr Kind kKinds[] = {Kind::kFill, Kind::kUpdate, Kind::kCopy,
                                      Kind::kAddConstant, Kind::kAccumulate};
    Command command;
    command.kind = kKinds[Below(std::size(kKinds))];
    command.value = static_cast<uint32_t>(Byte() * 0x01030507u + Byte());
    const bool is_dispatch =
        command.kind == Kind::kAddConstant || command.kind == Kind::kAccumulate;
    const uint64_t alignment = is_dispatch ? kBindingAlignment : 4;
    const uint64_t length = 4 * (1 + Below(is_dispatch ? 128 : 40));
    command.target = DrawRange(alignment, length);
    if (command.kind == Kind::kFill) {
      command.pattern_length = size_t{1} << Below(3);
    }
    if (command.has_source()) {
      command.source = DrawRange(alignment, length);
      if (command.source.Overlaps(command.target)) {
        command.source.buffer = (command.target.buffer + 1) % kBufferCount;
      }
    }
    return command;
  }

  const uint8_t* data_;
  size_t left_;
};

// ---- The model ----

void RunInModel(const Command& command,
                const std::array<size_t, kBufferCount>& table, Memory* memory) {
  const auto at = [&](const Range& range) {
    return (*memory)[table[range.buffer]].data() + range.offset;
  };
  uint8_t* const target = at(command.target);
  switch (command.kind) {
    case Command::Kind::kFill:
      for (uint64_t i = 0; i < command.target.length; ++i) {
        target[i] = static_cast<uint8_t>(command.value >>
                                         (8 * (i % command.pattern_length)));
      }
      return;
    case Command::Kind::kUpdate: {
      const std::vector<uint8_t> bytes = command.UpdateBytes();
      std::memcpy(target, bytes.data(), bytes.size());
      return;
    }
    case Command::Kind::kCopy:
      std::memcpy(target, at(command.source), command.target.length);
      return;
    default:
      break;
  }
  for (uint64_t i = 0; i < command.target.length; i += sizeof(uint32_t)) {
    uint32_t value;
    std::memcpy(&value, target + i, sizeof(value));
    if (command.kind == Command::Kind::kAddConstant) {
      value += command.value;
    } else {
      uint32_t source;
      std::memcpy(&source, at(command.source) + i, sizeof(source));
      value = Accumulate(value, source);
    }
    std::memcpy(target + i, &value, sizeof(value));
  }
}

// ---- The device ----

class Board {
 public:
  Board() {
    exec::Executor::Options options;
    options.worker_count = kWorkerCount;
    // As if each worker had a processor, so that all of them take part.
    options.concurrency_max = kWorkerCount + 1;
    auto executor = exec::Executor::Create(options);
    if (!executor.ok()) Fail("executor", executor.status());
    auto device = cpu::Device::Create("local-task", *executor, {});
    if (!device.ok()) Fail("device", device.status());
    device_ = *std::move(device);
    for (size_t i = 0; i < kBufferCount; ++i) {
      auto buffer = device_->Allocate({}, kBufferBytes);
      if (!buffer.ok()) Fail("buffer", buffer.status());
      buffers_[i] = *std::move(buffer);
    }
  }

  void Write(const Memory& memory) {
    for (size_t i = 0; i < kBufferCount; ++i) {
      std::memcpy(buffers_[i]->data(), memory[i].data(), kBufferBytes);
    }
  }
  const uint8_t* data(size_t buffer) const { return buffers_[buffer]->data(); }

  // Submits all tables of all recordings, each behind the one before, and waits
  // for the last.
  void Run(const std::vector<Recording>& recordings) {
    const Ref<hal::Fence> start = hal::Fence::Create();
    Ref<hal::Fence> before = start;
    for (const Recording& recording : recordings) {
      const Ref<hal::CommandBuffer> commands = Record(recording);
      for (const std::array<size_t, kBufferCount>& table : recording.tables) {
        std::vector<hal::Binding> bindings;
        for (size_t buffer : table) {
          bindings.push_back({buffers_[buffer].get(), 0, kBufferBytes});
        }
        if (recording.is_direct) bindings.clear();
        Ref<hal::Fence> after = hal::Fence::Create();
        Require(device_->QueueExecute({~uint64_t{0}, before.get(), after.get()},
                                      commands.get(), bindings),
                "execute");
        before = std::move(after);
      }
    }
    Require(start->Signal(), "signal");
    Require(before->Wait(INT64_MAX), "wait");
  }

 private:
  hal::BufferRef RefTo(const Range& range, bool is_direct) const {
    return {is_direct ? buffers_[range.buffer].get() : nullptr,
            static_cast<uint32_t>(range.buffer), range.offset, range.length};
  }

  absl::Status RecordCommand(const Command& command, bool is_direct,
                             hal::CommandBuffer& commands) {
    const hal::BufferRef target = RefTo(command.target, is_direct);
    const hal::BufferRef source = RefTo(command.source, is_direct);
    const std::array<uint32_t, 3> grid = {
        static_cast<uint32_t>(command.target.length / sizeof(uint32_t)), 1, 1};
    switch (command.kind) {
      case Command::Kind::kFill:
        return commands.FillBuffer(target, command.value,
                                   command.pattern_length);
      case Command::Kind::kUpdate:
        return commands.UpdateBuffer(command.UpdateBytes(), target);
      case Command::Kind::kCopy:
        return commands.CopyBuffer(source, target);
      case Command::Kind::kAddConstant:
        return commands.Dispatch(executable_.get(), kAddConstant, grid,
                                 {command.value}, {target});
      case Command::Kind::kAccumulate:
        return commands.Dispatch(executable_.get(), kAccumulate, grid, {},
                                 {source, target});
    }
    return absl::OkStatus();
  }

  Ref<hal::CommandBuffer> Record(const Recording& recording) {
    auto commands = device_->CreateCommandBuffer(
        /*mode=*/0, /*categories=*/3, recording.is_direct ? 0 : kBufferCount);
    if (!commands.ok()) Fail("create", commands.status());
    for (const Command& command : recording.commands) {
      if (command.is_after_barrier) {
        Require((*commands)->ExecutionBarrier(), "barrier");
      }
      Require(RecordCommand(command, recording.is_direct, **commands),
              "record");
    }
    Require((*commands)->Finalize(), "finalize");
    return *std::move(commands);
  }

  Ref<cpu::Device> device_;
  std::array<Ref<hal::Buffer>, kBufferCount> buffers_;
  const Ref<hal::Executable> executable_ =
      MakeRef<cpu::LoadedExecutable>(std::make_shared<Code>());
};

void Compare(const Memory& expected, const Board& board) {
  for (size_t i = 0; i < kBufferCount; ++i) {
    for (size_t at = 0; at < kBufferBytes; ++at) {
      if (board.data(i)[at] == expected[i][at]) continue;
      std::fprintf(stderr, "buffer %zu, byte %zu: %d, not %d\n", i, at,
                   board.data(i)[at], expected[i][at]);
      __builtin_trap();
    }
  }
}

}  // namespace
}  // namespace takt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace takt::fuzz;  // NOLINT(google-build-using-namespace)
  static Board* const board = new Board;  // Its workers live as long as it.
  Memory memory;
  for (size_t i = 0; i < kBufferCount; ++i) {
    memory[i].resize(kBufferBytes);
    for (size_t at = 0; at < kBufferBytes; ++at) {
      memory[i][at] = static_cast<uint8_t>(i * 85 + at * 3);
    }
  }
  board->Write(memory);
  Drawer drawer(data, size);
  std::vector<Recording> recordings;
  while (!drawer.is_empty() && recordings.size() < 4) {
    recordings.push_back(drawer.DrawRecording());
  }
  board->Run(recordings);
  for (const Recording& recording : recordings) {
    for (const auto& table : recording.tables) {
      for (const Command& command : recording.commands) {
        RunInModel(command, table, &memory);
      }
    }
  }
  Compare(memory, *board);
  return 0;
}
