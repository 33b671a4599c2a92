// Reads the values of --input= flags. The bytes up to the first NUL are the
// flags, one in a line. The bytes after it are the contents of the files f.npy
// and f.bin, which the flags may name. The kinds of the arguments repeat:
// object, i32, object, f32, object, i64, object, f64.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/input.h"
#include "tools/common/value_text.h"

namespace takt::tools {
namespace {

constexpr size_t kBufferBytesMax = 1 << 20;

// Memory for tensors, but not much: asking for more must be an error.
void* Allocate(void*, size_t byte_length, size_t alignment) {
  if (byte_length > kBufferBytesMax) return nullptr;
  return std::aligned_alloc(
      alignment, (byte_length + alignment - 1) / alignment * alignment);
}
void Free(void*, void* data, size_t, size_t) { std::free(data); }

Device CreateDevice() {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.allocator.allocate = Allocate;
  options.allocator.free = Free;
  const Instance instance = Instance::Create(&options).value();
  return Device::Create(instance, "local-sync").value();
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void ReadInputs(std::string_view bytes) {
  static const Device device = CreateDevice();
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::vector<std::string> texts = SplitLines(bytes.substr(0, end));
  const std::string contents(bytes.substr(std::min(end + 1, bytes.size())));
  InputFiles files = InputFiles::InMemory();
  files.Add("f.npy", contents);
  files.Add("f.bin", contents);
  constexpr takt_value_kind_t kScalars[] = {TAKT_VALUE_I32, TAKT_VALUE_F32,
                                            TAKT_VALUE_I64, TAKT_VALUE_F64};
  std::vector<takt_value_kind_t> kinds;
  for (size_t i = 0; i < texts.size(); ++i) {
    kinds.push_back(i % 2 == 0 ? TAKT_VALUE_REF : kScalars[i / 2 % 4]);
  }
  const Result<std::vector<Input>> inputs =
      ParseInputs(device, kinds, texts, &files);
  if (!inputs.ok()) {
    if (inputs.status().message().empty()) std::abort();
    return;
  }
  for (const Input& input : *inputs) {
    if (!FormatValue(input.value, 64).ok()) std::abort();
  }
}

}  // namespace
}  // namespace takt::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::tools::ReadInputs({reinterpret_cast<const char*>(data), size});
  return 0;
}
