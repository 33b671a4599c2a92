// The project's own files, as the checks of tests/tidy see them.
#ifndef TAKT_TESTS_TIDY_SOURCE_TREE_H_
#define TAKT_TESTS_TIDY_SOURCE_TREE_H_

#include <string>
#include <vector>

namespace takt::tidy {

struct SourceFile {
  std::string path;  // From the top of the tree, such as "src/vm/list.h".
  std::vector<std::string> lines;
};

struct Include {
  std::string target;  // What stands between the quotes or brackets.
  bool is_quoted;
  size_t line;  // Counted from 1.
};

// The contents of a file below the top; the test fails if there is none.
SourceFile ReadSource(const std::string& path);

// All files below `folder` with one of these endings (".cc"), by path.
std::vector<SourceFile> ReadSources(const std::string& folder,
                                    const std::vector<std::string>& endings);

std::vector<Include> Includes(const SourceFile& file);

// True for a file or folder of the tree.
bool Exists(const std::string& path);

// Words between any of `separators`.
std::vector<std::string> Split(const std::string& text, const char* separators);

// "src/vm/list.cc" is in "vm", its stem is "list".
std::string LayerOf(const std::string& path);
std::string StemOf(const std::string& path);

}  // namespace takt::tidy

#endif  // TAKT_TESTS_TIDY_SOURCE_TREE_H_
