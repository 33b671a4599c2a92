// tests/api/unload_test.c has pins of a library that is unloaded.
#include "base/library_pin.h"

#include <thread>

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(LibraryPinTest, AProgramIsNotPinned) {
  EXPECT_EQ(PinLibrary(), nullptr);
  UnpinLibrary(nullptr);
  std::thread([] { UnpinLibraryAtThreadEnd(nullptr); }).join();
}

}  // namespace
}  // namespace takt
