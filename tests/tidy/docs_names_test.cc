// Goal: what a page names is there: identifiers of the public interface, files
// of the tree, flags of the tools. Method: the words of every page are compared
// with the words of the headers, sources and scripts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

// Flags of other programs: pkg-config, converters of models, the peer's tools.
const std::set<std::string> kForeignFlags = {
    "--cflags",
    "--libs",
    "--opset-version",
    "--saved-model",
    "--static",
    "--tflite",
    "--variable",
    "--bytecode_offsets",
    "--device_allocator",
    "--device_capture_",
    "--device_lead_allocator",
    "--device_profiling_",
    "--device_replay_",
    "--executable_plugin",
    "--pretty",
    "--task_abort_on_failure",
    "--task_worker_local_memory"};

// Files of other projects, and of the system.
const std::set<std::string> kForeignFiles = {
    "/etc/security/limits.d/robot.conf", "iree/runtime/api.h"};

// Names of the system, of other projects, and of examples.
const std::set<std::string> kForeignNames = {"MCL_FUTURE", "dispatch_1"};

std::vector<SourceFile> Pages() {
  std::vector<SourceFile> pages = ReadSources("docs", {".md"});
  for (const char* path : {"CHANGELOG.md", "CONTRIBUTING.md", "README.md",
                           "SECURITY.md", "samples/README.md"}) {
    pages.push_back(ReadSource(path));
  }
  return pages;
}

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The words of `line` that begin with `prefix`: letters, digits, underscores
// and, behind two dashes, dashes.
std::vector<std::string> WordsWith(const std::string& prefix,
                                   const std::string& line) {
  const bool is_flag = prefix == "--";
  std::vector<std::string> words;
  size_t at = 0;
  while ((at = line.find(prefix, at)) != std::string::npos) {
    size_t end = at + prefix.size();
    while (end < line.size() &&
           (IsWord(line[end]) || (is_flag && line[end] == '-'))) {
      ++end;
    }
    const bool begins = at == 0 || (!IsWord(line[at - 1]) &&
                                    line[at - 1] != '-' && line[at - 1] != '/');
    if (begins && end > at + prefix.size()) {
      words.push_back(line.substr(at, end - at));
    }
    at = end;
  }
  return words;
}

void AddWords(const std::vector<SourceFile>& files, const std::string& prefix,
              std::set<std::string>* words) {
  for (const SourceFile& file : files) {
    for (const std::string& line : file.lines) {
      for (std::string& word : WordsWith(prefix, line)) {
        words->insert(std::move(word));
      }
    }
  }
}

// `takt_value_as_` stands for all names that begin so.
bool Has(const std::set<std::string>& words, const std::string& word) {
  if (!word.ends_with("_")) return words.count(word) != 0;
  const auto found = words.lower_bound(word);
  return found != words.end() && found->starts_with(word);
}

TEST(DocsNamesTest, IdentifiersAreInTheHeaders) {
  std::set<std::string> known;
  AddWords(ReadSources("include", {".h", ".hpp"}), "takt_", &known);
  AddWords(ReadSources("include", {".h", ".hpp"}), "TAKT_", &known);
  EXPECT_GT(known.size(), 500u);
  // What compiled kernels import, and the module that python/takt writes.
  AddWords({ReadSource("src/cpu/kernel_imports.cc"),
            ReadSource("python/takt/rewriting/lowering.py")},
           "takt_", &known);
  // Options of CMake, checks in the code, and the environment of tests.
  AddWords(ReadSources("src", {".h", ".txt"}), "TAKT_", &known);
  AddWords(ReadSources("tests", {".cc", ".h", ".c", ".txt"}), "TAKT_", &known);
  AddWords(ReadSources("python", {".cc", ".py"}), "TAKT_", &known);
  AddWords({ReadSource("CMakeLists.txt")}, "TAKT_", &known);
  for (const SourceFile& page : Pages()) {
    for (size_t i = 0; i < page.lines.size(); ++i) {
      for (const char* prefix : {"takt_", "TAKT_"}) {
        for (const std::string& word : WordsWith(prefix, page.lines[i])) {
          EXPECT_TRUE(Has(known, word))
              << page.path << ":" << i + 1 << ": no " << word;
        }
      }
    }
  }
}

