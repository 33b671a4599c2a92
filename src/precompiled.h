// What most sources of the library include of other libraries, read once for
// all of them. No header of Takt's own is here: those change.
#ifndef TAKT_PRECOMPILED_H_
#define TAKT_PRECOMPILED_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#endif  // TAKT_PRECOMPILED_H_
