#include "base/cpu_set.h"

#include <algorithm>
#include <bit>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status.h"

namespace takt {
namespace {

absl::Status Malformed(absl::string_view text, absl::string_view part) {
  return absl::InvalidArgumentError(
      absl::StrCat("CPU set \"", text, "\": \"", part,
                   "\" is no number or range below ", CpuSet::kMaxCpus));
}

// Adds the processors of a mask written in hexadecimal digits.
bool AddHexMask(absl::string_view digits, CpuSet* set) {
  if (digits.empty() || digits.size() > CpuSet::kMaxCpus / 4) return false;
  for (size_t i = 0; i < digits.size(); ++i) {
    uint32_t nibble = 0;
    if (!absl::SimpleHexAtoi(digits.substr(digits.size() - 1 - i, 1),
                             &nibble)) {
      return false;
    }
    for (uint32_t bit = 0; bit < 4; ++bit) {
      if (nibble >> bit & 1) set->Add(static_cast<uint32_t>(i) * 4 + bit);
    }
  }
  return true;
}

bool AddRange(absl::string_view part, CpuSet* set) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(part, absl::MaxSplits('-', 1));
  uint32_t first = 0;
  uint32_t last = 0;
  if (!absl::SimpleAtoi(ends.first, &first)) return false;
  if (!absl::StrContains(part, '-')) {
    last = first;
  } else if (!absl::SimpleAtoi(ends.second, &last)) {
    return false;
  }
  if (first > last || last >= CpuSet::kMaxCpus) return false;
  for (uint32_t cpu = first; cpu <= last; ++cpu) set->Add(cpu);
  return true;
}

}  // namespace

CpuSet CpuSet::FromMask(uint64_t mask) {
  CpuSet set;
  set.words_ = {mask};
  return set;
}

CpuSet CpuSet::FromWords(absl::Span<const uint64_t> words) {
  TAKT_DCHECK(words.size() <= kMaxCpus / 64);
  CpuSet set;
  set.words_.assign(words.begin(), words.end());
  return set;
}

absl::StatusOr<CpuSet> CpuSet::Parse(absl::string_view text) {
  CpuSet set;
  absl::string_view digits = text;
  if (absl::ConsumePrefix(&digits, "0x")) {
    if (!AddHexMask(digits, &set)) return Malformed(text, digits);
    return set;
  }
  if (text.empty()) return set;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (!AddRange(part, &set)) return Malformed(text, part);
  }
  return set;
}

void CpuSet::Add(uint32_t cpu) {
  TAKT_CHECK(cpu < kMaxCpus);
  if (cpu / 64 >= words_.size()) words_.resize(cpu / 64 + 1);
  words_[cpu / 64] |= uint64_t{1} << (cpu % 64);
}

void CpuSet::Remove(uint32_t cpu) {
  if (cpu / 64 < words_.size()) {
    words_[cpu / 64] &= ~(uint64_t{1} << (cpu % 64));
  }
}

bool CpuSet::Contains(uint32_t cpu) const {
  return (word(cpu / 64) >> (cpu % 64) & 1) != 0;
}

uint32_t CpuSet::count() const {
  uint32_t count = 0;
  for (const uint64_t word : words_) {
    count += static_cast<uint32_t>(std::popcount(word));
  }
  return count;
}

int32_t CpuSet::Next(uint32_t from) const {
  for (size_t i = from / 64; i < words_.size(); ++i) {
    uint64_t bits = words_[i];
    if (i == from / 64) bits &= ~uint64_t{0} << (from % 64);
    if (bits != 0) {
      return static_cast<int32_t>(i * 64 +
                                  static_cast<size_t>(std::countr_zero(bits)));
    }
  }
  return -1;
}

bool CpuSet::IsSubsetOf(const CpuSet& other) const {
  for (size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & ~other.word(i)) != 0) return false;
  }
  return true;
}

bool CpuSet::Intersects(const CpuSet& other) const {
  for (size_t i = 0; i < words_.size(); ++i) {
    if ((words_[i] & other.word(i)) != 0) return true;
  }
  return false;
}

CpuSet CpuSet::operator&(const CpuSet& other) const {
  CpuSet result = *this;
  for (size_t i = 0; i < words_.size(); ++i) result.words_[i] &= other.word(i);
  return result;
}

CpuSet CpuSet::operator|(const CpuSet& other) const {
  CpuSet result = *this;
  result.words_.resize(std::max(words_.size(), other.words_.size()));
  for (size_t i = 0; i < result.words_.size(); ++i) {
    result.words_[i] |= other.word(i);
  }
  return result;
}

CpuSet CpuSet::operator-(const CpuSet& other) const {
  CpuSet result = *this;
  for (size_t i = 0; i < words_.size(); ++i) result.words_[i] &= ~other.word(i);
  return result;
}

std::string CpuSet::ToString() const {
  std::string text;
  for (int32_t first = Next(0); first >= 0;) {
    int32_t last = first;
    while (Contains(static_cast<uint32_t>(last) + 1)) ++last;
    absl::StrAppend(&text, text.empty() ? "" : ",", first);
    if (last > first) absl::StrAppend(&text, "-", last);
    first = Next(static_cast<uint32_t>(last) + 1);
  }
  return text;
}

}  // namespace takt
