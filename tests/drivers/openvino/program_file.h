// Program files of the tests, and changes to them.
#ifndef TAKT_TESTS_DRIVERS_OPENVINO_PROGRAM_FILE_H_
#define TAKT_TESTS_DRIVERS_OPENVINO_PROGRAM_FILE_H_

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace takt::openvino {

using Bytes = std::vector<uint8_t>;

inline Bytes ReadProgramFile(const std::string& name) {
  std::ifstream file(std::string(TAKT_PROGRAMS_DIR) + "/" + name + ".program",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
Bytes With(Bytes data, size_t offset, T value) {
  std::memcpy(data.data() + offset, &value, sizeof(value));
  return data;
}

// The offset of a field of tensor `index`, inputs first.
inline size_t TensorField(size_t index, size_t offset) {
  return 128 + 128 * index + offset;
}

}  // namespace takt::openvino

#endif  // TAKT_TESTS_DRIVERS_OPENVINO_PROGRAM_FILE_H_
