// Runs the tests of a room, which are one program. It is linked to a name for
// each of their sources: called as base_arena_test, it runs those of
// tests/base/arena_test.cc, but what a --gtest_filter=-... leaves out. With a
// --gtest_filter that names tests it runs those.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

// "base_arena_test" for a test in tests/base/arena_test.cc.
std::string NameOf(const testing::TestInfo& test) {
  const std::filesystem::path source(test.file());
  return source.parent_path().filename().string() + "_" +
         source.stem().string();
}

// A filter for the tests of the source of this name. None would run a test of
// another kind of file, so there may be none.
std::string FilterOf(const std::string& name) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string filter;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    std::string tests;
    int count = 0;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string source = NameOf(test);
      if (!source.ends_with("_test")) {
        std::fprintf(stderr, "%s is no x_test.cc\n", source.c_str());
        return "";
      }
      if (source != name) continue;
      tests += std::string(suite.name()) + "." + test.name() + ":";
      ++count;
    }
    // Other sources may have tests of the same suite.
    const bool is_whole = count > 0 && count == suite.total_test_count();
    filter += is_whole ? std::string(suite.name()) + ".*:" : tests;
  }
  if (filter.empty()) std::fprintf(stderr, "no tests of %s\n", name.c_str());
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string name = std::filesystem::path(argv[0]).filename();
  const std::string given = testing::GTEST_FLAG(filter);
  if (name.ends_with("_test") && (given == "*" || given.starts_with('-'))) {
    const std::string filter = FilterOf(name);
    if (filter.empty()) return 1;
    testing::GTEST_FLAG(filter) = filter + (given == "*" ? "" : given);
  }
  return RUN_ALL_TESTS();
}
