#include "npu/command_program.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::npu {
namespace {

constexpr uint32_t kFunctionCountMax = 1 << 10;
constexpr uint32_t kCommandCountMax = 1 << 20;
// The limits of a dispatch's constants and bindings, as in the compiler's ABI.
constexpr uint32_t kConstantCountMax = 64;
constexpr uint32_t kBindingCountMax = 64;

// Fields that each opcode has.
constexpr uint8_t kFieldCounts[kOpcodeCount] = {0, 7, 7, 3, 7, 5, 6};

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("NPU program: ", what));
}

template <typename T>
T ReadAt(absl::Span<const uint8_t> data, size_t offset) {
  T value;
  std::memcpy(&value, data.data() + offset, sizeof(value));
  return value;
}

// One run: the commands' view of memory.
class Runner {
 public:
  Runner(const takt_npu_program_t& dispatch, absl::Span<uint8_t> scratchpad,
         CommandProgram::Work* work)
      : dispatch_(dispatch), scratchpad_(scratchpad), work_(*work) {}

  bool Run(const Command& command);

 private:
  // Start of `bytes` at `address`; nullptr if they are not in the scratchpad,
  // or not aligned to `alignment`.
  uint8_t* At(uint64_t address, uint64_t bytes, uint64_t alignment) {
    if (address % alignment != 0 ||
        !RangeFits(address, bytes, scratchpad_.size())) {
      return nullptr;
    }
    return scratchpad_.data() + address;
  }
  // Counts steps; false if the run exceeds its limit.
  bool Spend(uint64_t steps) {
    if (steps > steps_left_) return false;
    steps_left_ -= steps;
    return true;
  }
  bool Move(const uint32_t* f, bool is_load);
  bool Fill(const uint32_t* f);
  bool Matmul(const uint32_t* f);
  bool RunElementwise(const uint32_t* f);
  bool Requantize(const uint32_t* f);

  const takt_npu_program_t& dispatch_;
  const absl::Span<uint8_t> scratchpad_;
  CommandProgram::Work& work_;
  uint64_t steps_left_ = CommandProgram::kStepCountMax;
};

// Bytes of `rows` rows, `pitch` apart. 32-bit factors: no overflow.
uint64_t RowsLength(uint64_t rows, uint64_t row_bytes, uint64_t pitch) {
  return rows == 0 || row_bytes == 0 ? 0 : (rows - 1) * pitch + row_bytes;
}

bool Runner::Move(const uint32_t* f, bool is_load) {
  const uint64_t pitch = f[2], rows = f[3], row_bytes = f[4], near_pitch = f[6];
  if (f[0] >= dispatch_.binding_count) return false;
  const takt_npu_range_t& binding = dispatch_.bindings[f[0]];
  const uint64_t far_length = RowsLength(rows, row_bytes, pitch);
  const uint64_t near_length = RowsLength(rows, row_bytes, near_pitch);
  if (!RangeFits(f[1], far_length, binding.byte_length)) return false;
  uint8_t* near = At(f[5], near_length, 1);
  if (near == nullptr) return false;
  if (far_length == 0) return true;
  if (binding.data == nullptr || !Spend(rows + rows * row_bytes)) return false;
  uint8_t* far = binding.data + f[1];
  for (uint64_t i = 0; i < rows; ++i) {
    if (is_load) {
      std::memcpy(near, far, row_bytes);
    } else {
      std::memcpy(far, near, row_bytes);
    }
    far += pitch;
    near += near_pitch;
  }
  work_.bytes_moved += rows * row_bytes;
  return true;
}

bool Runner::Fill(const uint32_t* f) {
  const uint64_t bytes = uint64_t{f[1]} * sizeof(uint32_t);
  uint8_t* const to = At(f[0], bytes, alignof(uint32_t));
  if (to == nullptr || !Spend(bytes)) return false;
  auto* const words = reinterpret_cast<uint32_t*>(to);
  std::fill(words, words + f[1], f[2]);
  work_.bytes_touched += bytes;
  return true;
}

bool Runner::Matmul(const uint32_t* f) {
  const uint64_t m = f[3], n = f[4], k = f[5];
  // A range longer than the scratchpad cannot be inside it.
  const uint64_t most = scratchpad_.size();
  if (m > most || n > most || k > most) return false;
  const auto* const left = reinterpret_cast<int8_t*>(At(f[0], m * k, 1));
  const auto* const right = reinterpret_cast<int8_t*>(At(f[1], k * n, 1));
  auto* const out =
      reinterpret_cast<uint32_t*>(At(f[2], m * n * 4, alignof(uint32_t)));
  if (left == nullptr || right == nullptr || out == nullptr) return false;
  if (!Spend(m * n * (k + 1) + m * k)) return false;
  // The result may overlap the operands. It is then undefined, but no memory
  // outside is touched.
  for (uint64_t i = 0; i < m; ++i) {
    uint32_t* const row = out + i * n;
    if (f[6] == 0) std::fill(row, row + n, 0u);
    for (uint64_t p = 0; p < k; ++p) {
      const auto x = Truncate<uint32_t>(left[i * k + p]);
      for (uint64_t j = 0; j < n; ++j) {
        row[j] += x * Truncate<uint32_t>(right[p * n + j]);
      }
    }
  }
  work_.mac_count += m * n * k;
  return true;
}

