#include "vm/module.h"

#include <cstring>

#include "abi/guard.h"
#include "api/handle.h"
#include "api/release_guard.h"
#include "base/mapped_file.h"
#include "runtime/instance.h"
#include "runtime/module_loader.h"
#include "runtime/signature.h"
#include "takt/module.h"
#include "vm/byte_buffer.h"
#include "vm/bytecode_module.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<vm::Module>> LoadFile(
    runtime::Instance* instance, const char* path,
    const takt_module_file_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_module_file_options_t given,
                        ReadOptions(options, &takt_module_file_options_init));
  // What was verified must not change before it is used.
  const auto mode =
      given.mode == TAKT_MODULE_MODE_PRELOAD || given.verify != nullptr
          ? MappedFile::Mode::kPreload
          : MappedFile::Mode::kMap;
  TAKT_ASSIGN_OR_RETURN(Ref<MappedFile> file, MappedFile::Open(path, mode));
  const absl::Span<const uint8_t> bytes = file->bytes();
  if (given.verify != nullptr) {
    const absl::Status verdict = FromStatus(
        given.verify(given.verify_data, path, bytes.data(), bytes.size()));
    if (!verdict.ok()) return Annotate(verdict, path);
  }
  return runtime::LoadModule(*instance, bytes, std::move(file), path,
                             given.accept_unknown_types);
}

absl::StatusOr<Ref<vm::Module>> LoadMemory(
    runtime::Instance* instance, const void* data, size_t byte_length,
    const takt_module_memory_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_module_memory_options_t given,
                        ReadOptions(options, &takt_module_memory_options_init));
  const std::string source = given.source != nullptr ? given.source : "memory";
  if (!given.borrow) {
    TAKT_ASSIGN_OR_RETURN(
        Ref<vm::ByteBuffer> copy,
        vm::ByteBuffer::Allocate(byte_length, runtime::kModuleAlignment));
    if (byte_length != 0) std::memcpy(copy->data(), data, byte_length);
    const absl::Span<const uint8_t> bytes = copy->bytes();
    return runtime::LoadModule(*instance, bytes, std::move(copy), source,
                               given.accept_unknown_types);
  }
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (address % runtime::kModuleAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, ": borrowed bytes at address 0x", absl::Hex(address),
        " do not start at a multiple of ", runtime::kModuleAlignment));
  }
  auto guard = MakeRef<ReleaseGuard>();
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Module> module,
      runtime::LoadModule(*instance,
                          {static_cast<const uint8_t*>(data), byte_length},
                          guard, source, given.accept_unknown_types));
  guard->Arm(given.release, given.user_data);
  return module;
}

const vm::ExportInfo* ExportAt(const takt_module_t* module, size_t index) {
  const auto& exports = Unwrap(module)->exports();
  return index < exports.size() ? &exports[index] : nullptr;
}

const vm::Attribute* AttributeAt(const takt_module_t* module, size_t index,
                                 size_t attribute_index) {
  const vm::ExportInfo* info = ExportAt(module, index);
  if (info == nullptr || attribute_index >= info->attributes.size()) {
    return nullptr;
  }
  return &info->attributes[attribute_index];
}

absl::StatusOr<Ref<runtime::Signature>> SignatureAt(const takt_module_t* module,
                                                    size_t index) {
  const vm::ExportInfo* info = ExportAt(module, index);
  if (info == nullptr) {
    return absl::OutOfRangeError(
        absl::StrCat(Unwrap(module)->name(), ": export ", index, " of ",
                     Unwrap(module)->exports().size()));
  }
  return runtime::Signature::Create(*info);
}

}  // namespace
}  // namespace takt::api

using takt::api::ExportAt;
using takt::api::Give;
using takt::api::Unwrap;

