// Feeds arbitrary bytes to the readers of parameter files, .irpa and
// .safetensors alike, and then reads every byte of the parameters found.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "modules/parameter_archive.h"
#include "modules/safetensors.h"

namespace takt::modules {
namespace {

void Touch(const ParameterIndex& index) {
  uint64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    const Parameter& parameter = index[i];
    if (index.Find(parameter.key) != &parameter) std::abort();
    if (parameter.kind == Parameter::Kind::kData) {
      const uint8_t* data = parameter.file->data() + parameter.file_offset;
      if (parameter.byte_length > 0) {
        sum += data[0] + data[parameter.byte_length - 1];
      }
    } else if (parameter.kind == Parameter::Kind::kSplat) {
      if (parameter.pattern_bytes < 1 ||
          parameter.pattern_bytes > Parameter::kMaxPatternBytes) {
        std::abort();
      }
    }
  }
  volatile uint64_t sink = sum;  // So that the reads are made.
  static_cast<void>(sink);
}

void Read(const uint8_t* data, size_t size) {
  const Ref<hal::File> file = hal::File::Wrap(
      nullptr, const_cast<uint8_t*>(data), size, hal::kAccessRead);
  for (auto reader : {ReadParameterArchive, ReadSafetensors}) {
    auto index = MakeRef<ParameterIndex>();
    static_cast<void>(reader(file, *index));
    Touch(*index);  // What was read before an error is as good.
  }
}

}  // namespace
}  // namespace takt::modules

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::modules::Read(data, size);
  return 0;
}
