// takt-dump-module: prints what is in a compiled module.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/common/module_description.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-dump-module";
  info.summary = "Prints what is in a compiled module.";
  info.text =
      "  takt-dump-module --output=metadata model.vmfb\n\n"
      "It prints tables, signatures, attributes, read-only data, executables\n"
      "and code. \"-\" is stdin.\n";
  info.has_peer = true;
  return info;
}

struct DumpFlags {
  std::string output = "all";
  std::string function;
  bool is_json = false;

  void AddTo(Flags* flags) {
    flags->AddChoice("output", {"all", "metadata", "disassembly"}, &output,
                     "all: both; metadata: tables and sizes; disassembly: "
                     "the code.");
    flags->AddText("function", &function,
                   "The exported function to disassemble. Default: all.");
    flags->AddSwitch("json", &is_json, "Print JSON.");
  }
  bool wants_metadata() const { return output != "disassembly"; }
  bool wants_disassembly() const { return output != "metadata"; }
};

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

void PrintTitle(const char* title) {
  const std::string rule(78, '=');
  std::printf("//%s//\n// %s\n//%s//\n\n", rule.c_str(), title, rule.c_str());
}

void PrintHeader(const ModuleDescription& module) {
  PrintTitle(
      ("@" + module.name + " : version " + std::to_string(module.version))
          .c_str());
  std::printf("Bytecode version: %u.%u\nRequirements: %s\n\n",
              module.bytecode_major, module.bytecode_minor,
              Join(module.requirements).c_str());
  if (!module.attributes.empty()) std::puts("Attributes:");
  for (const auto& [key, value] : module.attributes) {
    std::printf("  %s: %s\n", key.c_str(), value.c_str());
  }
  if (!module.attributes.empty()) std::puts("");
}

void PrintTables(const ModuleDescription& module) {
  std::puts("Required Types:");
  for (size_t i = 0; i < module.types.size(); ++i) {
    std::printf("  [%3zu] %s\n", i, module.types[i].c_str());
  }
  std::puts("\nModule Dependencies:");
  for (const auto& dependency : module.dependencies) {
    std::printf("  %s, version >= %u, %s\n", dependency.module_name.c_str(),
                dependency.minimum_version,
                dependency.is_optional ? "optional" : "required");
  }
  std::puts("\nImported Functions:");
  for (size_t i = 0; i < module.imports.size(); ++i) {
    const auto& import = module.imports[i];
    std::printf("  [%3zu] %s%s%s\n", i, import.full_name.c_str(),
                SignatureText(import.convention).c_str(),
                import.is_optional ? " optional" : "");
  }
  std::puts("\nExported Functions:");
  for (size_t i = 0; i < module.exports.size(); ++i) {
    const auto& each = module.exports[i];
    std::printf("  [%3zu] %s%s\n", i, each.name.c_str(),
                SignatureText(each.convention).c_str());
    for (const auto& [key, value] : each.attributes) {
      std::printf("        %s: %s\n", key.c_str(), value.c_str());
    }
  }
  std::puts("");
}

void PrintSections(const ModuleDescription& module) {
  PrintTitle("Sections");
  std::printf("Module State:\n  %zu bytes, %zu refs\n\nRead-only Data:\n",
              module.global_bytes, module.global_ref_count);
  for (size_t i = 0; i < module.rodata.size(); ++i) {
    const auto& rodata = module.rodata[i];
    std::printf("  .rodata[%3zu] %10zu bytes", i, rodata.byte_length);
    if (!rodata.executable_format.empty()) {
      std::printf(" executable %s", rodata.executable_format.c_str());
    } else if (!rodata.text.empty()) {
      std::printf(" `%s`", rodata.text.c_str());
    }
    std::puts("");
  }
  std::puts("");
}

void PrintFunctions(const ModuleDescription& module) {
  PrintTitle("Bytecode");
  std::puts(
      "  # |   Length | Blocks | i32 # | ref # | Requirements         | "
      "Export\n"
      "----+----------+--------+-------+-------+----------------------+-------"
      "-----");
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const auto& function = module.functions[i];
    std::printf("%3zu | %8zu | %6u | %5u | %5u | %-20s | %s\n", i,
                function.bytecode_bytes, function.block_count,
                function.value_register_count, function.ref_register_count,
                Join(function.requirements).c_str(),
                function.export_name.c_str());
  }
  std::puts("");
}

