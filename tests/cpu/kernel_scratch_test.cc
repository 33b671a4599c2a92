#include "cpu/kernel_scratch.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {
namespace {

constexpr size_t kBytes = 1000;

TEST(KernelScratchTest, LendsAgainWhatCameBack) {
  KernelScratch scratch(kBytes);
  void* const first = scratch.Take();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  void* const second = scratch.Take();
  EXPECT_NE(second, first);
  scratch.Return(first);
  EXPECT_EQ(scratch.Take(), first);
  scratch.Return(first);
  scratch.Return(second);
}

TEST(KernelScratchTest, ManyBlocksComeBack) {
  KernelScratch scratch(kBytes);
  std::set<void*> blocks;
  for (int i = 0; i < 40; ++i) {
    void* const block = scratch.Take();
    std::memset(block, i, kBytes);
    EXPECT_TRUE(blocks.insert(block).second);
  }
  for (void* const block : blocks) scratch.Return(block);
}

TEST(KernelScratchTest, ThreadsNeverShareABlock) {
  KernelScratch scratch(kBytes);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&scratch, id] {
      for (int i = 0; i < 2000; ++i) {
        auto* const block = static_cast<uint8_t*>(scratch.Take());
        std::memset(block, id, kBytes);
        for (size_t at = 0; at < kBytes; at += 100) ASSERT_EQ(block[at], id);
        scratch.Return(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(KernelScratchTest, WithoutMemoryThereIsNoBlock) {
  KernelScratch scratch(size_t{1} << 62);
  EXPECT_EQ(scratch.Take(), nullptr);
}

}  // namespace
}  // namespace takt::cpu
