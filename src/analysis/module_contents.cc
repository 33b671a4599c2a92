#include "takt/tools/module_contents.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "abi/guard.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "analysis/handle.h"
#include "base/object.h"
#include "vm/bytecode_archive.h"
#include "vm/calling_convention.h"
#include "vm/disassembler.h"

namespace takt::analysis {

// Keeps the module, and with it the bytes that the archive refers to.
class ModuleContents final : public Object {
 public:
  static constexpr ObjectType kType{"takt.module_contents"};

  ModuleContents(takt_module_t* module, vm::BytecodeArchive archive)
      : Object(&kType), module_(module), archive_(std::move(archive)) {
    takt_module_retain(module_);
  }

  const vm::BytecodeArchive& archive() const { return archive_; }

 private:
  ~ModuleContents() override { takt_module_release(module_); }

  takt_module_t* const module_;
  const vm::BytecodeArchive archive_;
};

namespace {

absl::StatusOr<Ref<ModuleContents>> ReadContents(takt_module_t* module) {
  size_t byte_length = 0;
  const void* bytes = takt_module_bytes(module, &byte_length);
  if (bytes == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(takt_module_name(module), ": a native module"));
  }
  TAKT_ASSIGN_OR_RETURN(vm::BytecodeArchive archive,
                        vm::BytecodeArchive::Parse(
                            {static_cast<const uint8_t*>(bytes), byte_length}));
  return MakeRef<ModuleContents>(module, std::move(archive));
}

// nullptr for NULL.
const vm::BytecodeArchive* ArchiveOf(const takt_module_contents_t* contents) {
  return contents != nullptr ? &Unwrap(contents)->archive() : nullptr;
}

// The element, or nullptr beyond the end.
template <typename T>
const T* At(const std::vector<T>& elements, size_t index) {
  return index < elements.size() ? &elements[index] : nullptr;
}

uint16_t Read16(absl::Span<const uint8_t> data, size_t offset) {
  return static_cast<uint16_t>(data[offset] | data[offset + 1] << 8);
}

// The machine field of a 64-bit little-endian ELF file.
const char* ElfFormat(absl::Span<const uint8_t> data) {
  constexpr size_t kMachineOffset = 18;
  if (data.size() < 64) return "";
  switch (Read16(data, kMachineOffset)) {
    case 62:
      return "embedded-elf-x86_64";
    case 183:
      return "embedded-elf-arm_64";
    case 243:
      return data[4] == 1 ? "embedded-elf-riscv_32" : "embedded-elf-riscv_64";
    default:
      return "embedded-elf";
  }
}

// Executables carry no name of their format; their first bytes show it.
const char* ExecutableFormat(absl::Span<const uint8_t> data) {
  const auto starts_with = [&](size_t offset, absl::string_view magic) {
    return data.size() >= offset + magic.size() &&
           std::memcmp(data.data() + offset, magic.data(), magic.size()) == 0;
  };
  if (starts_with(0,
                  "\x7f"
                  "ELF"))
    return ElfFormat(data);
  // A module of its own: FlatBuffer with size prefix and identifier, bare or
  // behind the header that lets archivers list it.
  if (starts_with(8, "IREE")) return "vmvx-bytecode-fb";
  if (starts_with(0, "PK\x03\x04") && data.size() >= 30) {
    const size_t base = size_t{30} + Read16(data, 26) + Read16(data, 28);
    if (starts_with(base + 8, "IREE")) return "vmvx-bytecode-fb";
  }
  return "";
}

const char* FirstExportOf(const vm::BytecodeArchive& archive, size_t function) {
  for (const vm::ArchiveExport& entry : archive.exports) {
    if (entry.function == function) return entry.local_name.c_str();
  }
  return "";
}

absl::StatusOr<std::string> Disassemble(const vm::BytecodeArchive& archive,
                                        size_t index) {
  if (index >= archive.functions.size()) {
    return absl::OutOfRangeError(absl::StrCat(
        archive.name, ": function ", index, " of ", archive.functions.size()));
  }
  return vm::DisassembleFunction(archive, index);
}

const char* TypeText(vm::Letter letter) {
  switch (letter) {
    case vm::Letter::kI32:
      return "i32";
    case vm::Letter::kI64:
      return "i64";
    case vm::Letter::kF32:
      return "f32";
    case vm::Letter::kF64:
      return "f64";
    case vm::Letter::kRef:
      return "!vm.ref<?>";
  }
  return "?";
}

template <typename Letters>
std::string JoinTypes(const Letters& letters) {
  return absl::StrJoin(letters, ", ", [](std::string* out, vm::Letter letter) {
    out->append(TypeText(letter));
  });
}

absl::StatusOr<std::string> DescribeConvention(const char* text) {
  TAKT_ASSIGN_OR_RETURN(const vm::CallingConvention convention,
                        vm::CallingConvention::Parse(text));
  std::vector<std::string> arguments;
  for (const vm::CallingConvention::Argument& argument : convention.arguments) {
    const std::string types = JoinTypes(argument.letters);
    arguments.push_back(argument.is_span ? absl::StrCat("tuple<", types, ">...")
                                         : types);
  }
  return absl::StrCat("(", absl::StrJoin(arguments, ", "), ") -> (",
                      JoinTypes(convention.results), ")");
}

}  // namespace
}  // namespace takt::analysis

using takt::analysis::ArchiveOf;
using takt::analysis::At;

takt_status_t takt_module_contents_create(
    takt_module_t* module, takt_module_contents_t** out_contents) {
  TAKT_REQUIRE(module, out_contents);
  TAKT_TRY {
    return takt::analysis::Give(__func__, takt::analysis::ReadContents(module),
                                out_contents);
  }
  TAKT_CATCH_ALL(module, out_contents);
}