void PrintDisassembly(const ModuleDescription& module) {
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const auto& function = module.functions[i];
    if (function.disassembly.empty()) continue;
    std::printf("func[%zu]", i);
    if (!function.export_name.empty()) {
      std::printf(" @%s", function.export_name.c_str());
    }
    std::printf(" %s {\n%s}\n\n", SignatureText(function.convention).c_str(),
                function.disassembly.c_str());
  }
}

nlohmann::json ToJson(const Attributes& attributes) {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [key, value] : attributes) result[key] = value;
  return result;
}

nlohmann::json MetadataToJson(const ModuleDescription& module) {
  nlohmann::json document = {
      {"name", module.name},
      {"version", module.version},
      {"bytecode_version", std::to_string(module.bytecode_major) + "." +
                               std::to_string(module.bytecode_minor)},
      {"requirements", module.requirements},
      {"attributes", ToJson(module.attributes)},
      {"global_bytes", module.global_bytes},
      {"global_ref_count", module.global_ref_count},
      {"types", module.types},
  };
  for (const char* list : {"dependencies", "imports", "exports", "rodata"}) {
    document[list] = nlohmann::json::array();
  }
  for (const auto& each : module.dependencies) {
    document["dependencies"].push_back(
        {{"module", each.module_name},
         {"minimum_version", each.minimum_version},
         {"optional", each.is_optional}});
  }
  for (const auto& each : module.imports) {
    document["imports"].push_back({{"name", each.full_name},
                                   {"convention", each.convention},
                                   {"optional", each.is_optional}});
  }
  for (const auto& each : module.exports) {
    nlohmann::json description = {{"name", each.name},
                                  {"convention", each.convention},
                                  {"declaration", each.declaration},
                                  {"async", each.is_async},
                                  {"attributes", ToJson(each.attributes)}};
    if (each.function_index != SIZE_MAX) {
      description["function"] = each.function_index;
    }
    document["exports"].push_back(std::move(description));
  }
  for (const auto& each : module.rodata) {
    nlohmann::json description = {{"byte_length", each.byte_length}};
    if (!each.executable_format.empty()) {
      description["executable_format"] = each.executable_format;
    }
    if (!each.text.empty()) description["text"] = each.text;
    document["rodata"].push_back(std::move(description));
  }
  return document;
}

void PrintJson(const ModuleDescription& module, const DumpFlags& flags) {
  nlohmann::json document = nlohmann::json::object();
  if (flags.wants_metadata()) document = MetadataToJson(module);
  document["functions"] = nlohmann::json::array();
  for (const auto& each : module.functions) {
    nlohmann::json description = {
        {"export", each.export_name},
        {"convention", each.convention},
        {"requirements", each.requirements},
        {"bytecode_bytes", each.bytecode_bytes},
        {"block_count", each.block_count},
        {"value_register_count", each.value_register_count},
        {"ref_register_count", each.ref_register_count}};
    if (!each.disassembly.empty()) {
      description["disassembly"] = each.disassembly;
    }
    document["functions"].push_back(std::move(description));
  }
  // Names and attributes may be any bytes.
  std::printf(
      "%s\n",
      document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
          .c_str());
}

Result<int> Dump(const DumpFlags& flags, const std::string& path) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Instance instance, Instance::Create());
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Module module,
                              LoadModule(instance, path, TAKT_MODULE_MODE_MMAP,
                                         /*accept_unknown_types=*/true));
  DescribeOptions options;
  options.disassemble = flags.wants_disassembly();
  options.function = flags.function;
  Result<ModuleDescription> description = DescribeModule(module, options);
  if (!description.ok()) return Annotate(description.status(), path);
  if (flags.is_json) {
    PrintJson(*description, flags);
    return kSuccess;
  }
  if (flags.wants_metadata()) {
    PrintHeader(*description);
    PrintTables(*description);
    PrintSections(*description);
    PrintFunctions(*description);
  }
  if (flags.wants_disassembly()) PrintDisassembly(*description);
  return kSuccess;
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  DumpFlags dump_flags;
  dump_flags.AddTo(flags);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  if (flags->positional().size() != 1) {
    return flags->Misuse("expected one module, got " +
                         std::to_string(flags->positional().size()));
  }
  return Dump(dump_flags, flags->positional()[0]);
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
