#include "base/library_pin.h"

#include <dlfcn.h>
#include <pthread.h>

#include <bit>

#ifdef __GLIBC__
#include <link.h>
#endif

namespace takt {
namespace {

// There is one in the process, as there is one library.
class CloseAtThreadEnd {
 public:
  CloseAtThreadEnd() {
    // The key's destructor is dlclose() itself: what called it would be
    // unmapped when it returns.
    const auto close = std::bit_cast<void (*)(void*)>(&dlclose);
    is_valid_ = pthread_key_create(&key_, close) == 0;
  }
  ~CloseAtThreadEnd() {
    if (is_valid_) pthread_key_delete(key_);
  }
  void Set(void* pin) const {
    if (is_valid_) pthread_setspecific(key_, pin);
  }

 private:
  pthread_key_t key_ = 0;
  bool is_valid_ = false;
};

}  // namespace

void* PinLibrary() {
#ifdef __GLIBC__
  Dl_info info{};
  void* map = nullptr;
  static const char kHere = 0;
  if (dladdr1(&kHere, &info, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) {
    return nullptr;
  }
  const char* const name = static_cast<const link_map*>(map)->l_name;
  if (name == nullptr || name[0] == '\0') return nullptr;  // The program.
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
#else
  return nullptr;
#endif
}

void UnpinLibrary(void* pin) {
  if (pin != nullptr) dlclose(pin);
}

void UnpinLibraryAtThreadEnd(void* pin) {
  static const CloseAtThreadEnd at_end;
  if (pin != nullptr) at_end.Set(pin);
}

}  // namespace takt