uint32_t Combine(Elementwise operation, uint32_t x, uint32_t y) {
  const auto a = Truncate<int32_t>(x);
  const auto b = Truncate<int32_t>(y);
  switch (operation) {
    case Elementwise::kAdd:
      return x + y;
    case Elementwise::kSubtract:
      return x - y;
    case Elementwise::kMultiply:
      return x * y;
    case Elementwise::kMaximum:
      return a > b ? x : y;
    case Elementwise::kMinimum:
      return a < b ? x : y;
  }
  return 0;
}

bool Runner::RunElementwise(const uint32_t* f) {
  if (f[0] >= kElementwiseCount) return false;
  const uint64_t bytes = uint64_t{f[4]} * sizeof(uint32_t);
  constexpr uint64_t kAlignment = alignof(uint32_t);
  const auto* const left =
      reinterpret_cast<uint32_t*>(At(f[1], bytes, kAlignment));
  const auto* const right =
      reinterpret_cast<uint32_t*>(At(f[2], bytes, kAlignment));
  auto* const out = reinterpret_cast<uint32_t*>(At(f[3], bytes, kAlignment));
  if (left == nullptr || right == nullptr || out == nullptr) return false;
  if (!Spend(bytes)) return false;
  for (uint64_t i = 0; i < f[4]; ++i) {
    out[i] = Combine(static_cast<Elementwise>(f[0]), left[i], right[i]);
  }
  work_.bytes_touched += 3 * bytes;
  return true;
}

// from * multiplier / 2^shift, rounded half up, plus the zero point, saturated
// to s8.
bool Runner::Requantize(const uint32_t* f) {
  const uint64_t count = f[2];
  const uint32_t shift = f[4];
  if (shift > 62) return false;
  const auto* const from = reinterpret_cast<int32_t*>(
      At(f[0], count * sizeof(int32_t), alignof(int32_t)));
  auto* const to = reinterpret_cast<int8_t*>(At(f[1], count, 1));
  if (from == nullptr || to == nullptr || !Spend(count)) return false;
  const auto multiplier = int64_t{Truncate<int32_t>(f[3])};
  const auto zero_point = int64_t{Truncate<int32_t>(f[5])};
  const int64_t half = shift == 0 ? 0 : int64_t{1} << (shift - 1);
  for (uint64_t i = 0; i < count; ++i) {
    // At most 2^62 + 2^61: no overflow.
    const int64_t scaled = (from[i] * multiplier + half) >> shift;
    to[i] = Narrow<int8_t>(std::clamp<int64_t>(scaled + zero_point, -128, 127));
  }
  work_.bytes_touched += count * 5;
  return true;
}

bool Runner::Run(const Command& command) {
  uint32_t fields[Command::kFieldCount];
  for (size_t i = 0; i < Command::kFieldCount; ++i) {
    fields[i] = command.fields[i];
    if ((command.mask >> i & 1) == 0) continue;
    if (fields[i] >= dispatch_.constant_count) return false;
    fields[i] = dispatch_.constants[fields[i]];
  }
  switch (static_cast<Opcode>(command.opcode)) {
    case Opcode::kBarrier:
      return true;
    case Opcode::kLoad:
      return Move(fields, /*is_load=*/true);
    case Opcode::kStore:
      return Move(fields, /*is_load=*/false);
    case Opcode::kFill:
      return Fill(fields);
    case Opcode::kMatmul:
      return Matmul(fields);
    case Opcode::kElementwise:
      return RunElementwise(fields);
    case Opcode::kRequantize:
      return Requantize(fields);
  }
  return false;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CommandProgram>> CommandProgram::Parse(
    absl::Span<const uint8_t> data) {
  if (data.size() < kHeaderBytes || std::memcmp(data.data(), "TNPC", 4) != 0) {
    return Damaged("no header");
  }
  const auto version = ReadAt<uint32_t>(data, 4);
  if (version != kVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "NPU program: version ", version, "; this reads ", kVersion));
  }
  const auto function_count = ReadAt<uint32_t>(data, 8);
  const auto command_count = ReadAt<uint32_t>(data, 12);
  const auto name_bytes = ReadAt<uint32_t>(data, 16);
  for (const size_t offset : {20, 24, 28}) {
    if (ReadAt<uint32_t>(data, offset) != 0) {
      return Damaged(absl::StrCat("byte ", offset, " is not 0"));
    }
  }
  if (function_count > kFunctionCountMax || command_count > kCommandCountMax) {
    return Damaged(absl::StrCat(function_count, " functions and ",
                                command_count, " commands"));
  }
  const uint64_t expected =
      kHeaderBytes + uint64_t{function_count} * kFunctionBytes +
      uint64_t{command_count} * sizeof(Command) + name_bytes;
  if (data.size() != expected) {
    return Damaged(absl::StrCat(data.size(), " bytes, expected ", expected));
  }
  auto program = std::make_unique<CommandProgram>();
  data.remove_prefix(kHeaderBytes);
  const auto functions = data.subspan(0, function_count * kFunctionBytes);
  data.remove_prefix(functions.size());
  program->commands_.resize(command_count);
  if (command_count > 0) {
    std::memcpy(program->commands_.data(), data.data(),
                command_count * sizeof(Command));
  }
  data.remove_prefix(command_count * sizeof(Command));
  TAKT_RETURN_IF_ERROR(program->ReadFunctions(functions, function_count, data));
  TAKT_RETURN_IF_ERROR(program->CheckCommands());
  return program;
}

