// The chains of a problem: operations that follow each other without a wait.
// An operation without a no-wait pair is a chain of its own.
#ifndef TAKT_SOLVE_CHAINS_H_
#define TAKT_SOLVE_CHAINS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "solve/problem.h"

namespace takt::solve {

class Chains {
 public:
  // The problem is valid.
  explicit Chains(const Problem& problem);

  uint32_t count() const { return static_cast<uint32_t>(begin_.size() - 1); }
  // Its operations, in their order.
  absl::Span<const uint32_t> operator[](uint32_t chain) const {
    return {members_.data() + begin_[chain], begin_[chain + 1] - begin_[chain]};
  }
  uint32_t chain_of(uint32_t v) const { return chain_of_[v]; }

 private:
  std::vector<uint32_t> members_, begin_, chain_of_;
};

// What Problem::Validate() says of no-wait pairs; the rest of the problem is
// valid.
absl::Status ValidateChains(const Problem& problem);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_CHAINS_H_
