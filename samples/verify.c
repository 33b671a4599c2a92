// Loads a module only if the SHA-256 of its file is the one given: compiled
// modules contain native code, which runs with the rights of the process
// (docs/security.md). The robot keeps the hash, or a public key, in a place
// that cannot be written by those who can write the module.
//
//   verify simple_mul.vmfb 64_HEXADECIMAL_DIGITS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <takt/takt.h>

// FIPS 180-4. Take that of your cryptographic library instead, if you have one.
static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

// The first 32 bits of the fractional part of the cube root of `prime` (or of
// its square root), by integers only.
static uint32_t root_bits(uint32_t prime, int is_cube) {
  uint64_t low = 0, high = (uint64_t)20 << 32;  // The root times 2^32.
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    unsigned __int128 power = (unsigned __int128)middle * middle;
    if (is_cube) power *= middle;
    const unsigned __int128 bound = (unsigned __int128)prime
                                    << (is_cube ? 96 : 64);
    if (power <= bound) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (uint32_t)low;
}

static void sha256_block(const uint8_t* bytes, const uint32_t* constants,
                         uint32_t* state) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; ++i) {
    w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
           (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
           (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(s, state, sizeof(s));
  for (int i = 0; i < 64; ++i) {
    const uint32_t t1 =
        s[7] + constants[i] + w[i] +
        (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
        ((s[4] & s[5]) ^ (~s[4] & s[6]));
    const uint32_t t2 =
        (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
        ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof(s[0]));
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}

static void sha256(const uint8_t* bytes, size_t length, char hex[65]) {
  uint32_t constants[64], state[8];
  int count = 0;
  for (uint32_t n = 2; count < 64; ++n) {
    int is_prime = 1;
    for (uint32_t d = 2; d * d <= n; ++d) is_prime &= n % d != 0;
    if (!is_prime) continue;
    if (count < 8) state[count] = root_bits(n, 0);
    constants[count++] = root_bits(n, 1);
  }
  size_t at = 0;
  for (; length - at >= 64; at += 64)
    sha256_block(bytes + at, constants, state);
  uint8_t tail[128] = {0};
  const size_t rest = length - at;
  const size_t tail_length = rest < 56 ? 64 : 128;
  if (rest > 0) memcpy(tail, bytes + at, rest);
  tail[rest] = 0x80;
  for (int i = 0; i < 8; ++i) {
    tail[tail_length - 1 - i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
  }
  for (at = 0; at < tail_length; at += 64) {
    sha256_block(tail + at, constants, state);
  }
  for (int i = 0; i < 8; ++i) snprintf(hex + 8 * i, 9, "%08x", state[i]);
}

// The hook: it sees the bytes before anything of them is parsed.
static takt_status_t verify(void* user_data, const char* path, const void* data,
                            size_t byte_length) {
  char hex[65];
  (void)path;
  sha256(data, byte_length, hex);
  if (strcmp(hex, user_data) == 0) return NULL;
  return takt_status_create(TAKT_STATUS_PERMISSION_DENIED,
                            "its SHA-256 is not the expected one");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: verify MODULE.vmfb SHA256\n");
    return 2;
  }
  takt_instance_t* instance;
  takt_module_t* module = NULL;
  takt_module_file_options_t options;
  takt_module_file_options_init(&options);
  options.verify = verify;
  options.verify_data = argv[2];
  takt_status_t status = takt_instance_create(NULL, &instance);
  if (status == NULL) {
    status = takt_module_load_file(instance, argv[1], &options, &module);
    if (status == NULL) printf("%s is loaded\n", takt_module_name(module));
    takt_module_release(module);
    takt_instance_release(instance);
  }
  if (status == NULL) return 0;
  printf("refused: %s\n", takt_status_code_name(takt_status_code(status)));
  takt_status_free(status);
  return 0;
}
