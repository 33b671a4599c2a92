#include "npu/batch_executable.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/status.h"
#include "hal/buffer.h"
#include "hal/command_buffer.h"
#include "npu/operation.h"
#include "npu/operation_runner.h"
#include "npu/program_executable.h"
#include "npu/request_executable.h"

namespace takt::npu {
namespace {

// Memory of one run.
class Scratch {
 public:
  explicit Scratch(uint64_t bytes)
      : data_(bytes == 0 ? nullptr
                         : static_cast<uint8_t*>(::operator new(
                               bytes, kAlignment, std::nothrow))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete(data_, kAlignment); }
  uint8_t* data() const { return data_; }

 private:
  static constexpr std::align_val_t kAlignment{hal::kBufferAlignment};
  uint8_t* const data_;
};

}  // namespace

// Where the bindings of one dispatch are.
struct BatchExecutable::Addresses {
  const cpu::DispatchArguments& arguments;
  uint8_t* scratch;

  // Puts the address in the place of the index. For programs a length of 0 is
  // the rest.
  void ResolveRest(takt_npu_range_t& range) const {
    if (range.byte_length == 0 && range.buffer < arguments.binding_count) {
      range.byte_length =
          arguments.binding_lengths[range.buffer] - range.offset;
    }
    Resolve(range);
  }
  void Resolve(takt_npu_range_t& range) const {
    const bool is_scratch = range.buffer == arguments.binding_count;
    uint8_t* const start =
        is_scratch ? scratch
                   : static_cast<uint8_t*>(arguments.bindings[range.buffer]);
    range.data = start + range.offset;
    range.buffer = 0;
    range.offset = 0;
  }
};

absl::StatusOr<std::shared_ptr<BatchExecutable>> BatchExecutable::Create(
    Ref<NpuUnit> unit, absl::Span<const takt_npu_operation_t> operations,
    size_t binding_count, absl::Span<cpu::LoadedExecutable* const> programs,
    const Options& options) {
  if (operations.size() > kOperationsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("operations: expected at most ", kOperationsMax, ", got ",
                     operations.size()));
  }
  if (binding_count > hal::CommandBuffer::kMaxDispatchBindings) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bindings: expected at most ", hal::CommandBuffer::kMaxDispatchBindings,
        ", got ", binding_count));
  }
  std::shared_ptr<BatchExecutable> code(
      new BatchExecutable(std::move(unit), options));
  code->bindings_.resize(binding_count);
  for (size_t i = 0; i < operations.size(); ++i) {
    const absl::Status status = code->Add(operations[i], programs);
    if (!status.ok()) return Annotate(status, absl::StrCat("operation ", i));
  }
  Function function;
  function.name = "npu batch";
  function.binding_count = static_cast<uint32_t>(binding_count);
  function.is_sequential = true;
  code->SetFunctions({std::move(function)});
  return code;
}

absl::Status BatchExecutable::Add(
    takt_npu_operation_t operation,
    absl::Span<cpu::LoadedExecutable* const> programs) {
  if (operation.kind == TAKT_NPU_KIND_TRANSFER) {
    return absl::InvalidArgumentError(
        "a transfer: Takt makes these itself where they are needed");
  }
  if (operation.kind == TAKT_NPU_KIND_PROGRAM) {
    TAKT_RETURN_IF_ERROR(AddProgram(operation.program, programs));
    operations_.push_back(operation);
    return absl::OkStatus();
  }
  OperandRanges operands;
  TAKT_RETURN_IF_ERROR(FindOperands(operation, &operands));
  for (const OperandRange& each : operands) {
    TAKT_RETURN_IF_ERROR(AddRange(each.name, each.used_bytes,
                                  each.element_bytes, each.is_written,
                                  *each.range));
  }
  operations_.push_back(operation);
  return absl::OkStatus();
}

