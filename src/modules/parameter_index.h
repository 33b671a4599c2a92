// A ParameterIndex maps the names of parameters, such as weights, to the places
// of their bytes. The io_parameters module uses the interface
// ParameterProvider, so that an embedder can supply parameters from elsewhere.
//
// Thread-safety: immutable once filled; then every method may run on any
// thread.
#ifndef TAKT_MODULES_PARAMETER_INDEX_H_
#define TAKT_MODULES_PARAMETER_INDEX_H_

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "base/object.h"
#include "hal/device.h"

namespace takt::modules {

struct Parameter {
  enum class Kind {
    kData,      // byte_length bytes of `file` at `file_offset`.
    kSplat,     // `pattern` repeated over byte_length bytes.
    kExternal,  // In another file; known by name, but not readable.
  };
  static constexpr size_t kMaxPatternBytes = 16;

  std::string key;
  Kind kind = Kind::kData;
  uint64_t byte_length = 0;
  Ref<hal::File> file;
  uint64_t file_offset = 0;
  std::array<uint8_t, kMaxPatternBytes> pattern{};
  size_t pattern_bytes = 0;  // 1 to kMaxPatternBytes for splats.
};

class ParameterProvider : public Object {
 public:
  // nullptr if there is none of that name. Lives as long as the provider.
  virtual const Parameter* Find(absl::string_view key) const = 0;
  // All keys, for messages.
  virtual std::vector<std::string> keys() const = 0;

 protected:
  static constexpr ObjectType kType{"takt.parameter_provider"};
  ParameterProvider() : Object(&kType) {}
};

class ParameterIndex final : public ParameterProvider {
 public:
  // ALREADY_EXISTS for a second parameter of one key; OUT_OF_RANGE if the data
  // does not lie within its file; INVALID_ARGUMENT for a splat without a
  // pattern.
  absl::Status Add(Parameter parameter);

  const Parameter* Find(absl::string_view key) const override;
  // In the order in which they were added.
  std::vector<std::string> keys() const override;
  size_t size() const { return parameters_.size(); }
  // In that order too; `index` is below size().
  const Parameter& operator[](size_t index) const { return parameters_[index]; }

 private:
  std::deque<Parameter> parameters_;  // A deque, for their addresses stay.
  // Keys are those of parameters_.
  HashMap<absl::string_view, const Parameter*> by_key_;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_PARAMETER_INDEX_H_
