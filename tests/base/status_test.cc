#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace takt {
namespace {

absl::Status ReturnIfError(const absl::Status& status, bool* went_on) {
  TAKT_RETURN_IF_ERROR(status);
  *went_on = true;
  return absl::OkStatus();
}

absl::StatusOr<int> AddOne(absl::StatusOr<int> number) {
  TAKT_ASSIGN_OR_RETURN(const int value, number);
  return value + 1;
}

absl::StatusOr<std::unique_ptr<int>> MoveOn(
    absl::StatusOr<std::unique_ptr<int>> number) {
  std::unique_ptr<int> value;
  TAKT_ASSIGN_OR_RETURN(value, std::move(number));
  return value;
}

TEST(StatusTest, ReturnIfErrorReturnsErrorsOnly) {
  bool went_on = false;
  EXPECT_EQ(ReturnIfError(absl::NotFoundError("x"), &went_on),
            absl::NotFoundError("x"));
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(ReturnIfError(absl::OkStatus(), &went_on).ok());
  EXPECT_TRUE(went_on);
}

TEST(StatusTest, AssignOrReturnAssignsOrReturns) {
  EXPECT_EQ(AddOne(1).value(), 2);
  EXPECT_EQ(AddOne(absl::AbortedError("y")).status(), absl::AbortedError("y"));
}

TEST(StatusTest, AssignOrReturnMoves) {
  EXPECT_EQ(**MoveOn(std::make_unique<int>(5)), 5);
}

TEST(StatusTest, AnnotateSaysWhere) {
  EXPECT_EQ(Annotate(absl::NotFoundError("no such file"), "a.vmfb"),
            absl::NotFoundError("a.vmfb: no such file"));
  EXPECT_TRUE(Annotate(absl::OkStatus(), "a.vmfb").ok());
}

TEST(StatusTest, AnnotateSaysTheSamePlaceOnce) {
  const absl::Status once = Annotate(absl::CancelledError("cancelled"), "m.f");
  EXPECT_EQ(Annotate(once, "m.f"), once);
  EXPECT_EQ(Annotate(once, "m").message(), "m: m.f: cancelled");
}

// Compiled code fails with any number; Abseil knows only some.
TEST(StatusTest, AnnotateKeepsUnknownCodes) {
  const absl::Status unknown(static_cast<absl::StatusCode>(30), "odd");
  EXPECT_EQ(Annotate(unknown, "here").raw_code(), 30);
}

}  // namespace
}  // namespace takt
