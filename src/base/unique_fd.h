// UniqueFd owns a file descriptor.
#ifndef TAKT_BASE_UNIQUE_FD_H_
#define TAKT_BASE_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace takt {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}  // Takes it; negative: none.
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Hands the descriptor to the caller.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace takt

#endif  // TAKT_BASE_UNIQUE_FD_H_
