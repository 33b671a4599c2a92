#include "base/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

using testing::HasSubstr;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest() {
    std::string pattern = testing::TempDir() + "/atomic_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~AtomicFileTest() override { std::filesystem::remove_all(folder_); }

  static std::string Contents(const std::string& path) {
    std::ifstream stream(path);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  int FileCount() const {
    int count = 0;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = readdir(folder)) {
      count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
  }

  static struct stat StatOf(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info;
  }

  std::string folder_;
};

// Another user for as long as it lives, if the test runs as root.
class OtherUser {
 public:
  OtherUser() : is_root_(geteuid() == 0) {
    if (is_root_) {
      EXPECT_EQ(seteuid(kNobody), 0);
    }
  }
  ~OtherUser() {
    if (is_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }

  static constexpr uid_t kNobody = 65534;

 private:
  bool is_root_;
};

TEST_F(AtomicFileTest, MakesAndReplacesAFile) {
  const std::string path = folder_ + "/profile";
  ASSERT_TRUE(WriteFileAtomically(path, "one").ok());
  EXPECT_EQ(Contents(path), "one");
  const std::string big(1 << 20, 'x');
  ASSERT_TRUE(WriteFileAtomically(path, big).ok());
  EXPECT_EQ(Contents(path), big);
  ASSERT_TRUE(WriteFileAtomically(path, "").ok());
  EXPECT_EQ(Contents(path), "");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(AtomicFileTest, LeavesTheModeToTheUsersMask) {
  const std::string path = folder_ + "/profile";
  const mode_t mask = umask(027);
  ASSERT_TRUE(WriteFileAtomically(path, "x").ok());
  umask(mask);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(AtomicFileTest, ReadersOfTheOldFileKeepIt) {
  const std::string path = folder_ + "/profile";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  std::ifstream open(path);
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  std::string text;
  open >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(AtomicFileTest, NamesThePathThatCannotBe) {
  const std::string path = folder_ + "/none/profile";
  const absl::Status status = WriteFileAtomically(path, "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
}

TEST_F(AtomicFileTest, LeavesNothingBehindWhenItFails) {
  const std::string path = folder_ + "/taken";
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(mkdir((path + "/full").c_str(), 0700), 0);
  EXPECT_FALSE(WriteFileAtomically(path, "x").ok());
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(AtomicFileTest, KeepsTheModeOfAFile) {
  const std::string path = folder_ + "/plan";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  const ino_t old_inode = StatOf(path).st_ino;
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(StatOf(path).st_mode & 07777, 0600u);
  EXPECT_NE(StatOf(path).st_ino, old_inode);  // It was replaced.
  EXPECT_EQ(Contents(path), "new");
}

TEST_F(AtomicFileTest, KeepsTheOwnerOfAFile) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a file away";
  const std::string path = folder_ + "/plan";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_EQ(chown(path.c_str(), 65534, 65533), 0);
  ASSERT_EQ(chmod(path.c_str(), 04750), 0);  // A change of owner clears 04000.
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(StatOf(path).st_uid, 65534u);
  EXPECT_EQ(StatOf(path).st_gid, 65533u);
  EXPECT_EQ(StatOf(path).st_mode & 07777, 04750u);
  EXPECT_EQ(Contents(path), "new");
}

TEST_F(AtomicFileTest, WritesAFileOfAnotherUserInPlace) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a file of another user";
  const std::string path = folder_ + "/plan";
  ASSERT_TRUE(WriteFileAtomically(path, "the old contents").ok());
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  {
    const OtherUser other;
    EXPECT_TRUE(WriteFileAtomically(path, "new").ok());
  }
  EXPECT_EQ(StatOf(path).st_uid, 0u);
  EXPECT_EQ(Contents(path), "new");
  EXPECT_EQ(FileCount(), 1);
}

TEST_F(AtomicFileTest, WritesInPlaceWhereTheFolderTakesNoFiles) {
  const std::string path = folder_ + "/plan";
  ASSERT_TRUE(WriteFileAtomically(path, "the old contents").ok());
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0555), 0);
  {
    const OtherUser other;
    EXPECT_TRUE(WriteFileAtomically(path, "new").ok());
    EXPECT_EQ(WriteFileAtomically(folder_ + "/other", "new").code(),
              absl::StatusCode::kPermissionDenied);
  }
  EXPECT_EQ(Contents(path), "new");
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
}

TEST_F(AtomicFileTest, RefusesAFileThatTheUserMayNotWrite) {
  const std::string path = folder_ + "/plan";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  absl::Status status;
  {
    const OtherUser other;
    status = WriteFileAtomically(path, "new");
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_EQ(Contents(path), "old");
}

TEST_F(AtomicFileTest, ReplacesTheFileBehindALink) {
  ASSERT_EQ(mkdir((folder_ + "/store").c_str(), 0700), 0);
  const std::string path = folder_ + "/store/plan";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  const std::string first = folder_ + "/first";
  ASSERT_EQ(symlink("second", first.c_str()), 0);
  ASSERT_EQ(symlink("store/third", (folder_ + "/second").c_str()), 0);
  ASSERT_EQ(symlink(path.c_str(), (folder_ + "/store/third").c_str()), 0);
  const ino_t old_inode = StatOf(path).st_ino;
  ASSERT_TRUE(WriteFileAtomically(first, "new").ok());
  EXPECT_TRUE(S_ISLNK(StatOf(first).st_mode));
  EXPECT_TRUE(S_ISLNK(StatOf(folder_ + "/store/third").st_mode));
  EXPECT_EQ(Contents(path), "new");
  EXPECT_NE(StatOf(path).st_ino, old_inode);
  EXPECT_EQ(StatOf(path).st_mode & 07777, 0640u);
}

TEST_F(AtomicFileTest, MakesTheFileThatALinkLeadsTo) {
  const std::string link = folder_ + "/link";
  ASSERT_EQ(symlink("plan", link.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(link, "new").ok());
  EXPECT_TRUE(S_ISLNK(StatOf(link).st_mode));
  EXPECT_EQ(Contents(folder_ + "/plan"), "new");
}

TEST_F(AtomicFileTest, RefusesLinksThatLeadInACircle) {
  const std::string link = folder_ + "/link";
  ASSERT_EQ(symlink("link", link.c_str()), 0);
  const absl::Status status = WriteFileAtomically(link, "new");
  EXPECT_THAT(std::string(status.message()), HasSubstr(link));
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(S_ISLNK(StatOf(link).st_mode));
}

TEST_F(AtomicFileTest, WritesToAFifo) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string bytes(1 << 20, 'x');  // More than a pipe holds.
  std::string text;
  std::thread reader([&] { text = Contents(path); });
  EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
  reader.join();
  EXPECT_TRUE(text == bytes);
  EXPECT_TRUE(S_ISFIFO(StatOf(path).st_mode));
}

TEST_F(AtomicFileTest, AReaderThatClosesThePipeIsAnError) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread reader([&] {
    const int fd = open(path.c_str(), O_RDONLY);
    EXPECT_GE(fd, 0);
    close(fd);
  });
  const std::string bytes(1 << 20, 'x');
  const absl::Status status = WriteFileAtomically(path, bytes);
  reader.join();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("write"));
}

TEST_F(AtomicFileTest, AFullDeviceIsAnErrorAndStays) {
  // Behind a link, so that a mistake costs the link.
  const std::string link = folder_ + "/full";
  ASSERT_EQ(symlink("/dev/full", link.c_str()), 0);
  const absl::Status status = WriteFileAtomically(link, "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(S_ISLNK(StatOf(link).st_mode));
  EXPECT_TRUE(S_ISCHR(StatOf("/dev/full").st_mode));
}

TEST_F(AtomicFileTest, ADescriptorsPathStandsForTheDescriptor) {
  const std::string path = folder_ + "/log";
  const int fd = open(path.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "before ", 7), 7);
  const std::string name = "/dev/fd/" + std::to_string(fd);
  EXPECT_TRUE(WriteFileAtomically(name, "during ").ok());
  ASSERT_EQ(write(fd, "after", 5), 5);
  close(fd);
  EXPECT_EQ(Contents(path), "before during after");
  EXPECT_FALSE(WriteFileAtomically(name, "x").ok());
}

}  // namespace
}  // namespace takt
