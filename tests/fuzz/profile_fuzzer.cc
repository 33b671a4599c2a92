// Reads the bytes as a profile of the scheduler: as they are, and with the
// checksum that belongs to them, so that mutations get past it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "sched/profile.h"

namespace takt::sched {
namespace {

std::string WithChecksum(absl::string_view bytes) {
  std::string sealed(bytes.substr(0, bytes.size() - 8));
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, as src/sched/profile.h says.
  for (char c : sealed) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  for (int i = 0; i < 8; ++i) sealed += static_cast<char>(hash >> (8 * i));
  return sealed;
}

void Read(absl::string_view bytes) {
  const auto data = ProfileData::Parse(bytes);
  if (!data.ok() && data.status().message().empty()) std::abort();
}

}  // namespace
}  // namespace takt::sched

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  takt::sched::Read(bytes);
  if (size >= 8) takt::sched::Read(takt::sched::WithChecksum(bytes));
  return 0;
}
