// Types and objects of native modules that use the C API.
#ifndef TAKT_RUNTIME_USER_TYPE_H_
#define TAKT_RUNTIME_USER_TYPE_H_

#include <string>
#include <utility>

#include "base/object.h"

namespace takt::runtime {

class UserType final : public Object {
 public:
  static constexpr ObjectType kType{"takt.object_type"};

  UserType(std::string name, void (*destroy)(void* payload))
      : Object(&kType), name_(std::move(name)), destroy_(destroy) {
    object_type_.name = name_.c_str();
  }

  // The type of the objects, for the VM.
  const ObjectType& object_type() const { return object_type_; }
  void Destroy(void* payload) const {
    if (destroy_ != nullptr) destroy_(payload);
  }

 private:
  const std::string name_;
  void (*const destroy_)(void* payload);
  ObjectType object_type_{};
};

class UserObject final : public Object {
 public:
  UserObject(Ref<UserType> type, void* payload)
      : Object(&type->object_type()),
        user_type_(std::move(type)),
        payload_(payload) {}

  void* payload() const { return payload_; }

 private:
  ~UserObject() override { user_type_->Destroy(payload_); }

  const Ref<UserType> user_type_;  // Its name and identity live as long.
  void* const payload_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_USER_TYPE_H_
