// The numbers that compiled kernels pass to recurrent layers, behind buffers.
#ifndef TAKT_CPU_RECURRENT_PARAMETERS_H_
#define TAKT_CPU_RECURRENT_PARAMETERS_H_

#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/gru.h"

namespace takt::cpu {

struct RecurrentParameters {
  int32_t steps, batch, hidden;
  // Only the functions of tiles have these.
  int32_t lanes;
  RowTileParameters tile;
};

// What a workgroup computes: a tile if `has_tile`, or everything. False if
// there is no such shape or tile.
inline bool FindWork(const RecurrentParameters& p, bool has_tile,
                     kernels::RecurrentShape* shape,
                     kernels::RecurrentTile* tile) {
  *shape = {p.steps, p.batch, p.hidden};
  if (has_tile) {
    return kernels::FindRecurrentTile(*shape, p.lanes, p.tile.part,
                                      p.tile.first_row, p.tile.row_count, tile);
  }
  *tile = {0, p.batch, 0, p.hidden};
  return kernels::CheckRecurrentShape(*shape) == nullptr;
}

}  // namespace takt::cpu

#endif  // TAKT_CPU_RECURRENT_PARAMETERS_H_
