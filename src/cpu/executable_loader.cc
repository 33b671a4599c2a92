#include "cpu/executable_loader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/content_hash.h"
#include "base/narrow.h"
#include "base/status.h"
#include "cpu/elf_image.h"
#include "cpu/library_executable.h"
#include "cpu/riscv_attributes.h"
#include "cpu/vmvx_executable.h"
#include "cpu/vmvx_module.h"
#include "kernels/kernel_table.h"

namespace takt::cpu {
namespace {

// Whether `format` is of this kind, and for this machine.
bool IsHost(absl::string_view kind, absl::string_view format) {
  return absl::ConsumePrefix(&format, kind) && !format.empty() &&
         format == ElfImage::HostArchitecture();
}
bool IsHostElf(absl::string_view format) {
  return IsHost("embedded-elf-", format);
}
bool IsHostLibrary(absl::string_view format) {
  return IsHost("system-elf-", format);
}

}  // namespace

ExecutableLoader::ExecutableLoader(ImportResolver* imports,
                                   std::shared_ptr<CodeLoader> others,
                                   bool allows_system_libraries)
    : imports_(imports),
      others_(std::move(others)),
      allows_system_libraries_(allows_system_libraries),
      processor_(DetectProcessor()) {}

ExecutableLoader::~ExecutableLoader() = default;

bool ExecutableLoader::SupportsFormat(absl::string_view format) const {
  if (others_ != nullptr) {
    if (others_->Takes(format)) return true;
    if (others_->is_exclusive()) return false;
  }
  return IsHostElf(format) ||
         (format == VmvxExecutable::kFormat && VmvxExecutable::IsAvailable()) ||
         (IsHostLibrary(format) && allows_system_libraries_);
}

namespace {

absl::string_view TextOf(const void* data, size_t byte_length) {
  return {static_cast<const char*>(data), byte_length};
}

// The hash by which profiles identify the code: of its file and its constants.
uint64_t HashOf(absl::Span<const uint8_t> data,
                absl::Span<const uint32_t> constants) {
  const uint64_t parts[] = {
      ContentHash(TextOf(data.data(), data.size())),
      ContentHash(
          TextOf(constants.data(), constants.size() * sizeof(uint32_t)))};
  return ContentHash(TextOf(parts, sizeof(parts)));
}

}  // namespace

absl::StatusOr<Ref<LoadedExecutable>> ExecutableLoader::Load(
    absl::string_view format, absl::Span<const uint8_t> data, Ref<Object> owner,
    absl::Span<const uint32_t> constants) {
  Codes looked;
  if (owner != nullptr) {
    MutexLock lock(&mutex_);
    if (auto code = Find(format, data, constants, &looked)) {
      return MakeRef<LoadedExecutable>(std::move(code));
    }
  }
  TAKT_ASSIGN_OR_RETURN(auto code, LoadCode(format, data, owner, constants));
  code->SetContentHash(HashOf(data, constants));
  if (owner == nullptr) return MakeRef<LoadedExecutable>(std::move(code));

  MutexLock lock(&mutex_);
  // Another thread's.
  if (auto earlier = Find(format, data, constants, &looked)) {
    return MakeRef<LoadedExecutable>(std::move(earlier));
  }
  code->SetSource(std::move(owner));
  entries_.push_back({std::string(format), data,
                      std::vector<uint32_t>(constants.begin(), constants.end()),
                      code});
  return MakeRef<LoadedExecutable>(std::move(code));
}

absl::StatusOr<std::shared_ptr<ExecutableCode>> ExecutableLoader::LoadCode(
    absl::string_view format, absl::Span<const uint8_t> data,
    const Ref<Object>& owner, absl::Span<const uint32_t> constants) {
  if (others_ != nullptr && others_->Takes(format)) {
    return others_->Load(format, data, owner, constants);
  }
  const bool takes_own = others_ == nullptr || !others_->is_exclusive();
  if (takes_own && IsHostElf(format)) {
    TAKT_RETURN_IF_ERROR(CheckRiscvIsa(data, FeatureNames(processor_)));
    TAKT_ASSIGN_OR_RETURN(
        auto code,
        LibraryExecutable::Load(data, constants, imports_, processor_));
    return others_ != nullptr ? others_->Wrap(std::move(code)) : code;
  }
  if (takes_own && IsHostLibrary(format)) {
    if (!allows_system_libraries_) {
      return absl::PermissionDeniedError(
          absl::StrCat("executables of format ", format,
                       " run with all rights of the process; the device option "
                       "allow_system_libraries is off"));
    }
    TAKT_RETURN_IF_ERROR(CheckRiscvIsa(data, FeatureNames(processor_)));
    TAKT_ASSIGN_OR_RETURN(
        auto code,
        LibraryExecutable::LoadSystem(data, constants, imports_, processor_));
    return others_ != nullptr ? others_->Wrap(std::move(code)) : code;
  }
  if (takes_own && format == VmvxExecutable::kFormat) {
    TAKT_ASSIGN_OR_RETURN(auto vmvx_module, VmvxModule());
    return VmvxExecutable::Load(data, owner, constants, std::move(vmvx_module));
  }
  return absl::NotFoundError(absl::StrCat(
      "no loader takes executables of format ", format, " on this machine"));
}

void ExecutableLoader::ForEachCode(
    absl::FunctionRef<void(const ExecutableCode&)> visit) {
  Codes codes;
  {
    MutexLock lock(&mutex_);
    for (const Entry& entry : entries_) codes.push_back(entry.code.lock());
  }
  for (const auto& code : codes) {
    if (code != nullptr) visit(*code);
  }
}

absl::StatusOr<Ref<vm::NativeModule>> ExecutableLoader::VmvxModule() {
  MutexLock lock(&mutex_);
  if (vmvx_module_ == nullptr) {
    TAKT_ASSIGN_OR_RETURN(vmvx_module_,
                          CreateVmvxModule(kernels::SelectKernels(
                              UsableInstructionSets(processor_))));
  }
  return vmvx_module_;
}

std::shared_ptr<ExecutableCode> ExecutableLoader::Find(
    absl::string_view format, absl::Span<const uint8_t> data,
    absl::Span<const uint32_t> constants, Codes* looked) {
  looked->reserve(looked->size() + entries_.size());  // The only allocation.
  std::shared_ptr<ExecutableCode> found;
  size_t kept = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    // While it is held, the code lives, and with it the entry's data.
    std::shared_ptr<ExecutableCode> code = entries_[i].code.lock();
    if (code == nullptr) continue;
    looked->push_back(code);
    const Entry& entry = entries_[i];
    if (found == nullptr && entry.format == format &&
        absl::MakeConstSpan(entry.constants) == constants &&
        entry.data.size() == data.size() &&
        (entry.data.data() == data.data() || entry.data == data)) {
      found = std::move(code);
    }
    if (kept != i) entries_[kept] = std::move(entries_[i]);
    ++kept;
  }
  entries_.erase(entries_.begin() + Narrow<ptrdiff_t>(kept), entries_.end());
  return found;
}

}  // namespace takt::cpu
