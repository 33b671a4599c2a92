// The threads of a solver.
#ifndef TAKT_SOLVE_SEARCH_THREADS_H_
#define TAKT_SOLVE_SEARCH_THREADS_H_

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>
#include <vector>

#include "base/exceptions.h"

namespace takt::solve {

// SearchThreads that search beside the caller's. A thread that does not start,
// or has no memory, is done without. Join() waits for them; the destructor does
// it otherwise.
class SearchThreads {
 public:
  SearchThreads() = default;
  SearchThreads(const SearchThreads&) = delete;
  SearchThreads& operator=(const SearchThreads&) = delete;
  ~SearchThreads() { Join(); }

  // Calls search(index) for each index from 1 on that is below `count`. It
  // outlives this object.
  template <typename Search>
  void Start(uint32_t count, const Search& search) {
    lost_count_ = count > 0 ? count - 1 : 0;
    TAKT_TRY {
      threads_.reserve(count);
      for (uint32_t i = 1; i < count; ++i) {
        threads_.emplace_back([this, &search, i] {
          TAKT_TRY {
            search(i);
            lost_count_.fetch_sub(1, std::memory_order_relaxed);
          }
          TAKT_CATCH(const std::bad_alloc&) {}
        });
      }
    }
    TAKT_CATCH(const std::exception&) {}
  }
  // Returns how many threads did not start or had no memory.
  uint32_t Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return lost_count_.load(std::memory_order_relaxed);
  }

 private:
  std::vector<std::thread> threads_;
  std::atomic<uint32_t> lost_count_{0};
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_SEARCH_THREADS_H_
