// Whether a block pool hands out again what it got back: not under a sanitizer,
// which can only see the misuse of a block that really is freed.
#ifndef TAKT_TESTS_BASE_BLOCK_RECYCLING_H_
#define TAKT_TESTS_BASE_BLOCK_RECYCLING_H_

namespace takt {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRecyclesBlocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kRecyclesBlocks = false;
#else
constexpr bool kRecyclesBlocks = true;
#endif
#else
constexpr bool kRecyclesBlocks = true;
#endif

}  // namespace takt

#endif  // TAKT_TESTS_BASE_BLOCK_RECYCLING_H_
