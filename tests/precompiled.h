// What most tests include of other libraries, read once for all of them.
#ifndef TAKT_TESTS_PRECOMPILED_H_
#define TAKT_TESTS_PRECOMPILED_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/precompiled.h"

#endif  // TAKT_TESTS_PRECOMPILED_H_
