#include "cpu/system_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::cpu {
namespace {

absl::Status Exhausted(absl::string_view what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("system library: ", what, ": ", std::strerror(errno)));
}

// A file in memory with these bytes, sealed against changes.
absl::StatusOr<UniqueFd> CreateFile(absl::Span<const uint8_t> data) {
  UniqueFd file(memfd_create("takt", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return Exhausted("no file in memory");
  while (!data.empty()) {
    const ssize_t count = write(file.get(), data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Exhausted("no memory for the file");
    data.remove_prefix(Narrow<size_t>(count));
  }
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    return Exhausted("the file in memory cannot be sealed");
  }
  return file;
}

std::string PathOf(const UniqueFd& file) {
  return absl::StrCat("/proc/self/fd/", file.get());
}

// Whether the dynamic linker still has a library of this name. This happens if
// a library was not unloaded, and the number of its file descriptor is used
// again.
bool IsTaken(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

// Returns the same file under a descriptor number that gives it an unused name.
absl::StatusOr<UniqueFd> WithFreeName(UniqueFd file) {
  std::vector<UniqueFd> passed;  // Open, so that their numbers do not return.
  while (IsTaken(PathOf(file))) {
    UniqueFd next(fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
    if (!next.valid()) return Exhausted("no file descriptor");
    passed.push_back(std::move(file));
    file = std::move(next);
  }
  return file;
}

absl::Status LinkerError(absl::string_view path) {
  const char* const error = dlerror();
  absl::string_view text = error != nullptr ? error : "unknown error";
  absl::ConsumePrefix(&text, path);
  absl::ConsumePrefix(&text, ": ");
  const std::string message = absl::StrCat("system library: ", text);
  const bool lacks_something =
      absl::StrContains(text, "undefined symbol") ||
      absl::StrContains(text, "cannot open shared object file");
  return lacks_something ? absl::NotFoundError(message)
                         : absl::DataLossError(message);
}

// The input and the result of a search by dl_iterate_phdr().
struct Search {
  const link_map* map = nullptr;
  const ElfW(Phdr) * headers = nullptr;
  size_t header_count = 0;
};

bool IsOf(const dl_phdr_info& info, const link_map& map) {
  if (info.dlpi_addr != map.l_addr) return false;
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) {
      return info.dlpi_addr + header.p_vaddr ==
             reinterpret_cast<uintptr_t>(map.l_ld);
    }
  }
  return false;
}

int Visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!IsOf(*info, *search.map)) return 0;
  search.headers = info->dlpi_phdr;
  search.header_count = info->dlpi_phnum;
  return 1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SystemLibrary>> SystemLibrary::Load(
    absl::Span<const uint8_t> data) {
  TAKT_ASSIGN_OR_RETURN(UniqueFd file, CreateFile(data));
  TAKT_ASSIGN_OR_RETURN(file, WithFreeName(std::move(file)));
  const std::string path = PathOf(file);
  // Made before the library is open, so that nothing can fail in between.
  std::unique_ptr<SystemLibrary> library(new SystemLibrary(std::move(file)));
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) return LinkerError(path);
  TAKT_RETURN_IF_ERROR(library->FindSegments());
  return library;
}

SystemLibrary::~SystemLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

absl::Status SystemLibrary::FindSegments() {
  Search search;
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0) {
    search.map = map;
    dl_iterate_phdr(&Visit, &search);
  }
  if (search.headers == nullptr) {
    return absl::InternalError("system library: it has no program headers");
  }
  for (size_t i = 0; i < search.header_count; ++i) {
    const ElfW(Phdr)& header = search.headers[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t begin = map->l_addr + header.p_vaddr;
    segments_.push_back({begin, begin + header.p_memsz,
                         (header.p_flags & PF_R) != 0,
                         (header.p_flags & PF_X) != 0});
  }
  return absl::OkStatus();
}

absl::StatusOr<const void*> SystemLibrary::FindFunction(
    absl::string_view name) const {
  const void* const address = dlsym(handle_, std::string(name).c_str());
  if (address == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("system library: no symbol ", name));
  }
  // The symbol may come from a library on which this one depends.
  if (!IsCode(address)) {
    return absl::DataLossError(
        absl::StrCat("system library: symbol ", name, " is not in its code"));
  }
  return address;
}

absl::Span<const uint8_t> SystemLibrary::ReadableFrom(
    const void* address) const {
  const Segment* const segment = FindSegment(address);
  if (segment == nullptr || !segment->readable) return {};
  return {static_cast<const uint8_t*>(address),
          segment->end - reinterpret_cast<uintptr_t>(address)};
}

bool SystemLibrary::IsCode(const void* address) const {
  const Segment* const segment = FindSegment(address);
  return segment != nullptr && segment->executable;
}

const SystemLibrary::Segment* SystemLibrary::FindSegment(
    const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Segment& segment : segments_) {
    if (segment.begin <= at && at < segment.end) return &segment;
  }
  return nullptr;
}

}  // namespace takt::cpu
