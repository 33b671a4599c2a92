// KeptResults are the results of a call for the calls that take them as
// arguments. They are released when the last of these has fetched its own.
//
// Thread-safety: none; the call guards them.
#ifndef TAKT_RUNTIME_KEPT_RESULTS_H_
#define TAKT_RUNTIME_KEPT_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"
#include "vm/value.h"

namespace takt::runtime {

class KeptResults {
 public:
  bool are_wanted() const { return keeper_count_ != 0; }
  // One more Fetch() will follow. Takes the memory that Keep() needs for
  // `result_count` results.
  void Expect(size_t result_count) {
    values_.reserve(result_count);
    ++keeper_count_;
  }
  // Keeps the results until the last Fetch(). Once, while they are wanted.
  void Keep(absl::Span<const vm::Value> results) {
    TAKT_CHECK(are_wanted() && values_.empty());
    values_.assign(results.begin(), results.end());
  }
  // NONE if nothing is kept. The last one moves what it need not keep any
  // longer to *unused, to be released without the lock of the call.
  vm::Value Fetch(size_t index, std::vector<vm::Value>* unused) {
    vm::Value value;
    if (index < values_.size()) value = values_[index];
    TAKT_CHECK(are_wanted());
    if (--keeper_count_ == 0) *unused = std::move(values_);
    return value;
  }

 private:
  uint32_t keeper_count_ = 0;
  std::vector<vm::Value> values_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_KEPT_RESULTS_H_
