#include "tests/tools/tool_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

namespace takt::tools {
namespace {

constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;

// One folder a process, removed at its end.
const std::filesystem::path& ScratchFolder() {
  struct Folder {
    Folder() {
      char name[] = "/tmp/takt_tools_test_XXXXXX";
      path = mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
  };
  static const Folder folder;
  return folder.path;
}

}  // namespace

ToolResult RunProcess(const std::string& name,
                      const std::vector<std::string>& arguments,
                      const std::string& folder,
                      const std::string& stdout_path) {
  const std::string path = std::string(TAKT_TOOLS_DIR) + "/" + name;
  const std::string out = ScratchFolder() / "stdout";
  const std::string err = ScratchFolder() / "stderr";
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (stdout_path.empty()) {
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), kCreate, 0600);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, stdout_path.c_str(), O_WRONLY,
                                     0);
  }
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), kCreate, 0600);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    ADD_FAILURE() << path << " does not start: " << error;
    return {-1, "", ""};
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          stdout_path.empty() ? FileContents(out) : "", FileContents(err)};
}

const std::vector<std::string>& ToolNames() {
  static const std::vector<std::string> names = {"takt-benchmark-module",
                                                 "takt-check-module",
                                                 "takt-dump-module",
                                                 "takt-encode-parameters",
                                                 "takt-npu-conformance",
                                                 "takt-plan",
                                                 "takt-run-module",
                                                 "takt-sim",
                                                 "takt-trace"};
  return names;
}

std::string TestData(const std::string& path) {
  return std::string(TAKT_TESTDATA_DIR) + "/" + path;
}

std::string ScratchPath(const std::string& name) {
  const std::filesystem::path path = ScratchFolder() / name;
  std::filesystem::remove(path);
  return path;
}

std::string FileContents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

void WriteContents(const std::string& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary) << contents;
}

}  // namespace takt::tools
