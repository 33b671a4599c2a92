// Hash tables that stay whole if memory runs out while they grow. The packaged
// Abseil's flat_hash_map and flat_hash_set do not: their destructor then frees
// memory that is not theirs. Tables with text as keys are searched by
// absl::string_view without a copy.
#ifndef TAKT_BASE_HASH_MAP_H_
#define TAKT_BASE_HASH_MAP_H_

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "base/spare_memory.h"

namespace takt {

template <typename Key>
struct KeyHash : absl::Hash<Key> {};
template <typename Key>
struct KeyEqual : std::equal_to<Key> {};

template <>
struct KeyHash<std::string> {
  using is_transparent = void;
  size_t operator()(absl::string_view key) const {
    return absl::Hash<absl::string_view>()(key);
  }
};
template <>
struct KeyEqual<std::string> {
  using is_transparent = void;
  bool operator()(absl::string_view a, absl::string_view b) const {
    return a == b;
  }
};

template <typename Key, typename Value>
using HashMap = std::unordered_map<Key, Value, KeyHash<Key>, KeyEqual<Key>>;
// Takes spare memory when there is no other (spare_memory.h).
template <typename Key, typename Value>
using SpareHashMap =
    std::unordered_map<Key, Value, KeyHash<Key>, KeyEqual<Key>,
                       SpareAllocator<std::pair<const Key, Value>>>;
template <typename Key>
using HashSet = std::unordered_set<Key, KeyHash<Key>, KeyEqual<Key>>;

}  // namespace takt

#endif  // TAKT_BASE_HASH_MAP_H_
