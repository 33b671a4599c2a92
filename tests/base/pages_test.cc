#include "base/pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace takt {
namespace {

// What the system says of the mapping that begins at `data`; empty if there is
// none.
std::string MappingAt(const void* data) {
  std::ifstream maps("/proc/self/smaps");
  std::string line, text;
  bool is_inside = false;
  while (std::getline(maps, line)) {
    if (line.find('-') < line.find(' ')) {  // The first line of a mapping.
      const auto begin = std::stoull(line, nullptr, 16);
      const auto end =
          std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
      const auto address = reinterpret_cast<uintptr_t>(data);
      is_inside = begin <= address && address < end;
    }
    if (is_inside) text += line + "\n";
  }
  return text;
}

TEST(PagesTest, AreZeroAndMayBeWritten) {
  for (const size_t bytes : {size_t{1}, size_t{4096}, kHugePageBytes - 1,
                             kHugePageBytes, 3 * kHugePageBytes + 5}) {
    auto* const data = static_cast<uint8_t*>(MapPages(bytes));
    ASSERT_NE(data, nullptr);
    for (size_t i = 0; i < bytes; i += 1000) EXPECT_EQ(data[i], 0);
    std::memset(data, 1, bytes);
    UnmapPages(data, bytes);
    EXPECT_EQ(MappingAt(data), "");
  }
}

TEST(PagesTest, LargeMemoryBeginsWhereAHugePageDoes) {
  constexpr size_t kBytes = 2 * kHugePageBytes + 4096;
  auto* const data = static_cast<uint8_t*>(MapPages(kBytes));
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kHugePageBytes, 0u);
  // "hg": the system was asked for huge pages. An emulator does not ask it.
  const bool has_huge_pages =
      std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good();
  if (has_huge_pages && std::getenv("TAKT_EMULATED") == nullptr) {
    const std::string mapping = MappingAt(data);
    EXPECT_NE(mapping.find(" hg"), std::string::npos) << mapping;
  }
  UnmapPages(data, kBytes);
}

TEST(PagesTest, MoreThanThereAreAddressesIsNull) {
  EXPECT_EQ(MapPages(size_t{1} << 60), nullptr);
  EXPECT_EQ(MapPages(SIZE_MAX), nullptr);
}

}  // namespace
}  // namespace takt