takt_status_t takt_module_load_file(takt_instance_t* instance, const char* path,
                                    const takt_module_file_options_t* options,
                                    takt_module_t** out_module) {
  TAKT_REQUIRE(instance, path, out_module);
  TAKT_TRY {
    return Give(__func__, takt::api::LoadFile(Unwrap(instance), path, options),
                out_module);
  }
  TAKT_CATCH_ALL(instance, path, out_module);
}

takt_status_t takt_module_load_memory(
    takt_instance_t* instance, const void* data, size_t byte_length,
    const takt_module_memory_options_t* options, takt_module_t** out_module) {
  TAKT_REQUIRE(instance, data, out_module);
  TAKT_TRY {
    return Give(
        __func__,
        takt::api::LoadMemory(Unwrap(instance), data, byte_length, options),
        out_module);
  }
  TAKT_CATCH_ALL(instance, data, out_module);
}

void takt_module_retain(takt_module_t* module) {
  takt::api::RetainHandle(module);
}

void takt_module_release(takt_module_t* module) {
  takt::api::ReleaseHandle(module);
}

const char* takt_module_name(const takt_module_t* module) {
  TAKT_REQUIRE_OR("", module);
  return Unwrap(module)->name().c_str();
}

size_t takt_module_export_count(const takt_module_t* module) {
  TAKT_REQUIRE_OR(0, module);
  return Unwrap(module)->exports().size();
}

const char* takt_module_export_name(const takt_module_t* module, size_t index) {
  TAKT_REQUIRE_OR(nullptr, module);
  const takt::vm::ExportInfo* info = ExportAt(module, index);
  return info != nullptr ? info->name.c_str() : nullptr;
}

size_t takt_module_find_export(const takt_module_t* module, const char* name) {
  TAKT_REQUIRE_OR(SIZE_MAX, module, name);
  TAKT_TRY { return Unwrap(module)->FindExport(name).value_or(SIZE_MAX); }
  TAKT_CATCH_ALL_OR(SIZE_MAX, module, name);
}

const void* takt_module_bytes(const takt_module_t* module,
                              size_t* out_byte_length) {
  TAKT_REQUIRE_OR(nullptr, module, out_byte_length);
  auto* bytecode = takt::DynCast<takt::vm::BytecodeModule>(Unwrap(module));
  *out_byte_length = bytecode != nullptr ? bytecode->bytes().size() : 0;
  return bytecode != nullptr ? bytecode->bytes().data() : nullptr;
}

uint64_t takt_module_content_hash(const takt_module_t* module) {
  TAKT_REQUIRE_OR(0, module);
  TAKT_TRY { return takt::vm::ContentHashOf(*Unwrap(module)); }
  TAKT_CATCH_ALL_OR(0, module);
}

takt_status_t takt_module_export_signature(const takt_module_t* module,
                                           size_t index,
                                           takt_signature_t** out_signature) {
  TAKT_REQUIRE(module, out_signature);
  TAKT_TRY {
    return Give(__func__, takt::api::SignatureAt(module, index), out_signature);
  }
  TAKT_CATCH_ALL(module, out_signature);
}

size_t takt_module_export_attribute_count(const takt_module_t* module,
                                          size_t index) {
  TAKT_REQUIRE_OR(0, module);
  const takt::vm::ExportInfo* info = ExportAt(module, index);
  return info != nullptr ? info->attributes.size() : 0;
}

const char* takt_module_export_attribute_key(const takt_module_t* module,
                                             size_t index,
                                             size_t attribute_index) {
  TAKT_REQUIRE_OR(nullptr, module);
  const takt::vm::Attribute* attribute =
      takt::api::AttributeAt(module, index, attribute_index);
  return attribute != nullptr ? attribute->key.c_str() : nullptr;
}

const char* takt_module_export_attribute_value(const takt_module_t* module,
                                               size_t index,
                                               size_t attribute_index) {
  TAKT_REQUIRE_OR(nullptr, module);
  const takt::vm::Attribute* attribute =
      takt::api::AttributeAt(module, index, attribute_index);
  return attribute != nullptr ? attribute->value.c_str() : nullptr;
}
