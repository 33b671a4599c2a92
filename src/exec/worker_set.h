// A WorkerSet is a set of workers of one executor, by their index. The executor
// makes one for each affinity, once; jobs point at it.
//
// Immutable once made.
#ifndef TAKT_EXEC_WORKER_SET_H_
#define TAKT_EXEC_WORKER_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace takt::exec {

class WorkerSet {
 public:
  void Add(uint32_t worker) {
    const size_t word = worker / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    if (!Contains(worker)) ++count_;
    words_[word] |= uint64_t{1} << worker % 64;
  }
  bool Contains(uint32_t worker) const {
    const size_t word = worker / 64;
    return word < words_.size() && (words_[word] >> worker % 64 & 1) != 0;
  }
  uint32_t count() const { return count_; }
  friend bool operator==(const WorkerSet& a, const WorkerSet& b) {
    if (a.count_ != b.count_) return false;
    const size_t words =
        a.words_.size() < b.words_.size() ? a.words_.size() : b.words_.size();
    for (size_t i = 0; i < words; ++i) {
      if (a.words_[i] != b.words_[i]) return false;
    }
    return true;  // Of equal count, so what is beyond is empty.
  }

 private:
  std::vector<uint64_t> words_;
  uint32_t count_ = 0;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_WORKER_SET_H_
