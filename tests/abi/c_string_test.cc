#include "abi/c_string.h"

#include <gtest/gtest.h>

namespace takt::abi {
namespace {

TEST(TextTest, GivesACopyThatTheCallerFrees) {
  char* text = nullptr;
  EXPECT_EQ(GiveText("f", std::string("abc"), &text), nullptr);
  EXPECT_STREQ(text, "abc");
  takt_string_free(text);
}

TEST(TextTest, GivesNothingOnError) {
  char garbage = 0;
  char* text = &garbage;
  takt_status_t status = GiveText("f", absl::NotFoundError("none"), &text);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(takt_status_code(status), TAKT_STATUS_NOT_FOUND);
  EXPECT_STREQ(takt_status_source(status), "f");
  takt_status_free(status);
}

}  // namespace
}  // namespace takt::abi
