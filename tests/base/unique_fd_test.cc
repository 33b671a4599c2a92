#include "base/unique_fd.h"

#include <fcntl.h>

#include "gtest/gtest.h"

namespace takt {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) != -1; }

int OpenNull() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFdTest, ClosesItsDescriptor) {
  const int fd = OpenNull();
  {
    UniqueFd owner(fd);
    EXPECT_TRUE(owner.valid());
    EXPECT_EQ(owner.get(), fd);
    EXPECT_TRUE(IsOpen(fd));
  }
  EXPECT_FALSE(IsOpen(fd));
}

TEST(UniqueFdTest, MovesAndReleases) {
  const int fd = OpenNull();
  UniqueFd first(fd);
  UniqueFd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move)
  first = std::move(second);
  EXPECT_EQ(first.release(), fd);
  EXPECT_FALSE(first.valid());
  EXPECT_TRUE(IsOpen(fd));
  close(fd);
}

TEST(UniqueFdTest, NoneIsNotValid) {
  EXPECT_FALSE(UniqueFd().valid());
  EXPECT_FALSE(UniqueFd(-1).valid());
}

}  // namespace
}  // namespace takt
