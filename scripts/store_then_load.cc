// Counts how often two threads, each of which writes its variable and then
// reads the other one, both read the old value. Sequentially consistent
// accesses never do, by the memory model of C++. An emulator may: qemu 7.2 runs
// a store-release and a load-acquire of aarch64 as x86_64 orders them.
#include <atomic>
#include <cstdio>
#include <thread>

int main() {
  constexpr int kRounds = 100'000;
  std::atomic<int> begun{0}, ended{0}, mine{0}, other{0};
  int seen_by_other = 0, count = 0;
  std::thread thread([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (begun.load() != round) {
      }
      other.store(round);
      seen_by_other = mine.load();
      ended.store(round);
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    begun.store(round);
    for (volatile int i = 0; i < round % 7; i = i + 1) {
    }
    mine.store(round);
    const int seen = other.load();
    while (ended.load() != round) {
    }
    if (seen != round && seen_by_other != round) ++count;
  }
  thread.join();
  std::printf("a store passes a later load in %d of %d rounds\n", count,
              kRounds);
  return count > 0 ? 1 : 0;
}
