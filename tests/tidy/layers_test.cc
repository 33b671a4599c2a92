// Goal: the arrows between the folders point one way, as the table in
// src/CMakeLists.txt has them, and docs/architecture.md shows the same table.
// Method: every #include of every source, and every row of the page, are
// compared with CMake's table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

using Table = std::map<std::string, std::set<std::string>>;

// Each layer with what it may use, itself among it.
Table ReadTable() {
  Table table;
  for (const std::string& row : Split(TAKT_LAYER_TABLE, " ")) {
    const std::vector<std::string> cells = Split(row, ":,");
    table[cells[0]] = std::set<std::string>(cells.begin(), cells.end());
  }
  return table;
}

const std::set<std::string> kLibraries = {"absl", "flatbuffers", "nlohmann",
                                          "protozero"};
const std::vector<std::string> kEndings = {".h", ".hpp", ".c", ".cc", ".inc"};

// The layer npu_driver is one public header.
constexpr char kNpuDriverHeader[] = "takt/npu_driver.h";

std::string LayerOfInclude(const std::string& target) {
  return target == kNpuDriverHeader ? "npu_driver" : Split(target, "/")[0];
}

TEST(LayersTest, EveryFolderIsALayer) {
  const Table table = ReadTable();
  for (const SourceFile& file : ReadSources("src", kEndings)) {
    const std::string layer = LayerOf(file.path);
    if (layer.empty()) continue;  // src/empty.cc
    EXPECT_TRUE(table.count(layer)) << file.path << ": no such layer";
  }
}

TEST(LayersTest, ArrowsPointOneWay) {
  std::set<std::string> below;
  for (const std::string& row : Split(TAKT_LAYER_TABLE, " ")) {
    const std::vector<std::string> cells = Split(row, ":,");
    for (size_t i = 1; i < cells.size(); ++i) {
      EXPECT_TRUE(below.count(cells[i]))
          << cells[0] << " uses " << cells[i] << ", which is not below it";
    }
    below.insert(cells[0]);
  }
}

TEST(LayersTest, SourcesIncludeOnlyTheirLayers) {
  Table table = ReadTable();
  for (const char* layer : {"abi", "analysis", "api"}) table[layer].insert("takt");
  for (const SourceFile& file : ReadSources("src", kEndings)) {
    const std::string layer = LayerOf(file.path);
    if (layer.empty()) continue;
    for (const Include& include : Includes(file)) {
      if (!include.is_quoted) continue;
      const std::string target = LayerOfInclude(include.target);
      if (kLibraries.count(target)) continue;
      EXPECT_TRUE(table[layer].count(target))
          << file.path << ":" << include.line << ": " << layer
          << " may not include " << include.target;
    }
  }
}

// The first part of an #include, and the layers that may use that library.
const std::map<std::string, std::set<std::string>> kOwners = {
    {"flatbuffers", {"vm", "plan"}},
    {"hwloc.h", {"topology"}},
    {"nlohmann", {"base", "modules", "sim", "stream", "trace"}},
    {"protozero", {"trace"}}};

// flatc's output includes flatbuffers.
std::string LibraryOf(const Include& include) {
  return include.target.ends_with("_generated.h")
             ? "flatbuffers"
             : Split(include.target, "/")[0];
}

TEST(LayersTest, LibrariesStayWhereTheyBelong) {
  std::map<std::string, std::set<std::string>> users;
  for (const SourceFile& file : ReadSources("src", kEndings)) {
    for (const Include& include : Includes(file)) {
      const std::string library = LibraryOf(include);
      const auto found = kOwners.find(library);
      if (found == kOwners.end()) continue;
      users[library].insert(LayerOf(file.path));
      EXPECT_TRUE(found->second.count(LayerOf(file.path)))
          << file.path << ":" << include.line << ": " << include.target;
    }
  }
  EXPECT_EQ(users, kOwners) << "an owner does not use its library";
}

// The rows "| `vm/` | what it holds | base, flatbuffers |" of the page.
Table ReadPage() {
  Table table;
  for (const std::string& line : ReadSource("docs/architecture.md").lines) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = Split(line, "|");
    if (cells.size() != 3) continue;
    const std::vector<std::string> names = Split(cells[0], " `/");
    const std::vector<std::string> uses = Split(cells[2], " ,");
    if (names.size() != 1) continue;
    table[names[0]] = std::set<std::string>(uses.begin(), uses.end());
    table[names[0]].erase("nothing");
  }
  return table;
}

