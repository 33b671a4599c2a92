// The numbers that compiled kernels pass to recurrent layers, behind buffers.
#ifndef TAKT_CPU_RECURRENT_PARAMETERS_H_
#define TAKT_CPU_RECURRENT_PARAMETERS_H_

#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/gru.h"

namespace takt::cpu {

struct RecurrentParameters {
  int32_t steps, batch, hidden;
  int32_t lanes;  // Of a part.
  RowTileParameters tile;
};

// What a workgroup computes. False if there is no such shape or tile.
inline bool FindWork(const RecurrentParameters& p,
                     kernels::RecurrentShape* shape,
                     kernels::RecurrentTile* tile) {
  *shape = {p.steps, p.batch, p.hidden};
  return kernels::FindRecurrentTile(*shape, p.lanes, p.tile.part,
                                    p.tile.first_row, p.tile.row_count, tile);
}

}  // namespace takt::cpu

#endif  // TAKT_CPU_RECURRENT_PARAMETERS_H_