void takt_module_contents_retain(takt_module_contents_t* contents) {
  takt::analysis::RetainHandle(contents);
}

void takt_module_contents_release(takt_module_contents_t* contents) {
  takt::analysis::ReleaseHandle(contents);
}

takt_module_info_t takt_module_contents_info(
    const takt_module_contents_t* contents) {
  TAKT_REQUIRE_OR({}, contents);
  takt_module_info_t info;
  std::memset(&info, 0, sizeof(info));
  const takt::vm::BytecodeArchive* archive = ArchiveOf(contents);
  info.name = archive->name.c_str();
  info.version = archive->version;
  const uint32_t bytecode_version = archive->bytecode_version->number;
  info.bytecode_major = static_cast<uint16_t>(bytecode_version >> 16);
  info.bytecode_minor = static_cast<uint16_t>(bytecode_version);
  info.requirements = archive->requirements;
  info.global_bytes = archive->global_bytes;
  info.global_ref_count = archive->global_ref_count;
  return info;
}

takt_status_t takt_convention_describe(const char* convention,
                                       char** out_text) {
  TAKT_REQUIRE(convention, out_text);
  TAKT_TRY {
    return takt::analysis::GiveText(
        __func__, takt::analysis::DescribeConvention(convention), out_text);
  }
  TAKT_CATCH_ALL(convention, out_text);
}

size_t takt_module_contents_attribute_count(
    const takt_module_contents_t* contents) {
  TAKT_REQUIRE_OR(0, contents);
  return ArchiveOf(contents)->attributes.size();
}

const char* takt_module_contents_attribute_key(
    const takt_module_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR(nullptr, contents);
  const auto* attribute = At(ArchiveOf(contents)->attributes, index);
  return attribute != nullptr ? attribute->key.c_str() : nullptr;
}

const char* takt_module_contents_attribute_value(
    const takt_module_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR(nullptr, contents);
  const auto* attribute = At(ArchiveOf(contents)->attributes, index);
  return attribute != nullptr ? attribute->value.c_str() : nullptr;
}

size_t takt_module_contents_dependency_count(
    const takt_module_contents_t* contents) {
  TAKT_REQUIRE_OR(0, contents);
  return ArchiveOf(contents)->dependencies.size();
}

takt_dependency_info_t takt_module_contents_dependency(
    const takt_module_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  const auto* dependency = At(ArchiveOf(contents)->dependencies, index);
  if (dependency == nullptr) return {nullptr, 0, false};
  return {dependency->module_name.c_str(), dependency->minimum_version,
          dependency->optional};
}

size_t takt_module_contents_import_count(
    const takt_module_contents_t* contents) {
  TAKT_REQUIRE_OR(0, contents);
  return ArchiveOf(contents)->imports.size();
}

takt_import_info_t takt_module_contents_import(
    const takt_module_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  const auto* import = At(ArchiveOf(contents)->imports, index);
  if (import == nullptr) return {nullptr, nullptr, false};
  return {import->full_name.c_str(), import->convention.text.c_str(),
          import->optional};
}

size_t takt_module_contents_type_count(const takt_module_contents_t* contents) {
  const auto* archive = ArchiveOf(contents);
  return archive != nullptr ? archive->type_names.size() : 0;
}

const char* takt_module_contents_type_name(
    const takt_module_contents_t* contents, size_t index) {
  const auto* archive = ArchiveOf(contents);
  if (archive == nullptr) return nullptr;
  const std::string* name = At(archive->type_names, index);
  return name != nullptr ? name->c_str() : nullptr;
}

size_t takt_module_contents_rodata_count(
    const takt_module_contents_t* contents) {
  const auto* archive = ArchiveOf(contents);
  return archive != nullptr ? archive->rodata.size() : 0;
}

takt_rodata_info_t takt_module_contents_rodata(
    const takt_module_contents_t* contents, size_t index) {
  const auto* archive = ArchiveOf(contents);
  if (archive == nullptr || index >= archive->rodata.size()) {
    return {nullptr, 0, ""};
  }
  const auto& data = archive->rodata[index];
  return {data.data(), data.size(), takt::analysis::ExecutableFormat(data)};
}

size_t takt_module_contents_function_count(
    const takt_module_contents_t* contents) {
  const auto* archive = ArchiveOf(contents);
  return archive != nullptr ? archive->functions.size() : 0;
}

takt_function_info_t takt_module_contents_function(
    const takt_module_contents_t* contents, size_t index) {
  takt_function_info_t info;
  std::memset(&info, 0, sizeof(info));
  const auto* archive = ArchiveOf(contents);
  if (archive == nullptr || index >= archive->functions.size()) return info;
  const takt::vm::ArchiveFunction& function = archive->functions[index];
  info.export_name = takt::analysis::FirstExportOf(*archive, index);
  info.convention = function.convention.text.c_str();
  info.requirements = function.requirements;
  info.bytecode_bytes = function.body.size();
  info.block_count = function.block_count;
  info.value_register_count = function.value_register_count;
  info.ref_register_count = function.ref_register_count;
  return info;
}

size_t takt_module_contents_export_function(
    const takt_module_contents_t* contents, size_t export_index) {
  const auto* archive = ArchiveOf(contents);
  if (archive == nullptr || export_index >= archive->exports.size()) {
    return SIZE_MAX;
  }
  return archive->exports[export_index].function;
}

takt_status_t takt_module_contents_disassemble(
    const takt_module_contents_t* contents, size_t index, char** out_text) {
  TAKT_REQUIRE(contents, out_text);
  TAKT_TRY {
    return takt::analysis::GiveText(
        __func__, takt::analysis::Disassemble(*ArchiveOf(contents), index),
        out_text);
  }
  TAKT_CATCH_ALL(contents, out_text);
}
