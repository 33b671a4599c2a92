// The threads of a solver.
#ifndef TAKT_SOLVE_SEARCH_THREADS_H_
#define TAKT_SOLVE_SEARCH_THREADS_H_

#include <cstdint>
#include <exception>
#include <new>
#include <thread>
#include <vector>

#include "base/exceptions.h"

namespace takt::solve {

// SearchThreads that search beside the caller's. A thread that does not start,
// or has no memory, is done without. The destructor waits for them.
class SearchThreads {
 public:
  SearchThreads() = default;
  SearchThreads(const SearchThreads&) = delete;
  SearchThreads& operator=(const SearchThreads&) = delete;
  ~SearchThreads() {
    for (std::thread& thread : threads_) thread.join();
  }

  // Calls search(index) for each index from 1 on that is below `count`. It
  // outlives this object.
  template <typename Search>
  void Start(uint32_t count, const Search& search) {
    TAKT_TRY {
      threads_.reserve(count);
      for (uint32_t i = 1; i < count; ++i) {
        threads_.emplace_back([&search, i] {
          TAKT_TRY { search(i); }
          TAKT_CATCH(const std::bad_alloc&) {}
        });
      }
    }
    TAKT_CATCH(const std::exception&) {}
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_SEARCH_THREADS_H_