absl::Status CommandProgram::ReadFunctions(absl::Span<const uint8_t> data,
                                           uint32_t function_count,
                                           absl::Span<const uint8_t> names) {
  // Each function gets a copy of its name, so functions must not share one.
  size_t name_bytes = 0;
  for (uint32_t i = 0; i < function_count; ++i) {
    const auto entry = data.subspan(i * kFunctionBytes, kFunctionBytes);
    const auto name = ReadAt<uint32_t>(entry, 0);
    Function function;
    function.first_command = ReadAt<uint32_t>(entry, 4);
    function.command_count = ReadAt<uint32_t>(entry, 8);
    function.constant_count = ReadAt<uint16_t>(entry, 12);
    function.binding_count = ReadAt<uint16_t>(entry, 14);
    const auto* const end =
        name < names.size() ? static_cast<const uint8_t*>(std::memchr(
                                  names.data() + name, 0, names.size() - name))
                            : nullptr;
    if (end == nullptr) {
      return Damaged(absl::StrCat("function ", i, " has no name"));
    }
    const uint8_t* const begin = names.data() + name;
    name_bytes += Narrow<size_t>(end - begin) + 1;
    if (name_bytes > names.size()) {
      return Damaged(absl::StrCat("function ", i, ": its name at ", name,
                                  " overlaps another"));
    }
    function.name.assign(begin, end);
    if (!RangeFits(function.first_command, function.command_count,
                   commands_.size())) {
      return Damaged(absl::StrCat(
          function.name, ": commands ", function.first_command, " to ",
          uint64_t{function.first_command} + function.command_count, " of ",
          commands_.size()));
    }
    if (function.constant_count > kConstantCountMax ||
        function.binding_count > kBindingCountMax) {
      return Damaged(absl::StrCat(function.name, ": ", function.constant_count,
                                  " constants and ", function.binding_count,
                                  " bindings"));
    }
    functions_.push_back(std::move(function));
  }
  return absl::OkStatus();
}

absl::Status CommandProgram::CheckCommands() const {
  for (size_t i = 0; i < commands_.size(); ++i) {
    const Command& command = commands_[i];
    if (command.opcode >= kOpcodeCount || command.reserved != 0) {
      return Damaged(absl::StrCat("command ", i, ": opcode ", command.opcode));
    }
    const uint8_t field_count = kFieldCounts[command.opcode];
    if (command.mask >> field_count != 0) {
      return Damaged(absl::StrCat("command ", i, ": mask 0x",
                                  absl::Hex(command.mask), " of ", field_count,
                                  " fields"));
    }
  }
  return absl::OkStatus();
}

takt_npu_result_t CommandProgram::Run(const takt_npu_program_t& dispatch,
                                      absl::Span<uint8_t> scratchpad,
                                      Work* work) const {
  if (dispatch.function >= functions_.size()) return TAKT_NPU_RESULT_INVALID;
  const Function& function = functions_[dispatch.function];
  if (dispatch.constant_count != function.constant_count ||
      dispatch.binding_count != function.binding_count) {
    return TAKT_NPU_RESULT_INVALID;
  }
  Runner runner(dispatch, scratchpad, work);
  for (uint32_t i = 0; i < function.command_count; ++i) {
    if (!runner.Run(commands_[function.first_command + i])) {
      return TAKT_NPU_RESULT_INVALID;
    }
  }
  return TAKT_NPU_RESULT_OK;
}

}  // namespace takt::npu