TEST(DocsNamesTest, FlagsAreThoseOfTheTools) {
  std::set<std::string> known = kForeignFlags;
  std::set<std::string> quoted;
  for (const char* folder : {"tools", "benchmarks", "python", "scripts",
                             "samples", "tests/stress"}) {
    const std::vector<SourceFile> files =
        ReadSources(folder, {".cc", ".h", ".c", ".cpp", ".py", ".sh"});
    AddWords(files, "--", &known);
    // A tool declares a flag by its name alone.
    for (const SourceFile& file : files) {
      for (const std::string& line : file.lines) {
        for (const std::string& part : Split(line, "\"= ")) {
          quoted.insert("--" + part);
        }
      }
    }
  }
  for (const SourceFile& page : Pages()) {
    for (size_t i = 0; i < page.lines.size(); ++i) {
      for (const std::string& flag : WordsWith("--", page.lines[i])) {
        if (flag.starts_with("--iree-")) continue;
        EXPECT_TRUE(Has(known, flag) || quoted.count(flag))
            << page.path << ":" << i + 1 << ": no program has " << flag;
      }
    }
  }
}

// Names in backquotes with an underscore or a capital letter inside.
std::vector<std::string> NamesIn(const std::string& line) {
  static const std::regex& kCode = *new std::regex(R"(`([\w:]+)(\(\))?`)");
  std::vector<std::string> names;
  for (std::sregex_iterator at(line.begin(), line.end(), kCode), end; at != end;
       ++at) {
    for (const std::string& name : Split((*at)[1], ":")) {
      bool is_name = name.find('_') != std::string::npos;
      for (size_t i = 1; i < name.size(); ++i) {
        is_name |= std::islower(static_cast<unsigned char>(name[i - 1])) &&
                   std::isupper(static_cast<unsigned char>(name[i]));
      }
      // IdentifiersAreInTheHeaders has our own, and the peer's are not here.
      for (const char* prefix : {"takt_", "TAKT_", "iree_"}) {
        is_name &= !name.starts_with(prefix);
      }
      if (is_name) names.push_back(name);
    }
  }
  return names;
}

std::set<std::string> AllWords() {
  std::set<std::string> words;
  for (const char* folder : {"include", "src", "tools", "tests", "benchmarks",
                             "python", "samples", "scripts", "docs"}) {
    for (const SourceFile& file :
         ReadSources(folder, {".h", ".hpp", ".c", ".cc", ".cpp", ".inc", ".py",
                              ".sh", ".txt", ".json"})) {
      for (const std::string& line : file.lines) {
        for (size_t begin = 0, end = 0; begin < line.size(); begin = end + 1) {
          end = begin;
          while (end < line.size() && IsWord(line[end])) ++end;
          if (end > begin) words.insert(line.substr(begin, end - begin));
        }
      }
    }
  }
  return words;
}

// `_cancel` and `LATEST_ONLY` are the ends of names.
bool HasEnd(const std::set<std::string>& words, const std::string& name) {
  const std::string end = name.starts_with("_") ? name : "_" + name;
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word.ends_with(end);
  });
}

TEST(DocsNamesTest, OtherNamesAreInTheSources) {
  const std::set<std::string> words = AllWords();
  for (const SourceFile& page : Pages()) {
    for (size_t i = 0; i < page.lines.size(); ++i) {
      for (const std::string& name : NamesIn(page.lines[i])) {
        if (kForeignNames.count(name)) continue;
        EXPECT_TRUE(Has(words, name) || HasEnd(words, name))
            << page.path << ":" << i + 1 << ": nothing is called " << name;
      }
    }
  }
}

// Paths begin at the top of the tree, or in one of the folders that pages leave
// out; the commands of samples/README.md run in the last one.
constexpr const char* kRoots[] = {"", "src/", "include/", "tests/",
                                  "tests/testdata/workload/"};

TEST(DocsNamesTest, FilesAreThere) {
  static const std::regex& kPath =
      *new std::regex(R"(`([\w./-]+/[\w.-]+\.\w+)`)");
  size_t count = 0;
  for (const SourceFile& page : Pages()) {
    for (size_t i = 0; i < page.lines.size(); ++i) {
      const std::string& line = page.lines[i];
      for (std::sregex_iterator at(line.begin(), line.end(), kPath), end;
           at != end; ++at) {
        const std::string path = (*at)[1];
        if (kForeignFiles.count(path)) continue;
        ++count;
        const auto is_below = [&](const char* folder) {
          return Exists(folder + path);
        };
        EXPECT_TRUE(std::any_of(std::begin(kRoots), std::end(kRoots), is_below))
            << page.path << ":" << i + 1 << ": no file " << path;
      }
    }
  }
  EXPECT_GT(count, 50u);
}

}  // namespace
}  // namespace takt::tidy
