#include "base/lean_error.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

namespace takt {
namespace {

TEST(LeanErrorTest, HasItsText) {
  const absl::Status error = LeanError(absl::StatusCode::kAborted,
                                       [] { return std::string("because"); });
  EXPECT_EQ(error, absl::AbortedError("because"));
}

TEST(LeanErrorTest, HasNoTextIfThereIsNoMemoryForIt) {
  const absl::Status error =
      LeanError(absl::StatusCode::kAborted,
                []() -> std::string { throw std::bad_alloc(); });
  EXPECT_EQ(error.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(error.message(), "");
}

}  // namespace
}  // namespace takt
