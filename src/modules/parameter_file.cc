#include "modules/parameter_file.h"

#include <utility>

#include "absl/strings/match.h"
#include "base/status.h"
#include "modules/parameter_archive.h"
#include "modules/safetensors.h"

namespace takt::modules {

namespace {

// A safetensors file begins with the length of its JSON, which is an object.
constexpr size_t kJsonOffset = 8;

absl::Status ReadParameters(const Ref<hal::File>& file, ParameterIndex& index) {
  const absl::string_view text(reinterpret_cast<const char*>(file->data()),
                               file->byte_length());
  if (absl::StartsWith(text, "IRPA")) return ReadParameterArchive(file, index);
  if (absl::StartsWith(text, "GGUF")) {
    return absl::UnimplementedError(".gguf parameters are not supported");
  }
  if (text.size() > kJsonOffset && text[kJsonOffset] == '{') {
    return ReadSafetensors(file, index);
  }
  return absl::InvalidArgumentError(
      "expected parameters as .irpa or .safetensors, got neither");
}

}  // namespace

absl::StatusOr<Ref<ParameterIndex>> OpenParameterFile(const std::string& path,
                                                      MappedFile::Mode mode) {
  TAKT_ASSIGN_OR_RETURN(Ref<MappedFile> mapped, MappedFile::Open(path, mode));
  const absl::Span<const uint8_t> bytes = mapped->bytes();
  const Ref<hal::File> file = hal::File::Wrap(
      std::move(mapped), const_cast<uint8_t*>(bytes.data()), bytes.size(),
      mode == MappedFile::Mode::kWrite ? hal::kAccessAll : hal::kAccessRead);
  auto index = MakeRef<ParameterIndex>();
  const absl::Status status = ReadParameters(file, *index);
  if (!status.ok()) return Annotate(status, path);
  return index;
}

}  // namespace takt::modules
