#include "npu/operation_runner.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "npu/driver_table.h"
#include "npu/operation.h"
#include "npu/reference.h"
#include "npu/staging.h"

namespace takt::npu {
namespace {

bool IsProgram(const takt_npu_operation_t& operation) {
  return operation.kind == TAKT_NPU_KIND_PROGRAM;
}

// The contents of an operand's blocks before a batch.
class SavedOperand {
 public:
  explicit SavedOperand(const OperandRange& operand)
      : data_(operand.range->data),
        layout_(operand.layout),
        element_bytes_(operand.element_bytes) {
    ForEachBlock([this](uint8_t* block, size_t bytes) {
      bytes_.insert(bytes_.end(), block, block + bytes);
    });
  }
  void Restore() const {
    const uint8_t* from = bytes_.data();
    const uint8_t* const end = from + bytes_.size();
    ForEachBlock([&from, end](uint8_t* block, size_t bytes) {
      TAKT_CHECK(bytes <= static_cast<size_t>(end - from));
      std::memcpy(block, from, bytes);
      from += bytes;
    });
    TAKT_CHECK(from == end);
  }

 private:
  // Memory between blocks may belong to others, and is not touched.
  template <typename Visit>
  void ForEachBlock(Visit visit) const {
    const size_t bytes = static_cast<size_t>(layout_.block) * element_bytes_;
    const auto step = static_cast<int64_t>(element_bytes_);
    for (int64_t i = 0; bytes > 0 && i < layout_.size0; ++i) {
      for (int64_t j = 0; j < layout_.size1; ++j) {
        visit(data_ + (i * layout_.stride0 + j * layout_.stride1) * step,
              bytes);
      }
    }
  }

