#include "cpu/attention_imports.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "cpu/buffer_parameter.h"
#include "cpu/kernel_imports.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_i8.h"

namespace takt::cpu {
namespace {

using kernels::AttentionShape;
using kernels::AttentionStrides;
using kernels::AttentionTile;

struct GeometryParameters {
  int32_t batch, heads, queries, keys, key_size, value_size;
  // Of batch, head, row and column, in elements.
  int32_t query[4], key[4], value[4], output[4];

  AttentionShape shape() const {
    return {batch, heads, queries, keys, key_size, value_size};
  }
};

struct AttentionParameters {
  BufferParameter<const float> query, key, value;
  BufferParameter<float> output;
  GeometryParameters geometry;
  RowTileParameters tile;  // A part is an image times the heads, and its head.
  float scale;
};
static_assert(offsetof(AttentionParameters, geometry) == 96);
static_assert(offsetof(AttentionParameters, scale) == 196);

struct AttentionBiasParameters {
  BufferParameter<const float> query, key, value, bias;
  BufferParameter<float> output;
  GeometryParameters geometry;
  int32_t bias_strides[4];
  RowTileParameters tile;
  float scale;
};
static_assert(offsetof(AttentionBiasParameters, geometry) == 120);
static_assert(offsetof(AttentionBiasParameters, scale) == 236);

struct AttentionI8Parameters {
  BufferParameter<const int8_t> query, key, value;
  BufferParameter<const int8_t> logits;
  BufferParameter<const uint32_t> powers;
  BufferParameter<int8_t> output;
  GeometryParameters geometry;
  int32_t query_zero, key_zero, score_zero, weight_zero, value_zero,
      output_zero;
  RowTileParameters tile;
  float score_scale, weight_factor, output_scale;
};
static_assert(offsetof(AttentionI8Parameters, geometry) == 144);
static_assert(offsetof(AttentionI8Parameters, score_scale) == 268);

bool FindTile(const GeometryParameters& g, const RowTileParameters& t,
              AttentionTile* tile) {
  if (t.part < 0 || t.part >= int64_t{g.batch} * g.heads) return false;
  tile->batch = t.part / g.heads;
  tile->head = t.part % g.heads;
  return FindRange(t.first_row, t.row_count, g.queries, &tile->query_begin,
                   &tile->query_end);
}

// False if an element lies outside of the buffer.
template <typename T>
bool FindTensor(const BufferParameter<T>& buffer, const int32_t (&strides)[4],
                const AttentionShape& shape, int64_t rows, int64_t columns,
                kernels::AttentionTensor<T>* tensor) {
  *tensor = {buffer.data(),
             buffer.size,
             {strides[0], strides[1], strides[2], strides[3]}};
  return kernels::FitsAttention(tensor->strides, shape, rows, columns,
                                buffer.size);
}

// The shape has been checked.
template <typename Parameters, typename Operands>
bool FindTensors(const Parameters& p, const AttentionShape& s, Operands* o) {
  const GeometryParameters& g = p.geometry;
  return g.query[3] == 1 && g.value[3] == 1 && g.output[3] == 1 &&
         FindTensor(p.query, g.query, s, s.queries, s.key_size, &o->query) &&
         FindTensor(p.key, g.key, s, s.keys, s.key_size, &o->key) &&
         FindTensor(p.value, g.value, s, s.keys, s.value_size, &o->value) &&
         FindTensor(p.output, g.output, s, s.queries, s.value_size, &o->output);
}

// Whether the tables keep what the kernel is promised of them.
bool CheckTables(const AttentionI8Parameters& p) {
  if (p.logits.size < kernels::kAttentionI8TableSize ||
      p.powers.size < kernels::kAttentionI8TableSize) {
    return false;
  }
  const int8_t* const logits = p.logits.data();
  const uint32_t* const powers = p.powers.data();
  const uint32_t power_max =
      UINT32_MAX / static_cast<uint32_t>(p.geometry.keys);
  if (powers[0] == 0) return false;
  for (int64_t i = 0; i < kernels::kAttentionI8TableSize; ++i) {
    if (powers[i] > power_max || powers[i] > INT32_MAX) return false;
    if (i > 0 && logits[i] < logits[i - 1]) return false;
  }
  return true;
}

int RunAttention(const AttentionParameters& p,
                 kernels::AttentionKernel kernel) {
  const AttentionShape shape = p.geometry.shape();
  kernels::AttentionOperands operands;
  operands.scale = p.scale;
  AttentionTile tile;
  if (kernels::CheckAttentionShape(shape) != nullptr ||
      !FindTile(p.geometry, p.tile, &tile) ||
      !FindTensors(p, shape, &operands)) {
    return kImportInvalid;
  }
  kernel(shape, operands, tile);
  return 0;
}

}  // namespace

int AttentionF32Import(void* parameters, void* context, void*) {
  return RunAttention(
      *static_cast<const AttentionParameters*>(parameters),
      static_cast<const kernels::F32Kernels*>(context)->attention);
}

int AttentionBiasF32Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const AttentionBiasParameters*>(parameters);
  const AttentionShape shape = p.geometry.shape();
  kernels::AttentionOperands o;
  o.scale = p.scale;
  AttentionTile tile;
  if (kernels::CheckAttentionShape(shape) != nullptr ||
      !FindTile(p.geometry, p.tile, &tile) || !FindTensors(p, shape, &o) ||
      p.bias_strides[3] != 1 ||
      !FindTensor(p.bias, p.bias_strides, shape, shape.queries, shape.keys,
                  &o.bias)) {
    return kImportInvalid;
  }
  static_cast<const kernels::F32Kernels*>(context)->attention(shape, o, tile);
  return 0;
}

int AttentionBf16Import(void* parameters, void* context, void*) {
  return RunAttention(
      *static_cast<const AttentionParameters*>(parameters),
      static_cast<const kernels::ConvBf16Kernels*>(context)->attention);
}

int AttentionI8Import(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const AttentionI8Parameters*>(parameters);
  const AttentionShape shape = p.geometry.shape();
  kernels::AttentionI8Operands o;
  AttentionTile tile;
  if (kernels::CheckAttentionI8Shape(shape) != nullptr ||
      !FindTile(p.geometry, p.tile, &tile) || !FindTensors(p, shape, &o) ||
      !CheckTables(p)) {
    return kImportInvalid;
  }
  for (const int32_t zero : {p.query_zero, p.key_zero, p.score_zero,
                             p.weight_zero, p.value_zero, p.output_zero}) {
    if (!IsByte(zero)) return kImportInvalid;
  }
  o.logits = p.logits.data();
  o.powers = p.powers.data();
  o.query_zero = p.query_zero;
  o.key_zero = p.key_zero;
  o.score_zero = p.score_zero;
  o.weight_zero = p.weight_zero;
  o.value_zero = p.value_zero;
  o.output_zero = p.output_zero;
  o.score_scale = p.score_scale;
  o.weight_factor = p.weight_factor;
  o.output_scale = p.output_scale;
  auto& state = *static_cast<KernelImportState*>(context);
  const bool has_scratch = kernels::NeedsAttentionI8Scratch(shape);
  void* const scratch = has_scratch ? state.attention_scratch.Take() : nullptr;
  if (has_scratch && scratch == nullptr) return kImportOutOfMemory;
  state.conv_i8->attention(shape, o, tile, scratch);
  if (has_scratch) state.attention_scratch.Return(scratch);
  return 0;
}

}  // namespace takt::cpu
