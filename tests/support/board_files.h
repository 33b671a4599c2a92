// A board of tests/testdata/boards: what Linux shows of it below /sys, in a
// directory of its own.
#ifndef TAKT_TESTS_SUPPORT_BOARD_FILES_H_
#define TAKT_TESTS_SUPPORT_BOARD_FILES_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "topology/sysfs_topology.h"

namespace takt::topology {

class BoardFiles {
 public:
  // A board without files.
  BoardFiles() : path_(testing::TempDir() + "/takt_board_XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  explicit BoardFiles(const std::string& name) : BoardFiles() {
    std::ifstream file(std::string(TAKT_TESTDATA_DIR) + "/boards/" + name +
                       ".txt");
    EXPECT_TRUE(file.good()) << name;
    for (std::string line; std::getline(file, line);) {
      const size_t cut = line.find(' ');
      if (line[0] == '#' || cut == std::string::npos) continue;
      Write(line.substr(0, cut), line.substr(cut + 1));
    }
  }
  ~BoardFiles() { std::filesystem::remove_all(path_); }
  BoardFiles(const BoardFiles&) = delete;
  BoardFiles& operator=(const BoardFiles&) = delete;

  std::string root() const { return path_ + "/sys"; }

  // Writes a file of one line; `path` is below the root.
  void Write(const std::string& path, const std::string& line) const {
    const std::filesystem::path file = root() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << line << "\n";
  }

  // As on the board itself.
  Topology Discover() const {
    Topology result = ReadSysfs(root(), OnlineCpus(root()));
    DivideClusters(root(), &result);
    return result;
  }

 private:
  std::string path_;
};

}  // namespace takt::topology

#endif  // TAKT_TESTS_SUPPORT_BOARD_FILES_H_
