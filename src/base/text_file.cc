#include "base/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "base/unique_fd.h"

namespace takt {

std::string ReadFirstLine(const std::string& path) {
  constexpr size_t kBytesMax = 4095;
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(file.valid() ? kBytesMax : 0, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = read(file.get(), &text[done], text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  text.resize(done);
  const size_t end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

}  // namespace takt
