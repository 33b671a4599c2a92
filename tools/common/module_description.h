// The contents of a module as data, which takt-dump-module prints as text or
// JSON.
#ifndef TAKT_TOOLS_COMMON_MODULE_DESCRIPTION_H_
#define TAKT_TOOLS_COMMON_MODULE_DESCRIPTION_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/common/status.h"

namespace takt::tools {

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct ModuleDescription {
  struct Dependency {
    std::string module_name;
    uint32_t minimum_version;
    bool is_optional;
  };
  struct Import {
    std::string full_name;
    std::string convention;
    bool is_optional;
  };
  struct Export {
    std::string name;
    std::string convention;
    std::string declaration;  // "" if the module does not say.
    bool is_async;
    size_t function_index;
    Attributes attributes;
  };
  struct Rodata {
    size_t byte_length;
    std::string executable_format;  // "" if it is none.
    std::string text;               // What it says if it is short text.
  };
  struct Function {
    std::string export_name;  // "" if it is not exported.
    std::string convention;
    std::vector<std::string> requirements;
    size_t bytecode_bytes;
    uint32_t block_count;
    uint32_t value_register_count;
    uint32_t ref_register_count;
    std::string disassembly;  // Only if asked for.
  };

  std::string name;
  uint32_t version;
  uint16_t bytecode_major;
  uint16_t bytecode_minor;
  std::vector<std::string> requirements;  // "f32", "f64", "yield", "unwind".
  Attributes attributes;
  size_t global_bytes;
  size_t global_ref_count;
  std::vector<std::string> types;
  std::vector<Dependency> dependencies;
  std::vector<Import> imports;
  std::vector<Export> exports;
  std::vector<Rodata> rodata;
  std::vector<Function> functions;
};

struct DescribeOptions {
  bool disassemble = true;
  std::string function;  // Disassembles only this export; "": all.
};

// Errors: NOT_FOUND if there is no export of the function's name.
Result<ModuleDescription> DescribeModule(const Module& module,
                                         const DescribeOptions& options);

// Describes a calling convention in words: "0rI_i" is
// "(!vm.ref<?>, i64) -> (i32)". Text that is no convention is returned as it
// is.
std::string SignatureText(const std::string& convention);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_MODULE_DESCRIPTION_H_
