// A ResultBinding puts results of one call into memory of the caller, as
// takt/function.h documents.
//
// It learns from a call whose result was copied which allocation of the program
// becomes the result. The function keeps this knowledge. It is dropped for good
// by a call in which it is wrong, or in which another owner keeps the memory.
#ifndef TAKT_RUNTIME_RESULT_BINDING_H_
#define TAKT_RUNTIME_RESULT_BINDING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/buffer_view.h"
#include "hal/result_memory.h"
#include "runtime/call_options.h"
#include "runtime/signature.h"
#include "vm/value.h"

namespace takt::runtime {

// What a function has learned about its results, and counts of its bindings.
//
// Thread-safety: every method may run on any thread.
class ResultPlaces {
 public:
  explicit ResultPlaces(size_t result_count) : allocations_(result_count) {}

  // The allocation, or hal::ResultMemory::kUnknown.
  int32_t Find(size_t index) const {
    const int32_t known = allocations_[index].load(std::memory_order_relaxed);
    return known > 0 ? known - 1 : hal::ResultMemory::kUnknown;
  }
  // Does nothing after Unlearn().
  void Learn(size_t index, int32_t allocation) {
    int32_t nothing = kNothing;
    allocations_[index].compare_exchange_strong(nothing, allocation + 1,
                                                std::memory_order_relaxed);
  }
  void Unlearn(size_t index) {
    allocations_[index].store(kNever, std::memory_order_relaxed);
  }

  void CountInPlace() { in_place_.fetch_add(1, std::memory_order_relaxed); }
  void CountCopy() { copied_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t in_place_count() const { return in_place_.load(); }
  uint64_t copied_count() const { return copied_.load(); }

 private:
  static constexpr int32_t kNothing = 0;
  static constexpr int32_t kNever = -1;

  std::vector<std::atomic<int32_t>> allocations_;  // The allocation, and one.
  std::atomic<uint64_t> in_place_{0};
  std::atomic<uint64_t> copied_{0};
};

class ResultBinding {
 public:
  // Null if `buffers` is empty. INVALID_ARGUMENT, without the function's name,
  // for an index that is out of range or comes twice, and for a view that
  // cannot hold the result.
  static absl::StatusOr<std::unique_ptr<ResultBinding>> Read(
      const Signature& signature, ResultPlaces& places,
      absl::Span<const ResultBuffer> buffers,
      absl::Span<const vm::Value> arguments);

  // For the program.
  hal::ResultMemory* memory() { return &memory_; }

  // Replaces the results by the caller's views, which hold the same elements.
  // The call is done, and no part of it holds its results.
  absl::Status Settle(absl::Span<vm::Value> results);

 private:
  struct Target {
    size_t index;
    Ref<hal::BufferView> view;
  };

  explicit ResultBinding(ResultPlaces& places) : places_(places) {}
  absl::Status SettleOne(const Target& target, hal::ResultMemory::Place& place,
                         vm::Value& result);
  absl::Status Copy(const Target& target, hal::BufferView& source);

  ResultPlaces& places_;
  hal::ResultMemory memory_;  // A place for each target.
  std::vector<Target> targets_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_RESULT_BINDING_H_
