#include "base/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace takt {
namespace {

TEST(SharedMemoryTest, IsSeenThroughItsDescriptor) {
  auto memory = SharedMemory::Create(10'000);
  ASSERT_TRUE(memory.ok()) << memory.status();
  ASSERT_EQ((*memory)->bytes().size(), 10'000u);
  EXPECT_EQ((*memory)->bytes()[9'999], 0);
  std::memcpy(&(*memory)->bytes()[5'000], "here", 4);
  auto fd = (*memory)->DuplicateFd();
  ASSERT_TRUE(fd.ok());
  auto again = SharedMemory::Import(*fd, 4096, 1'000, /*is_writable=*/true);
  ASSERT_TRUE(again.ok()) << again.status();
  close(*fd);
  memory->reset();
  EXPECT_EQ(std::memcmp(&(*again)->bytes()[5'000 - 4096], "here", 4), 0);
  EXPECT_EQ((*again)->offset(), 4096u);
}

TEST(SharedMemoryTest, SaysWhyItCannotBe) {
  using absl::StatusCode;
  EXPECT_EQ(SharedMemory::Create(0).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(SharedMemory::Create(~uint64_t{0}).status().code(),
            StatusCode::kResourceExhausted);
  const int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  const auto import = [&](uint64_t offset, uint64_t length) {
    return SharedMemory::Import(fd, offset, length, true).status().code();
  };
  EXPECT_EQ(import(0, 4096), StatusCode::kOk);
  EXPECT_EQ(import(0, 4097), StatusCode::kOutOfRange);
  EXPECT_EQ(import(4096, 1), StatusCode::kOutOfRange);
  EXPECT_EQ(import(~uint64_t{4095}, 8192), StatusCode::kOutOfRange);
  EXPECT_EQ(import(64, 64), StatusCode::kInvalidArgument);
  EXPECT_EQ(import(0, 0), StatusCode::kInvalidArgument);
  close(fd);
  EXPECT_EQ(import(0, 4096), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace takt
