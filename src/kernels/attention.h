// Attention: for each head of a batch
//
//   output = softmax(scale * Q K^T + bias) V
//
// with Q [queries][key_size], K [keys][key_size], V [keys][value_size], and
// with or without a bias [queries][keys], such as a mask. Each lies somewhere
// in a tensor: heads may lie side by side in a row, as products of matrices
// leave them, so that nothing has to be transposed.
//
// Method: keys come in steps, whose scores never leave the nearest cache; the
// sums so far are scaled when the greatest score grows (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018).
#ifndef TAKT_KERNELS_ATTENTION_H_
#define TAKT_KERNELS_ATTENTION_H_

#include <cstdint>

namespace takt::kernels {

// The most numbers of a key or of a value.
inline constexpr int64_t kAttentionSizeMax = 128;

struct AttentionShape {
  int64_t batch, heads, queries, keys, key_size, value_size;
};

// Where the elements of a tensor are: element (b, h, row, column) is at
// b * batch + h * head + row * this->row + column * this->column.
struct AttentionStrides {
  int64_t batch, head, row, column;
  int64_t Offset(int64_t b, int64_t h) const { return b * batch + h * head; }
};

// A tensor, and how many elements there are from `data` on.
template <typename T>
struct AttentionTensor {
  T* data;
  int64_t size;
  AttentionStrides strides;
};

// One head of one image of the batch, and a range of its queries. Tiles write
// disjoint rows of the output and may run on any threads at once.
struct AttentionTile {
  int64_t batch, head;
  int64_t query_begin, query_end;
};

// NULL, or what is wrong: sizes that a tensor cannot have, so that no product
// of them overflows.
const char* CheckAttentionShape(const AttentionShape& shape);

// Whether all of [batch][heads][rows][columns] lies within `size` elements.
bool FitsAttention(const AttentionStrides& strides, const AttentionShape& shape,
                   int64_t rows, int64_t columns, int64_t size);

struct AttentionOperands {
  AttentionTensor<const float> query, key, value;
  AttentionTensor<float> output;
  float scale;
  AttentionTensor<const float> bias = {};  // Without data: there is none.
};

// The shape has passed CheckAttentionShape(), each tensor FitsAttention(), the
// columns of all tensors but the keys are 1 apart, and the tile lies within the
// shape. A bias of -infinity leaves a key out. A query whose keys are all left
// out gets zeros.
using AttentionKernel = void (*)(const AttentionShape& shape,
                                 const AttentionOperands& operands,
                                 const AttentionTile& tile);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_ATTENTION_H_
