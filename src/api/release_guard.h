// Calls the user's release function once, when the last reference to the user's
// memory goes.
#ifndef TAKT_API_RELEASE_GUARD_H_
#define TAKT_API_RELEASE_GUARD_H_

#include "base/object.h"

namespace takt::api {

class ReleaseGuard final : public Object {
 public:
  static constexpr ObjectType kType{"takt.release_guard"};

  ReleaseGuard() : Object(&kType) {}

  // Arms the guard. A guard that is destroyed before, because a later step has
  // failed, does not call the function. `release` may be null.
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
