// Goal: no exception leaves a C function: each that returns a status does its
// work under a guard (abi/guard.h).
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/tidy/source_code.h"
#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

// The C functions that `code` defines and that return a status.
std::vector<std::string> StatusFunctionsOf(const std::string& code) {
  static const std::regex definition(
      R"(\ntakt_status_t (takt_\w+)\([^;{}]*\)\s*\{)");
  std::vector<std::string> names;
  for (auto match = std::sregex_iterator(code.begin(), code.end(), definition);
       match != std::sregex_iterator(); ++match) {
    names.push_back((*match)[1]);
  }
  return names;
}

TEST(GuardsTest, EveryFunctionThatReturnsAStatusHasOne) {
  size_t count = 0;
  for (const char* folder : {"src/api", "src/analysis"}) {
    for (const SourceFile& file : ReadSources(folder, {".cc"})) {
      const std::string code = CodeOf(file);
      for (const std::string& name : StatusFunctionsOf(code)) {
        for (const std::string& body : BodiesOf(code, name)) {
          ++count;
          EXPECT_NE(body.find("TAKT_TRY"), std::string::npos)
              << file.path << ": " << name << " has no TAKT_TRY";
        }
      }
    }
  }
  EXPECT_GT(count, 150u);  // They were found.
}

}  // namespace
}  // namespace takt::tidy
