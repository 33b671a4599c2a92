// How a thread sleeps on a word of flags: the operations of a Sleeper
// (base/sleeper.h), for any atomic word, so that tests run them under a model
// of memory.
#ifndef TAKT_BASE_SLEEP_WORD_H_
#define TAKT_BASE_SLEEP_WORD_H_

#include <atomic>
#include <cstdint>

namespace takt::sleep_word {

// Set while the thread sleeps, or is about to.
inline constexpr uint32_t kAsleep = 1u << 31;

// Raises `flag`, and calls wake() if the thread sleeps. Accesses the word only
// once.
template <typename Word, typename Wake>
void Raise(Word& word, uint32_t flag, Wake wake) {
  const uint32_t old = word.fetch_or(flag, std::memory_order_acq_rel);
  if ((old & kAsleep) != 0) wake();
}

// Sleeps until a flag is raised or wait() returns false; returns the flags.
// wait() sleeps while the word is kAsleep, and may return before.
template <typename Word, typename Wait>
uint32_t Sleep(Word& word, Wait wait) {
  uint32_t now = word.fetch_or(kAsleep, std::memory_order_acq_rel) | kAsleep;
  while (now == kAsleep && wait()) {
    now = word.load(std::memory_order_acquire);
  }
  return word.fetch_and(~kAsleep, std::memory_order_acq_rel) & ~kAsleep;
}

}  // namespace takt::sleep_word

#endif  // TAKT_BASE_SLEEP_WORD_H_