TEST(LayersTest, TheArchitecturePageHasTheSameTable) {
  Table page = ReadPage();
  std::set<std::string> below;
  for (const std::string& row : Split(TAKT_LAYER_TABLE, " ")) {
    const std::vector<std::string> cells = Split(row, ":,");
    const std::string& layer = cells[0];
    std::set<std::string> uses(cells.begin() + 1, cells.end());
    for (const auto& [library, owners] : kOwners) {
      if (owners.count(layer)) uses.insert(Split(library, ".")[0]);
    }
    if (layer == "base") uses.insert("Abseil");
    ASSERT_TRUE(page.count(layer)) << "the page has no row for " << layer;
    if (page[layer].count("everything")) page[layer] = below;
    EXPECT_EQ(page[layer], uses) << "the page's row for " << layer;
    page.erase(layer);
    below.insert(layer);
  }
  for (const auto& [layer, uses] : page) ADD_FAILURE() << layer << ": no layer";
}

// The rooms by height: one above the highest room that it uses. The highest
// comes first.
std::string DrawRooms() {
  std::map<std::string, size_t> heights;
  std::vector<std::string> rows;
  for (const std::string& row : Split(TAKT_LAYER_TABLE, " ")) {
    const std::vector<std::string> cells = Split(row, ":,");
    size_t height = 0;
    for (size_t i = 1; i < cells.size(); ++i) {
      height = std::max(height, heights[cells[i]] + 1);
    }
    heights[cells[0]] = height;
    if (rows.size() <= height) rows.resize(height + 1);
    rows[height] += (rows[height].empty() ? "  " : "   ") + cells[0];
  }
  std::string picture = "```\n";
  for (size_t i = rows.size(); i-- > 0;) picture += rows[i] + "\n";
  return picture + "```\n";
}

TEST(LayersTest, TheArchitecturePageShowsTheRooms) {
  constexpr const char* kPage = "docs/architecture.md";
  std::string page;
  std::string expected;
  bool is_in_picture = false;
  for (const std::string& line : ReadSource(kPage).lines) {
    page += line + "\n";
    if (line == "<!-- end of rooms -->") is_in_picture = false;
    if (!is_in_picture) expected += line + "\n";
    if (line.starts_with("<!-- rooms: ")) {
      is_in_picture = true;
      expected += DrawRooms();
    }
  }
  EXPECT_NE(expected.find(DrawRooms()), std::string::npos)
      << kPage << " has no place for the picture";
  if (std::getenv("TAKT_WRITE_ROOMS") != nullptr) {
    std::ofstream(std::string(TAKT_SOURCE_DIR) + "/" + kPage) << expected;
    page = expected;
  }
  EXPECT_TRUE(page == expected) << "TAKT_WRITE_ROOMS=1 tidy_layers_test writes it";
}

TEST(LayersTest, HeaderOfNpuDriversIncludesNothingOfTakt) {
  bool is_found = false;
  for (const SourceFile& file : ReadSources("include", kEndings)) {
    if (file.path != std::string("include/") + kNpuDriverHeader) continue;
    is_found = true;
    for (const Include& include : Includes(file)) {
      EXPECT_FALSE(include.is_quoted) << include.line << ": " << include.target;
    }
  }
  EXPECT_TRUE(is_found);
}

TEST(LayersTest, PublicHeadersIncludeOnlyPublicHeaders) {
  for (const SourceFile& file : ReadSources("include", kEndings)) {
    for (const Include& include : Includes(file)) {
      if (!include.is_quoted) continue;
      EXPECT_TRUE(include.target.starts_with("takt/"))
          << file.path << ":" << include.line << ": " << include.target;
    }
  }
}

TEST(LayersTest, ToolsAndSamplesUseThePublicHeadersOnly) {
  for (const char* folder : {"tools", "samples"}) {
    for (const SourceFile& file : ReadSources(folder, kEndings)) {
      for (const Include& include : Includes(file)) {
        if (!include.is_quoted) continue;
        // The simulator is no user of the library but another driver of its
        // scheduler.
        if (file.path == "tools/sim.cc" &&
            (include.target.starts_with("sim/") ||
             include.target.starts_with("trace/"))) {
          continue;
        }
        if (file.path == "tools/plan_simulate.cc" &&
            (include.target.starts_with("sim/") ||
             include.target == "plan/plan_file.h")) {
          continue;
        }
        // A sample of several files includes those that lie beside it.
        const std::string beside =
            file.path.substr(0, file.path.rfind('/') + 1) + include.target;
        EXPECT_TRUE(include.target.starts_with("takt/") ||
                    include.target.starts_with("tools/") ||
                    (file.path.starts_with("samples/") && Exists(beside)))
            << file.path << ":" << include.line << ": " << include.target;
      }
    }
  }
}

// A driver is built without Takt's library.
TEST(LayersTest, DriversUseOneHeaderOfTakt) {
  const std::vector<SourceFile> files = ReadSources("drivers", kEndings);
  EXPECT_FALSE(files.empty());
  for (const SourceFile& file : files) {
    for (const Include& include : Includes(file)) {
      if (!include.is_quoted) continue;
      EXPECT_TRUE(include.target.starts_with("drivers/") ||
                  include.target == "takt/npu_driver.h")
          << file.path << ":" << include.line << ": " << include.target;
    }
  }
}

}  // namespace
}  // namespace takt::tidy
