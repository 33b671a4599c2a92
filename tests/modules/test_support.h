// Helpers of this layer's tests.
#ifndef TAKT_TESTS_MODULES_TEST_SUPPORT_H_
#define TAKT_TESTS_MODULES_TEST_SUPPORT_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/device.h"

#define TAKT_ASSERT_OK(expression)                                       \
  do {                                                                   \
    const absl::Status takt_test_status_ =                               \
        ::takt::modules::StatusOf((expression));                         \
    ASSERT_TRUE(takt_test_status_.ok()) << takt_test_status_.ToString(); \
  } while (false)

namespace takt::modules {

// A file that is not what it should be.
inline constexpr absl::StatusCode kDamaged = absl::StatusCode::kDataLoss;

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

// Matches a status or StatusOr of this code whose message contains `text`.
MATCHER_P2(FailsWith, code, text, "") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         absl::StrContains(status.message(), absl::string_view(text));
}

// Little-endian bytes of a value, and of a list of values.
template <typename T>
void AppendBytes(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
template <typename T>
std::string BytesOfValues(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

// A file whose bytes live as long as it does, aligned to 64.
class Bytes final : public Object {
 public:
  static constexpr ObjectType kType{"takt.test_bytes"};
  explicit Bytes(const std::string& text)
      : Object(&kType),
        size_(text.size()),
        data_(static_cast<uint8_t*>(
            std::aligned_alloc(64, (text.size() + 64) / 64 * 64))) {
    std::copy(text.begin(), text.end(), data_);
  }
  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  ~Bytes() override { std::free(data_); }
  const size_t size_;
  uint8_t* const data_;
};

inline Ref<hal::File> FileOf(const std::string& text,
                             hal::MemoryAccess access = hal::kAccessRead) {
  Ref<Bytes> bytes = MakeRef<Bytes>(text);
  uint8_t* data = bytes->data();
  return hal::File::Wrap(std::move(bytes), data, text.size(), access);
}

}  // namespace takt::modules

#endif  // TAKT_TESTS_MODULES_TEST_SUPPORT_H_
