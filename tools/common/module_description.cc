#include "tools/common/module_description.h"

#include <algorithm>
#include <string_view>

#include "takt/tools/module_contents.hpp"

namespace takt::tools {
namespace {

constexpr size_t kRodataTextMax = 256;

std::vector<std::string> FeatureNames(uint32_t features) {
  static constexpr std::pair<uint32_t, const char*> kNames[] = {
      {TAKT_MODULE_FEATURE_F32, "f32"},
      {TAKT_MODULE_FEATURE_F64, "f64"},
      {TAKT_MODULE_FEATURE_YIELD, "yield"},
      {TAKT_MODULE_FEATURE_UNWIND, "unwind"},
  };
  std::vector<std::string> names;
  for (const auto& [bit, name] : kNames) {
    if ((features & bit) != 0) names.emplace_back(name);
  }
  return names;
}

// Rodata that reads as one line of text; "" otherwise.
std::string TextOf(const takt_rodata_info_t& rodata) {
  if (rodata.byte_length > kRodataTextMax) return "";
  const bool is_text =
      std::all_of(rodata.data, rodata.data + rodata.byte_length,
                  [](uint8_t byte) { return byte >= 0x20 && byte < 0x7f; });
  if (!is_text) return "";
  return std::string(rodata.data, rodata.data + rodata.byte_length);
}

void DescribeTables(const takt_module_contents_t* module,
                    ModuleDescription* result) {
  for (size_t i = 0; i < takt_module_contents_attribute_count(module); ++i) {
    result->attributes.emplace_back(
        takt_module_contents_attribute_key(module, i),
        takt_module_contents_attribute_value(module, i));
  }
  for (size_t i = 0; i < takt_module_contents_type_count(module); ++i) {
    result->types.emplace_back(takt_module_contents_type_name(module, i));
  }
  for (size_t i = 0; i < takt_module_contents_dependency_count(module); ++i) {
    const takt_dependency_info_t info =
        takt_module_contents_dependency(module, i);
    result->dependencies.push_back(
        {info.module_name, info.minimum_version, info.is_optional});
  }
  for (size_t i = 0; i < takt_module_contents_import_count(module); ++i) {
    const takt_import_info_t info = takt_module_contents_import(module, i);
    result->imports.push_back(
        {info.full_name, info.convention, info.is_optional});
  }
  for (size_t i = 0; i < takt_module_contents_rodata_count(module); ++i) {
    const takt_rodata_info_t info = takt_module_contents_rodata(module, i);
    result->rodata.push_back(
        {info.byte_length, info.executable_format, TextOf(info)});
  }
}

Status DescribeExports(const Module& module, const ModuleContents& contents,
                       ModuleDescription* result) {
  for (size_t i = 0; i < module.export_count(); ++i) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const Signature signature,
                                module.export_signature(i));
    ModuleDescription::Export description = {
        std::string(module.export_name(i)),
        std::string(signature.convention()),
        std::string(signature.declaration()),
        signature.is_async(),
        takt_module_contents_export_function(contents.get(), i),
        {}};
    const size_t count = takt_module_export_attribute_count(module.get(), i);
    for (size_t j = 0; j < count; ++j) {
      description.attributes.emplace_back(
          takt_module_export_attribute_key(module.get(), i, j),
          takt_module_export_attribute_value(module.get(), i, j));
    }
    result->exports.push_back(std::move(description));
  }
  return Status();
}

Status DescribeFunctions(const Module& module, const ModuleContents& contents,
                         const DescribeOptions& options,
                         ModuleDescription* result) {
  size_t only = SIZE_MAX;
  if (!options.function.empty()) {
    const size_t index =
        takt_module_find_export(module.get(), options.function.c_str());
    if (index == SIZE_MAX) {
      return Status(TAKT_STATUS_NOT_FOUND,
                    "--function: no export is named " + options.function);
    }
    only = takt_module_contents_export_function(contents.get(), index);
  }
  for (size_t i = 0; i < takt_module_contents_function_count(contents.get());
       ++i) {
    const takt_function_info_t info =
        takt_module_contents_function(contents.get(), i);
    std::string disassembly;
    if (options.disassemble && (options.function.empty() || i == only)) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(disassembly, contents.Disassemble(i));
    }
    result->functions.push_back(
        {info.export_name, info.convention, FeatureNames(info.requirements),
         info.bytecode_bytes, info.block_count, info.value_register_count,
         info.ref_register_count, std::move(disassembly)});
  }
  return Status();
}

}  // namespace

std::string SignatureText(const std::string& convention) {
  if (convention.empty()) return "";
  char* text = nullptr;
  const Status status(takt_convention_describe(convention.c_str(), &text));
  if (!status.ok()) return convention;
  std::string result(text);
  takt_string_free(text);
  return result;
}

Result<ModuleDescription> DescribeModule(const Module& module,
                                         const DescribeOptions& options) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const ModuleContents contents,
                              ModuleContents::Read(module));
  const takt_module_info_t info = contents.info();
  ModuleDescription result = {};
  result.name = info.name;
  result.version = info.version;
  result.bytecode_major = info.bytecode_major;
  result.bytecode_minor = info.bytecode_minor;
  result.requirements = FeatureNames(info.requirements);
  result.global_bytes = info.global_bytes;
  result.global_ref_count = info.global_ref_count;
  DescribeTables(contents.get(), &result);
  TAKT_TOOLS_RETURN_IF_ERROR(DescribeExports(module, contents, &result));
  TAKT_TOOLS_RETURN_IF_ERROR(
      DescribeFunctions(module, contents, options, &result));
  return result;
}

}  // namespace takt::tools
