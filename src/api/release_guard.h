// Keeps a promise of the C API: to call the user's release function once, when
// nothing refers to the user's memory any more.
#ifndef TAKT_API_RELEASE_GUARD_H_
#define TAKT_API_RELEASE_GUARD_H_

#include "base/object.h"

namespace takt::api {

class ReleaseGuard final : public Object {
 public:
  static constexpr ObjectType kType{"takt.release_guard"};

  ReleaseGuard() : Object(&kType) {}

  // From now on the user's function will be called. Before that (while
  // something can still fail) the guard goes silently. `release` may be null.
  void Arm(void (*release)(void* user_data), void* user_data) {
    release_ = release;
    user_data_ = user_data;
  }

 private:
  ~ReleaseGuard() override {
    if (release_ != nullptr) release_(user_data_);
  }

  void (*release_)(void*) = nullptr;
  void* user_data_ = nullptr;
};

}  // namespace takt::api

#endif  // TAKT_API_RELEASE_GUARD_H_
