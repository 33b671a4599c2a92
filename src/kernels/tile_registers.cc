#include "kernels/tile_registers.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace takt::kernels {

bool EnableTileRegisters() {
#if defined(__x86_64__) && defined(__linux__)
  // Of <asm/prctl.h>, which older headers lack.
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace takt::kernels
