#include "abi/c_string.h"

#include <cstdlib>
#include <cstring>

#include "abi/status.h"

namespace takt::abi {

takt_status_t GiveText(const char* source,
                       const absl::StatusOr<std::string>& text,
                       char** out_text) {
  *out_text = nullptr;
  if (!text.ok()) return ToStatus(source, text.status());
  char* copy = static_cast<char*>(std::malloc(text->size() + 1));
  if (copy == nullptr) {
    return ToStatus(source, absl::ResourceExhaustedError("no memory for text"));
  }
  std::memcpy(copy, text->c_str(), text->size() + 1);
  *out_text = copy;
  return nullptr;
}

}  // namespace takt::abi
