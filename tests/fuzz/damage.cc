#include "tests/fuzz/damage.h"

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

// Defined if a sanitizer is linked.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(
    void (*callback)());

namespace takt::fuzz {
namespace {

constexpr uint64_t kValueCount = 9;
constexpr uint64_t kWidthCount = 3;  // 2, 4 and 8 bytes.
constexpr int64_t kTimeMaxNs = 1'000'000'000;
constexpr uint64_t kMemoryMaxKib = 64 * 1024;
// A sanitizer makes code slower; it keeps freed memory, too. So does an
// emulator.
constexpr int64_t kSlowFactor = 30;

bool IsSlow() {
  return __sanitizer_set_death_callback != nullptr ||
         std::getenv("TAKT_EMULATED") != nullptr;
}

// Boundary values of a field of so many bits, in a file of `size` bytes.
uint64_t BoundaryValue(uint64_t number, int bits, uint64_t size) {
  const uint64_t most = ~uint64_t{0} >> (64 - bits);
  const uint64_t values[kValueCount] = {
      0, 1, most, most / 2, most / 2 + 1, most - 7, size - 1, size, size + 1};
  return values[number];
}

int64_t ProcessorNs() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

uint64_t PeakKib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

}  // namespace

uint64_t DamageCount(size_t file_bytes) {
  return file_bytes * (1 + 8 + kWidthCount * kValueCount);
}

std::vector<uint8_t> Damage(const std::vector<uint8_t>& file, uint64_t number) {
  std::vector<uint8_t> bytes = file;
  const size_t at = number % file.size();
  uint64_t kind = number / file.size();
  if (kind == 0) {
    bytes.resize(at);
  } else if (kind <= 8) {
    bytes[at] = static_cast<uint8_t>(bytes[at] ^ 1u << (kind - 1));
  } else {
    kind -= 9;
    const size_t width = size_t{2} << (kind % kWidthCount);
    const uint64_t value = BoundaryValue(
        kind / kWidthCount, static_cast<int>(width * 8), file.size());
    const size_t length = width < file.size() - at ? width : file.size() - at;
    std::memcpy(bytes.data() + at, &value, length);
  }
  return bytes;
}

DamageLimits::DamageLimits(size_t file_bytes)
    : memory_max_kib_(PeakKib() + kMemoryMaxKib + file_bytes * 8 / 1024) {}

void DamageLimits::Begin() { begin_ns_ = ProcessorNs(); }

bool DamageLimits::End() {
  const int64_t took_ns = ProcessorNs() - begin_ns_;
  const bool is_slow = IsSlow();
  const int64_t most_ns = is_slow ? kTimeMaxNs * kSlowFactor : kTimeMaxNs;
  if (took_ns > most_ns) {
    std::fprintf(stderr, "damage: took %lld ms of processor time\n",
                 static_cast<long long>(took_ns / 1'000'000));
    return false;
  }
  if (!is_slow && PeakKib() > memory_max_kib_) {
    std::fprintf(stderr, "damage: the process has had %llu KiB\n",
                 static_cast<unsigned long long>(PeakKib()));
    return false;
  }
  return true;
}

}  // namespace takt::fuzz
