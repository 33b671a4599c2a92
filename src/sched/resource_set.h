// A ResourceSet is a set of resources (cores, NPUs) by index: small, fixed, a
// value, so that a decision is made of a few words and allocates nothing.
#ifndef TAKT_SCHED_RESOURCE_SET_H_
#define TAKT_SCHED_RESOURCE_SET_H_

#include <bit>
#include <cstdint>

namespace takt::sched {

class ResourceSet {
 public:
  static constexpr uint32_t kMaxResources = 256;

  constexpr ResourceSet() = default;
  // `first + count` is at most kMaxResources.
  static constexpr ResourceSet Range(uint32_t first, uint32_t count) {
    ResourceSet set;
    for (uint32_t i = 0; i < count; ++i) set.Add(first + i);
    return set;
  }
  static constexpr ResourceSet All() { return Range(0, kMaxResources); }

  constexpr void Add(uint32_t index) { words_[index / 64] |= Bit(index); }
  constexpr void Remove(uint32_t index) { words_[index / 64] &= ~Bit(index); }
  constexpr bool Contains(uint32_t index) const {
    return (words_[index / 64] & Bit(index)) != 0;
  }
  constexpr bool empty() const {
    return (words_[0] | words_[1] | words_[2] | words_[3]) == 0;
  }
  constexpr uint32_t count() const {
    uint32_t count = 0;
    for (const uint64_t word : words_) {
      // Most are 0, and a processor of no known kind counts bits by a call.
      if (word != 0) count += static_cast<uint32_t>(std::popcount(word));
    }
    return count;
  }
  // The lowest index at or above `from`, or -1.
  constexpr int32_t Next(uint32_t from) const {
    for (uint32_t i = from / 64; i < kWords; ++i) {
      const uint64_t mask =
          i == from / 64 ? ~uint64_t{0} << (from % 64) : ~0ull;
      const uint64_t word = words_[i] & mask;
      if (word != 0)
        return static_cast<int32_t>(i * 64 + std::countr_zero(word));
    }
    return -1;
  }
  // The `count` lowest members, or all if there are fewer.
  constexpr ResourceSet Lowest(uint32_t count) const {
    ResourceSet set;
    for (int32_t i = Next(0); i >= 0 && count > 0; i = After(i), --count) {
      set.Add(static_cast<uint32_t>(i));
    }
    return set;
  }

  constexpr bool Intersects(const ResourceSet& other) const {
    return !(*this & other).empty();
  }
  constexpr bool IsSubsetOf(const ResourceSet& other) const {
    return (*this - other).empty();
  }
  constexpr ResourceSet operator&(const ResourceSet& other) const {
    ResourceSet set;
    for (uint32_t i = 0; i < kWords; ++i) {
      set.words_[i] = words_[i] & other.words_[i];
    }
    return set;
  }
  constexpr ResourceSet operator|(const ResourceSet& other) const {
    ResourceSet set;
    for (uint32_t i = 0; i < kWords; ++i) {
      set.words_[i] = words_[i] | other.words_[i];
    }
    return set;
  }
  constexpr ResourceSet operator-(const ResourceSet& other) const {
    ResourceSet set;
    for (uint32_t i = 0; i < kWords; ++i) {
      set.words_[i] = words_[i] & ~other.words_[i];
    }
    return set;
  }
  constexpr bool operator==(const ResourceSet& other) const = default;

  // Calls visit(index) for each, lowest first.
  template <typename F>
  void ForEach(F&& visit) const {
    for (int32_t i = Next(0); i >= 0; i = After(i)) {
      visit(static_cast<uint32_t>(i));
    }
  }

 private:
  static constexpr uint32_t kWords = kMaxResources / 64;
  static constexpr uint64_t Bit(uint32_t index) {
    return uint64_t{1} << (index % 64);
  }
  constexpr int32_t After(int32_t index) const {
    const uint32_t from = static_cast<uint32_t>(index) + 1;
    return from < kMaxResources ? Next(from) : -1;
  }

  uint64_t words_[kWords] = {};
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_RESOURCE_SET_H_
