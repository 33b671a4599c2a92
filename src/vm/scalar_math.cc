#include "vm/scalar_math.h"

#include "base/unaligned.h"

namespace takt::vm {
namespace {

uint64_t RotateLeft(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

struct SipState {
  // The four constants of SipHash, each xored with a half of the key.
  static constexpr uint64_t kKey0 = 0x0706050403020100;
  static constexpr uint64_t kKey1 = 0x0f0e0d0c0b0a0908;
  uint64_t v0 = 0x736f6d6570736575 ^ kKey0;
  uint64_t v1 = 0x646f72616e646f6d ^ kKey1;
  uint64_t v2 = 0x6c7967656e657261 ^ kKey0;
  uint64_t v3 = 0x7465646279746573 ^ kKey1;

  void Round() {
    v0 += v1;
    v1 = RotateLeft(v1, 13) ^ v0;
    v0 = RotateLeft(v0, 32);
    v2 += v3;
    v3 = RotateLeft(v3, 16) ^ v2;
    v0 += v3;
    v3 = RotateLeft(v3, 21) ^ v0;
    v2 += v1;
    v1 = RotateLeft(v1, 17) ^ v2;
    v2 = RotateLeft(v2, 32);
  }
  void Absorb(uint64_t word) {
    v3 ^= word;
    Round();
    Round();
    v0 ^= word;
  }
};

}  // namespace

uint64_t SipHash24(const uint8_t* data, size_t size) {
  SipState state;
  size_t offset = 0;
  for (; offset + 8 <= size; offset += 8) {
    state.Absorb(LoadUnaligned<uint64_t>(data + offset));
  }
  uint64_t last = static_cast<uint64_t>(size) << 56;
  for (size_t i = 0; offset + i < size; ++i) {
    last |= static_cast<uint64_t>(data[offset + i]) << (8 * i);
  }
  state.Absorb(last);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace takt::vm
