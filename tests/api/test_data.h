// The path of a fixture.
#ifndef TAKT_TESTS_API_TEST_DATA_H_
#define TAKT_TESTS_API_TEST_DATA_H_

#include <string>

inline std::string TestData(const std::string& name) {
  return std::string(TAKT_TESTDATA_DIR) + "/" + name;
}

#endif  // TAKT_TESTS_API_TEST_DATA_H_
