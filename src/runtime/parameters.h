// The parameters of one scope: a file's index, and the scope's name.
//
// Thread-safety: immutable.
#ifndef TAKT_RUNTIME_PARAMETERS_H_
#define TAKT_RUNTIME_PARAMETERS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/object.h"
#include "modules/parameter_index.h"

namespace takt::runtime {

class Parameters final : public Object {
 public:
  static constexpr ObjectType kType{"takt.parameters"};

  Parameters(std::string scope, Ref<modules::ParameterProvider> provider)
      : Object(&kType),
        scope_(std::move(scope)),
        provider_(std::move(provider)),
        keys_(provider_->keys()) {}

  const std::string& scope() const { return scope_; }
  const Ref<modules::ParameterProvider>& provider() const { return provider_; }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  const std::string scope_;
  const Ref<modules::ParameterProvider> provider_;
  const std::vector<std::string> keys_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_PARAMETERS_H_
