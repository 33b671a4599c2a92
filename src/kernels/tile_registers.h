// The tile registers of x86-64's AMX, which a process has to ask for.
#ifndef TAKT_KERNELS_TILE_REGISTERS_H_
#define TAKT_KERNELS_TILE_REGISTERS_H_

namespace takt::kernels {

// Asks Linux for the tile registers, for all threads of the process. True if
// they may be used, false on a processor or a system without them. From then on
// a signal handler's own stack must have 11 KiB for registers, so only code
// that needs the tiles asks. Any thread may call it, any number of times.
bool EnableTileRegisters();

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_TILE_REGISTERS_H_
