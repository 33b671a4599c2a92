// Access to the registers of a frame, by their addresses (program.h).
#ifndef TAKT_VM_FRAME_H_
#define TAKT_VM_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/object.h"
#include "vm/program.h"

namespace takt::vm {

template <typename T>
T Get(const uint32_t* base, int16_t address) {
  T value;
  std::memcpy(&value, base + address, sizeof(T));
  return value;
}
template <typename T>
void Set(uint32_t* base, int16_t address, T value) {
  std::memcpy(base + address, &value, sizeof(T));
}

inline FrameHeader& HeaderOf(uint32_t* base) {
  return *reinterpret_cast<FrameHeader*>(base - kHeaderWords);
}
inline const FrameHeader& HeaderOf(const uint32_t* base) {
  return *reinterpret_cast<const FrameHeader*>(base - kHeaderWords);
}
// The caller's frame. The first frame has none.
inline uint32_t* CallerOf(uint32_t* base) {
  return reinterpret_cast<uint32_t*>(reinterpret_cast<std::byte*>(base) -
                                     HeaderOf(base).caller_distance);
}

constexpr bool IsMove(int16_t address) { return (address & 1) != 0; }

inline Object*& RefAt(uint32_t* base, int16_t address) {
  return *reinterpret_cast<Object**>(base + (address & ~1));
}
// Borrowed.
inline Object* Peek(const uint32_t* base, int16_t address) {
  return *reinterpret_cast<Object* const*>(base + (address & ~1));
}
// A reference that the reader owns: the register's own, if it is moved from.
inline Object* Take(uint32_t* base, int16_t address) {
  Object*& ref = RefAt(base, address);
  Object* const object = ref;
  if (IsMove(address)) {
    ref = nullptr;
  } else if (object != nullptr) {
    object->Retain();
  }
  return object;
}
// `owned` becomes the register's.
inline void Put(uint32_t* base, int16_t address, Object* owned) {
  Object*& ref = RefAt(base, address);
  Object* const old = ref;
  ref = owned;
  if (old != nullptr) old->Release();
}
inline void Discard(uint32_t* base, int16_t address) {
  Put(base, address, nullptr);
}

}  // namespace takt::vm

#endif  // TAKT_VM_FRAME_H_
