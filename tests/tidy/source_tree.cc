#include "tests/tidy/source_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace takt::tidy {
namespace {

std::filesystem::path Absolute(const std::string& path) {
  return std::filesystem::path(TAKT_SOURCE_DIR) / path;
}

}  // namespace

SourceFile ReadSource(const std::string& path) {
  std::ifstream stream(Absolute(path));
  EXPECT_TRUE(stream.good()) << path << " is missing";
  SourceFile file{path, {}};
  std::string line;
  while (std::getline(stream, line)) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> ReadSources(const std::string& folder,
                                    const std::vector<std::string>& endings) {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(Absolute(folder))) {
    const std::string ending = entry.path().extension().string();
    if (std::find(endings.begin(), endings.end(), ending) == endings.end()) {
      continue;
    }
    paths.push_back(
        entry.path().lexically_relative(TAKT_SOURCE_DIR).generic_string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<SourceFile> files;
  for (const std::string& path : paths) files.push_back(ReadSource(path));
  return files;
}

std::vector<Include> Includes(const SourceFile& file) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  std::smatch match;
  for (size_t i = 0; i < file.lines.size(); ++i) {
    if (!std::regex_search(file.lines[i], match, kInclude)) continue;
    includes.push_back({match[2], match[1] == "\"", i + 1});
  }
  return includes;
}

bool Exists(const std::string& path) {
  return std::filesystem::exists(Absolute(path));
}

std::vector<std::string> Split(const std::string& text,
                               const char* separators) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end =
        std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string LayerOf(const std::string& path) {
  const std::vector<std::string> parts = Split(path, "/");
  return parts.size() > 2 ? parts[1] : "";
}

std::string StemOf(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

}  // namespace takt::tidy
