// A thread that spins calls it between two loads. It leaves the core's
// resources to the core's other thread, and loads the memory system less.
#ifndef TAKT_BASE_PAUSE_H_
#define TAKT_BASE_PAUSE_H_

namespace takt {

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#elif defined(__riscv)
  // `pause` of Zihintpause, in the form that cores without it take as a nop.
  asm volatile(".4byte 0x0100000f" ::: "memory");
#endif
}

}  // namespace takt

#endif  // TAKT_BASE_PAUSE_H_
