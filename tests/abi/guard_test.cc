#include "abi/guard.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <system_error>

#include "abi/status.h"

namespace takt::abi {
namespace {

// A C function that throws what `kind` says.
takt_status_t Throw(int kind, int* fd, size_t* out_count) {
  TAKT_REQUIRE(out_count);
  TAKT_TRY {
    *fd = 7;
    *out_count = 7;
    if (kind == 0) throw std::bad_alloc();
    if (kind == 1) throw std::length_error("too long");
    if (kind == 2) throw std::system_error(EAGAIN, std::system_category());
    if (kind == 3) throw std::runtime_error("of an application");
    if (kind == 4) throw 4;
    return nullptr;
  }
  TAKT_CATCH_ALL(Optional(fd), out_count);
}

size_t ThrowFromValue(size_t* out_count) {
  TAKT_REQUIRE_OR(9, out_count);
  TAKT_TRY {
    *out_count = 7;
    throw std::bad_alloc();
  }
  TAKT_CATCH_ALL_OR(5, out_count);
}

struct Thrown {
  takt_status_code_t code;
  const char* message;
};

TEST(GuardTest, TurnsExceptionsIntoStatuses) {
  const Thrown expected[] = {
      {TAKT_STATUS_RESOURCE_EXHAUSTED, "out of memory"},
      {TAKT_STATUS_RESOURCE_EXHAUSTED, "too long"},
      {TAKT_STATUS_RESOURCE_EXHAUSTED, "Resource temporarily unavailable"},
      {TAKT_STATUS_INTERNAL, "of an application"},
      {TAKT_STATUS_INTERNAL, "an unknown exception"}};
  for (int kind = 0; kind < 5; ++kind) {
    int fd = 0;
    size_t count = 1;
    const takt_status_t status = Throw(kind, &fd, &count);
    ASSERT_NE(status, nullptr) << kind;
    EXPECT_EQ(status->code, expected[kind].code) << kind;
    EXPECT_STREQ(status->message, expected[kind].message) << kind;
    EXPECT_STREQ(status->source, "Throw") << kind;
    // Out-parameters hold nothing.
    EXPECT_EQ(fd, -1) << kind;
    EXPECT_EQ(count, 0u) << kind;
    FreeStatus(status);
  }
}

TEST(GuardTest, PassesResultsOn) {
  int fd = 0;
  size_t count = 0;
  EXPECT_EQ(Throw(-1, &fd, &count), nullptr);
  EXPECT_EQ(fd, 7);
  EXPECT_EQ(count, 7u);
}

TEST(GuardTest, AFunctionThatReturnsAValueReturnsTheGivenOne) {
  size_t count = 1;
  EXPECT_EQ(ThrowFromValue(&count), 5u);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(ThrowFromValue(nullptr), 9u);
}

}  // namespace
}  // namespace takt::abi
