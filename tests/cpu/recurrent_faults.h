// What the tests of recurrent imports share: tiles that are not there.
#ifndef TAKT_TESTS_CPU_RECURRENT_FAULTS_H_
#define TAKT_TESTS_CPU_RECURRENT_FAULTS_H_

#include <functional>
#include <vector>

namespace takt::cpu {

// Faults of parameters of two rows and 16 lanes.
template <typename Parameters>
std::vector<std::function<void(Parameters&)>> TileFaults() {
  return {
      [](Parameters& p) { p.lanes = 0; },
      [](Parameters& p) { p.lanes = 8; },
      [](Parameters& p) { p.lanes = 32; },
      [](Parameters& p) { p.part = 1; },
      [](Parameters& p) { p.part = -1; },
      [](Parameters& p) { p.first_row = 2; },
      [](Parameters& p) { p.first_row = -1; },
      [](Parameters& p) { p.row_count = 0; },
      [](Parameters& p) { p.hidden = 8; },
      [](Parameters& p) { --p.output.size; },
  };
}

}  // namespace takt::cpu

#endif  // TAKT_TESTS_CPU_RECURRENT_FAULTS_H_