  uint8_t* const data_;
  const Layout layout_;
  const uint32_t element_bytes_;
  std::vector<uint8_t> bytes_;
};

bool Overlap(const OperandRange& a, const OperandRange& b) {
  const uint8_t* const x = a.range->data;
  const uint8_t* const y = b.range->data;
  return a.used_bytes > 0 && b.used_bytes > 0 && x < y + b.used_bytes &&
         y < x + a.used_bytes;
}

// The operands to restore before the operations can run again: those that are
// written after an operation has read them.
std::vector<SavedOperand> SaveOperands(
    absl::Span<takt_npu_operation_t> operations) {
  std::vector<SavedOperand> saved;
  absl::InlinedVector<OperandRange, 4> read;
  for (takt_npu_operation_t& operation : operations) {
    OperandRanges operands;
    if (!FindOperands(operation, &operands).ok()) continue;
    for (const OperandRange& each : operands) {
      if (each.is_read) read.push_back(each);
    }
    for (const OperandRange& each : operands) {
      if (each.is_written &&
          std::any_of(read.begin(), read.end(), [&](const OperandRange& other) {
            return Overlap(each, other);
          })) {
        saved.emplace_back(each);
      }
    }
  }
  return saved;
}

// Whether the CPU may succeed after this failure; it cannot if the operation
// itself is invalid.
bool CanFallBack(const absl::Status& failure) {
  return failure.code() != absl::StatusCode::kInvalidArgument;
}

absl::Status RunOnCpu(NpuUnit& unit, const takt_npu_operation_t& operation) {
  return ResultStatus(unit.stand_in().Run(operation, HostAddressSpace()),
                      absl::StrCat("NPU ", unit.driver_name(), ": on the CPU"));
}

}  // namespace

bool TakesProduct(const takt_npu_capabilities_t& capabilities,
                  takt_npu_type_t type, int64_t m0, int64_t n0, int64_t k0) {
  if ((capabilities.types >> type & 1) == 0) return false;
  const int64_t tile[3] = {m0, n0, k0};
  for (int d = 0; d < 3; ++d) {
    if (tile[d] > capabilities.tile_max[d] ||
        tile[d] % capabilities.tile_multiple[d] != 0) {
      return false;
    }
  }
  return true;
}

bool Takes(const NpuUnit& unit, const takt_npu_operation_t& operation) {
  const takt_npu_capabilities_t& capabilities = unit.capabilities();
  if (operation.kind >= 32 || (capabilities.kinds >> operation.kind & 1) == 0) {
    return false;
  }
  if (IsProgram(operation)) return unit.in_host_memory();
  if (operation.kind == TAKT_NPU_KIND_MMT4D) {
    const takt_npu_mmt4d_t& p = operation.mmt4d;
    if (BytesOf(p.type).sum == 0 ||
        !TakesProduct(capabilities, static_cast<takt_npu_type_t>(p.type), p.m0,
                      p.n0, p.k0)) {
      return false;
    }
  } else if (operation.kind == TAKT_NPU_KIND_PACK &&
             operation.pack.element_bytes == 2) {
    return false;  // The driver interface lacks such packs.
  }
  // Only products are worth the copies to the unit and back.
  if (!unit.in_host_memory()) return operation.kind == TAKT_NPU_KIND_MMT4D;
  if (capabilities.alignment == 1) return true;
  takt_npu_operation_t copy = operation;
  OperandRanges operands;
  if (!FindOperands(copy, &operands).ok())
    return true;  // The unit reports the error.
  return std::all_of(operands.begin(), operands.end(),
                     [&](const OperandRange& each) {
                       return reinterpret_cast<uintptr_t>(each.range->data) %
                                  capabilities.alignment ==
                              0;
                     });
}

absl::StatusOr<bool> RunOnUnit(
    NpuUnit& unit, absl::Span<const takt_npu_operation_t> operations,
    const NpuRequest& request) {
  absl::InlinedVector<takt_npu_operation_t, 1> own(operations.begin(),
                                                   operations.end());
  TAKT_CHECK(!own.empty());
  const bool has_program = std::any_of(own.begin(), own.end(), &IsProgram);
  NpuRequest mine = request;
  mine.is_repeatable = request.is_repeatable && !has_program;
  absl::Status status;
  if (unit.in_host_memory()) {
    const std::vector<SavedOperand> saved =
        has_program ? std::vector<SavedOperand>()
                    : SaveOperands(absl::MakeSpan(own));
    auto restore_all = [&saved] {
      for (const SavedOperand& each : saved) each.Restore();
    };
    absl::FunctionRef<void()> restore = restore_all;
    mine.restore = &restore;
    status = unit.Run(own, mine);
  } else {
    // Each row of the output is either done or unchanged, so a product that
    // accumulates needs the whole output restored.
    const std::vector<SavedOperand> saved = SaveOperands(absl::MakeSpan(own));
    for (const takt_npu_operation_t& each : own) {
      TAKT_CHECK(each.kind == TAKT_NPU_KIND_MMT4D);  // Takes() has checked it.
      if (status.ok()) status = unit.staging().Run(each.mmt4d, mine);
    }
    if (!status.ok()) {
      for (const SavedOperand& each : saved) each.Restore();
    }
  }
  if (status.ok()) return true;
  if (has_program) {
    unit.NoteFault(NpuFaultAction::kFail);
    return status;
  }
  const NpuFaultPolicy& policy =
      request.policy != nullptr ? *request.policy : unit.policy();
  if (status.code() == absl::StatusCode::kUnimplemented) {
    unit.CountUnsupported(own.size());
    return false;
  }
  if (!policy.fall_back_to_cpu || !CanFallBack(status)) {
    unit.NoteFault(NpuFaultAction::kFail);
    return status;
  }
  unit.CountFallback(own.size());
  return false;
}

absl::Status RunOperations(NpuUnit& unit,
                           absl::Span<const takt_npu_operation_t> operations,
                           const NpuRequest& request) {
  TAKT_CHECK(request.check == nullptr && request.restore == nullptr);
  while (!operations.empty()) {
    size_t count = 0;
    while (count < operations.size() && Takes(unit, operations[count])) ++count;
    bool is_done = false;
    if (count > 0) {
      TAKT_ASSIGN_OR_RETURN(
          is_done, RunOnUnit(unit, operations.subspan(0, count), request));
    } else {
      if (IsProgram(operations[0])) {
        return absl::UnimplementedError(absl::StrCat(
            "NPU ", unit.driver_name(), " runs no programs in host memory"));
      }
      count = 1;
      unit.CountUnsupported(1);
    }
    for (size_t i = 0; i < count && !is_done; ++i) {
      TAKT_RETURN_IF_ERROR(RunOnCpu(unit, operations[i]));
    }
    TAKT_CHECK(count > 0 && count <= operations.size());
    operations.remove_prefix(count);
  }
  return absl::OkStatus();
}

}  // namespace takt::npu
