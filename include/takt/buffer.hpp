// takt/buffer.hpp - buffers from C++; contracts are in takt/buffer.h, rules for
// errors and ownership in takt/takt.hpp.
#ifndef TAKT_BUFFER_HPP_
#define TAKT_BUFFER_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "takt/buffer.h"
#include "takt/device.hpp"
#include "takt/element_type.hpp"

namespace takt {
inline namespace cxx {

// A mapped range. The destructor unmaps it.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(const takt_mapping_t& mapping) : mapping_(mapping) {}
  Mapping(Mapping&& other) noexcept
      : mapping_(std::exchange(other.mapping_, takt_mapping_t{})) {}
  Mapping& operator=(Mapping other) noexcept {
    std::swap(mapping_, other.mapping_);
    return *this;
  }
  ~Mapping() { takt_buffer_unmap(&mapping_); }

  std::span<uint8_t> bytes() const {
    return {mapping_.data, mapping_.byte_length};
  }
  // The bytes as elements; a remainder shorter than an element is left out.
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(mapping_.data),
            mapping_.byte_length / sizeof(T)};
  }

 private:
  takt_mapping_t mapping_ = {};
};

// A range of device memory; see takt/buffer.h.
class Buffer : public Object<Buffer, takt_buffer_t, takt_buffer_retain,
                             takt_buffer_release> {
 public:
  using Object::Object;
  static Result<Buffer> Allocate(
      const Device& device, size_t byte_length,
      const takt_buffer_options_t* options = nullptr) {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_buffer_allocate(device.get(), byte_length, options, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  // `memory` belongs to the caller and must live until `release` is called. It
  // must be aligned to TAKT_BUFFER_ALIGNMENT.
  static Result<Buffer> Wrap(const Device& device, std::span<uint8_t> memory,
                             takt_buffer_release_t release = nullptr,
                             void* user_data = nullptr) {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_buffer_wrap(device.get(), memory.data(), memory.size(), nullptr,
                         release, user_data, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  Result<Buffer> Subspan(size_t byte_offset,
                         size_t byte_length = TAKT_WHOLE_BUFFER) const {
    takt_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_buffer_subspan(get(), byte_offset, byte_length, &buffer);
    return TakeResult<Buffer>(status, buffer);
  }
  size_t byte_length() const { return takt_buffer_byte_length(get()); }
  Result<Mapping> Map(uint32_t access = TAKT_ACCESS_ALL, size_t byte_offset = 0,
                      size_t byte_length = TAKT_WHOLE_BUFFER) const {
    takt_mapping_t mapping;
    Status status(
        takt_buffer_map(get(), byte_offset, byte_length, access, &mapping));
    if (!status.ok()) return status;
    return Mapping(mapping);
  }
  Status Read(size_t byte_offset, std::span<uint8_t> target) const {
    return Status(
        takt_buffer_read(get(), byte_offset, target.data(), target.size()));
  }
  Status Write(size_t byte_offset, std::span<const uint8_t> source) const {
    return Status(
        takt_buffer_write(get(), byte_offset, source.data(), source.size()));
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_BUFFER_HPP_
