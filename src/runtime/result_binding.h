// A ResultBinding is the memory of a caller's in which results of one call are
// to lie, and how they get there: see takt/function.h.
//
// Which allocation of the program becomes a result is learned from a call that
// was copied. What is learned is held by the function; a call in which it turns
// out to be wrong, or in which another owner keeps the memory too, unlearns it
// for good.
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

// What a function has learned of its results, by their index, and counts.
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
  // Nothing happens if it has been unlearned.
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
  // Null if nothing is bound. INVALID_ARGUMENT, without the function's name: an
  // index that there is not or that comes twice, a view that cannot hold the
  // result.
  static absl::StatusOr<std::unique_ptr<ResultBinding>> Read(
      const Signature& signature, ResultPlaces& places,
      absl::Span<const ResultBuffer> buffers,
      absl::Span<const vm::Value> arguments);

  // For the program.
  hal::ResultMemory* memory() { return &memory_; }

  // Once the call is done, and nothing of it holds its results any more: puts
  // the caller's views in their place, with what they hold. Errors as
  // those of the call.
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
