#include "npu/staging.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/status.h"
#include "npu/operation.h"

namespace takt::npu {
namespace {

constexpr uint64_t kAlignment = 64;  // Of operands: a line of the cache.
// Staging takes at most this much of the unit's memory: enough for the panels
// of large products, and most of a small memory is left to programs.
constexpr uint64_t kBufferBytesMax = 16 << 20;

}  // namespace

// The layout of the unit's buffer: a left panel, then two halves, each with
// `columns` right panels and the output tiles of their products.
struct Staging::Blocks {
  TypeBytes bytes;
  uint64_t left_bytes = 0;   // A left panel.
  uint64_t right_bytes = 0;  // A right panel.
  uint64_t tile_bytes = 0;   // An output tile.
  int64_t columns = 0;       // Right panels at a time.
  uint64_t half = 0;         // The offset of the first half.
  uint64_t half_bytes = 0;   // The length of each half.
};

Staging::~Staging() {
  if (buffer_ != 0) unit_.Free(buffer_);
}

absl::StatusOr<Staging::Blocks> Staging::Plan(const takt_npu_mmt4d_t& product) {
  const auto u = [](int64_t x) { return static_cast<uint64_t>(x); };
  Blocks blocks;
  blocks.bytes = BytesOf(product.type);
  blocks.left_bytes =
      u(product.k) * u(product.m0) * u(product.k0) * blocks.bytes.left;
  blocks.right_bytes =
      u(product.k) * u(product.n0) * u(product.k0) * blocks.bytes.right;
  blocks.tile_bytes = u(product.m0) * u(product.n0) * blocks.bytes.sum;
  if (buffer_ == 0) {
    const uint64_t bytes =
        std::min(unit_.capabilities().memory_bytes, kBufferBytesMax);
    TAKT_ASSIGN_OR_RETURN(buffer_, unit_.Allocate(bytes));
    buffer_bytes_ = bytes;
  }
  blocks.half = AlignUp(blocks.left_bytes, kAlignment);
  const uint64_t each = AlignUp(blocks.right_bytes, kAlignment) +
                        AlignUp(blocks.tile_bytes, kAlignment);
  const uint64_t room =
      blocks.half < buffer_bytes_ ? (buffer_bytes_ - blocks.half) / 2 : 0;
  blocks.columns = std::min<int64_t>(
      product.n, static_cast<int64_t>(room / std::max<uint64_t>(each, 1)));
  blocks.half_bytes = static_cast<uint64_t>(blocks.columns) * each;
  if (blocks.columns == 0) {
    return absl::UnimplementedError(absl::StrCat(
        "NPU ", unit_.driver_name(), ": ", blocks.left_bytes, " and ",
        blocks.right_bytes, " bytes do not fit into ", buffer_bytes_));
  }
  return blocks;
}

void Staging::AddMove(uint8_t* host, uint64_t offset, uint64_t byte_length,
                      bool is_to_unit) {
  if (byte_length == 0) return;
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = TAKT_NPU_KIND_TRANSFER;
  const takt_npu_range_t near = {host, 0, 0, byte_length};
  const takt_npu_range_t far = {nullptr, buffer_, offset, byte_length};
  operation.transfer.source = is_to_unit ? near : far;
  operation.transfer.target = is_to_unit ? far : near;
  operations_.push_back(operation);
  moves_.push_back({host, byte_length, 0, is_to_unit});
}

uint64_t Staging::CountBytes(bool is_to_unit) const {
  uint64_t count = 0;
  for (const Move& move : moves_) {
    if (move.is_to_unit == is_to_unit) count += move.byte_length;
  }
  return count;
}

void Staging::SumMoves(bool is_to_unit, std::vector<uint64_t>* sums) const {
  TAKT_DCHECK(sums->size() == moves_.size());
  for (size_t i = 0; i < moves_.size(); ++i) {
    if (moves_[i].is_to_unit != is_to_unit) continue;
    (*sums)[i] = takt_npu_checksum(moves_[i].host, moves_[i].byte_length);
  }
}

void Staging::AddColumns(const takt_npu_mmt4d_t& product, const Blocks& blocks,
                         int64_t first, int64_t count, uint8_t* row) {
  const auto right_stride = static_cast<uint64_t>(product.right_stride);
  const auto n = static_cast<uint64_t>(count);
  const bool is_odd = first / blocks.columns % 2 != 0;
  const uint64_t half = blocks.half + (is_odd ? blocks.half_bytes : 0);
  for (uint64_t c = 0; c < n; ++c) {
    const uint64_t j = static_cast<uint64_t>(first) + c;
    AddMove(product.right.data + j * right_stride * blocks.bytes.right,
            half + c * blocks.right_bytes, blocks.right_bytes,
            /*is_to_unit=*/true);
  }
  const uint64_t tiles = AlignUp(half + n * blocks.right_bytes, kAlignment);
  TAKT_DCHECK(tiles + n * blocks.tile_bytes <= buffer_bytes_);
  if (product.accumulate != 0) {
    AddMove(row, tiles, n * blocks.tile_bytes, /*is_to_unit=*/true);
  }
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = TAKT_NPU_KIND_MMT4D;
  takt_npu_mmt4d_t& part = operation.mmt4d;
  part = product;
  part.m = 1;
  part.n = count;
  part.left = {nullptr, buffer_, 0, blocks.left_bytes};
  part.right = {nullptr, buffer_, half, n * blocks.right_bytes};
  part.right_stride = product.k * product.n0 * product.k0;
  part.out = {nullptr, buffer_, tiles, n * blocks.tile_bytes};
  operations_.push_back(operation);
  AddMove(row, tiles, n * blocks.tile_bytes, /*is_to_unit=*/false);
}

void Staging::BuildBatch(const takt_npu_mmt4d_t& product, const Blocks& blocks,
                         int64_t panel) {
  operations_.clear();
  moves_.clear();
  const auto i = static_cast<uint64_t>(panel);
  const auto left_stride = static_cast<uint64_t>(product.left_stride);
  const auto out_stride = static_cast<uint64_t>(product.out_stride);
  AddMove(product.left.data + i * left_stride * blocks.bytes.left, 0,
          blocks.left_bytes, /*is_to_unit=*/true);
  uint8_t* const out = product.out.data + i * out_stride * blocks.bytes.sum;
  for (int64_t first = 0; first < product.n; first += blocks.columns) {
    AddColumns(product, blocks, first,
               std::min(blocks.columns, product.n - first),
               out + static_cast<uint64_t>(first) * blocks.tile_bytes);
  }
  // The moves have reached their final places.
  size_t move = 0;
  for (takt_npu_operation_t& operation : operations_) {
    if (operation.kind != TAKT_NPU_KIND_TRANSFER) continue;
    operation.transfer.checksum = &moves_[move++].checksum;
  }
  TAKT_CHECK(move == moves_.size());
}

absl::Status Staging::RunPanel(const takt_npu_mmt4d_t& product,
                               const Blocks& blocks, int64_t panel,
                               const NpuRequest& request) {
  BuildBatch(product, blocks, panel);
  // A copy back may overwrite, in the same batch, what went to the unit: the
  // checksums of the latter are taken before the batch runs.
  std::vector<uint64_t> sums(moves_.size());
  SumMoves(/*is_to_unit=*/true, &sums);
  auto compare = [&] {
    SumMoves(/*is_to_unit=*/false, &sums);
    for (size_t i = 0; i < moves_.size(); ++i) {
      if (sums[i] != moves_[i].checksum) return TAKT_NPU_RESULT_CORRUPTED;
    }
    return TAKT_NPU_RESULT_OK;
  };
  absl::FunctionRef<takt_npu_result_t()> check = compare;
  // A failed batch may have overwritten a part of the row that it adds to.
  uint8_t* const out =
      product.out.data + static_cast<uint64_t>(panel) *
                             static_cast<uint64_t>(product.out_stride) *
                             blocks.bytes.sum;
  const uint64_t row_bytes =
      static_cast<uint64_t>(product.n) * blocks.tile_bytes;
  std::vector<uint8_t> row_before;
  if (product.accumulate != 0) row_before.assign(out, out + row_bytes);
  auto put_back = [&] {
    if (!row_before.empty()) std::memcpy(out, row_before.data(), row_bytes);
  };
  absl::FunctionRef<void()> restore = put_back;
  NpuRequest checked = request;
  checked.check = &check;
  checked.restore = &restore;
  TAKT_RETURN_IF_ERROR(unit_.Run(operations_, checked));
  unit_.CountTransfer(CountBytes(/*is_to_unit=*/true),
                      CountBytes(/*is_to_unit=*/false));
  return absl::OkStatus();
}

absl::Status Staging::Run(const takt_npu_mmt4d_t& product,
                          const NpuRequest& request) {
  // Between panels the buffer and the unit go to the most urgent request.
  absl::Status status;
  for (int64_t panel = 0; panel < product.m && status.ok(); ++panel) {
    const ScopedLease turn(turn_, request.urgency);
    absl::StatusOr<Blocks> blocks = Plan(product);
    status = blocks.ok() ? RunPanel(product, *blocks, panel, request)
                         : blocks.status();
  }
  return status;
}

}  // namespace takt::npu
