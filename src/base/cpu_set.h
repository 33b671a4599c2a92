// A CpuSet is a set of processors by their operating-system index. It has no
// upper limit but kMaxCpus, so it serves machines with more than 64 processors.
// A value; copying copies.
#ifndef TAKT_BASE_CPU_SET_H_
#define TAKT_BASE_CPU_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace takt {

class CpuSet {
 public:
  static constexpr uint32_t kMaxCpus = 8192;

  CpuSet() = default;
  // Bit i of `mask` is processor i.
  static CpuSet FromMask(uint64_t mask);
  // Bit i of word w is processor 64 w + i; for at most kMaxCpus.
  static CpuSet FromWords(absl::Span<const uint64_t> words);
  // "0-3,8", "0x0f", or "" for none. INVALID_ARGUMENT quoting the text.
  static absl::StatusOr<CpuSet> Parse(absl::string_view text);

  // `cpu` is below kMaxCpus.
  void Add(uint32_t cpu);
  void Remove(uint32_t cpu);
  bool Contains(uint32_t cpu) const;
  bool empty() const { return count() == 0; }
  uint32_t count() const;
  // The lowest processor at or above `from`, or -1.
  int32_t Next(uint32_t from) const;

  bool IsSubsetOf(const CpuSet& other) const;
  bool Intersects(const CpuSet& other) const;
  CpuSet operator&(const CpuSet& other) const;
  CpuSet operator|(const CpuSet& other) const;
  CpuSet operator-(const CpuSet& other) const;
  friend bool operator==(const CpuSet& a, const CpuSet& b) {
    return a.IsSubsetOf(b) && b.IsSubsetOf(a);
  }

  // As FromWords() takes them; those at the end may be 0.
  absl::Span<const uint64_t> words() const { return words_; }

  // "0-3,8": what Parse() reads.
  std::string ToString() const;

  // Calls visit(cpu) for each, lowest first.
  template <typename F>
  void ForEach(F&& visit) const {
    for (int32_t cpu = Next(0); cpu >= 0; cpu = Next(cpu + 1)) {
      visit(static_cast<uint32_t>(cpu));
    }
  }

 private:
  uint64_t word(size_t i) const { return i < words_.size() ? words_[i] : 0; }

  std::vector<uint64_t> words_;
};

}  // namespace takt

#endif  // TAKT_BASE_CPU_SET_H_
