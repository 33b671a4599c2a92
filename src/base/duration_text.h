// How messages say durations.
#ifndef TAKT_BASE_DURATION_TEXT_H_
#define TAKT_BASE_DURATION_TEXT_H_

#include <cstdint>
#include <string>

namespace takt {

// The duration in the largest unit of which it has at least one, to six digits:
// "12.5 ms", "1 s".
std::string DurationText(int64_t ns);

}  // namespace takt

#endif  // TAKT_BASE_DURATION_TEXT_H_
