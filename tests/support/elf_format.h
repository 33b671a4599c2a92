/* The format of compiled executables that run on this machine. */
#ifndef TAKT_TESTS_SUPPORT_ELF_FORMAT_H_
#define TAKT_TESTS_SUPPORT_ELF_FORMAT_H_

#if defined(__x86_64__)
#define TAKT_ELF_FORMAT "embedded-elf-x86_64"
#elif defined(__aarch64__)
#define TAKT_ELF_FORMAT "embedded-elf-arm_64"
#elif defined(__riscv) && __riscv_xlen == 64
#define TAKT_ELF_FORMAT "embedded-elf-riscv_64"
#endif

#endif  // TAKT_TESTS_SUPPORT_ELF_FORMAT_H_