absl::Status BatchExecutable::AddRange(const char* name, uint64_t used_bytes,
                                       uint32_t element_bytes, bool is_written,
                                       takt_npu_range_t& range) {
  const uint64_t index = range.buffer;
  if (index >= range_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": binding ", index, " of ", bindings_.size()));
  }
  if (range.byte_length == 0) range.byte_length = used_bytes;
  uint64_t end = 0;
  if (used_bytes > range.byte_length ||
      !CheckedAdd(range.offset, range.byte_length, &end) ||
      range.offset % element_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", used_bytes, " bytes of elements of ", element_bytes,
        " in a range of ", range.byte_length, " at ", range.offset));
  }
  range.data = nullptr;
  if (index < bindings_.size()) {
    Binding& binding = bindings_[index];
    binding.bytes_min = std::max(binding.bytes_min, end);
    binding.is_written = binding.is_written || is_written;
    binding.alignment = std::max(binding.alignment, element_bytes);
  } else if (end > options_.scratch_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ends at ", end, " in a scratch memory of ",
                     options_.scratch_bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status BatchExecutable::AddProgram(
    takt_npu_program_t& run,
    absl::Span<cpu::LoadedExecutable* const> programs) {
  if (run.program >= programs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("program ", run.program, " of ", programs.size()));
  }
  const std::shared_ptr<cpu::ExecutableCode>& code =
      programs[run.program]->code();
  const ProgramExecutable* const program = ProgramExecutable::From(*code);
  if (program == nullptr || program->unit() != unit_.get()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "program ", run.program, " is none that this NPU has loaded"));
  }
  if (run.function >= code->functions().size()) {
    return absl::InvalidArgumentError(absl::StrCat("function ", run.function,
                                                   " of a program with ",
                                                   code->functions().size()));
  }
  const Function& function = code->functions()[run.function];
  if (run.constant_count != function.constant_count ||
      run.binding_count != function.binding_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        function.name, " takes ", function.constant_count, " constants and ",
        function.binding_count, " bindings, got ", run.constant_count, " and ",
        run.binding_count));
  }
  ProgramOperands operands;
  operands.constants.assign(run.constants, run.constants + run.constant_count);
  operands.bindings.assign(run.bindings, run.bindings + run.binding_count);
  for (takt_npu_range_t& range : operands.bindings) {
    TAKT_RETURN_IF_ERROR(AddRange("binding", range.byte_length, 1,
                                  /*is_written=*/false, range));
  }
  program_operands_.push_back(std::move(operands));
  programs_.push_back(code);
  run.program = program->handle();
  return absl::OkStatus();
}

absl::Status BatchExecutable::RunWorkgroups(
    size_t, const cpu::DispatchArguments& arguments, uint32_t begin,
    uint32_t end, exec::Worker&) {
  TAKT_CHECK(arguments.binding_count == bindings_.size());
  // The first workgroup runs the whole batch: workgroups come in order, on one
  // thread.
  if (begin != 0 || end == 0) return absl::OkStatus();
  for (size_t i = 0; i < bindings_.size(); ++i) {
    const auto address = reinterpret_cast<uintptr_t>(arguments.bindings[i]);
    if (arguments.binding_lengths[i] < bindings_[i].bytes_min ||
        address % bindings_[i].alignment != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "npu batch: binding ", i, ": ", arguments.binding_lengths[i],
          " bytes, expected ", bindings_[i].bytes_min,
          " or more, at a multiple of ", bindings_[i].alignment));
    }
  }
  const Scratch scratch(options_.scratch_bytes);
  if (scratch.data() == nullptr && options_.scratch_bytes > 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("npu batch: no ", options_.scratch_bytes, " bytes"));
  }
  const Addresses addresses = {arguments, scratch.data()};
  constexpr size_t kFew = 8;
  absl::InlinedVector<takt_npu_operation_t, kFew> operations(
      operations_.begin(), operations_.end());
  absl::InlinedVector<std::vector<takt_npu_range_t>, 1> program_ranges;
  program_ranges.reserve(program_operands_.size());
  for (takt_npu_operation_t& operation : operations) {
    if (operation.kind == TAKT_NPU_KIND_PROGRAM) {
      const ProgramOperands& from = program_operands_[program_ranges.size()];
      program_ranges.push_back(from.bindings);
      for (takt_npu_range_t& each : program_ranges.back()) {
        addresses.ResolveRest(each);
      }
      operation.program.constants = from.constants.data();
      operation.program.bindings = program_ranges.back().data();
      continue;
    }
    OperandRanges operands;
    TAKT_RETURN_IF_ERROR(FindOperands(operation, &operands));
    for (const OperandRange& each : operands) addresses.Resolve(*each.range);
  }
  NpuRequest request;
  request.urgency = UrgencyOf(arguments.traits);
  request.policy = &options_.policy;
  return RunOperations(*unit_, operations, request);
}

}  // namespace takt::npu
