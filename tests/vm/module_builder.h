// Builds small modules by hand, in the bare form of docs/module_format.md:
// what the compiler would never write, so that readers can be shown it.
//
//   BodyBuilder body;
//   body.Block().Emit(Op::kAddI32).U16(0).U16(1).U16(2);
//   body.Emit(Op::kReturn).List({2});
//   ModuleBuilder module("m");
//   module.Export("add", module.AddFunction("0ii_i", body, 3, 0));
//   std::vector<uint8_t> bytes = module.Build();
#ifndef TAKT_TESTS_VM_MODULE_BUILDER_H_
#define TAKT_TESTS_VM_MODULE_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "vm/module_format_generated.h"
#include "vm/opcodes.h"

namespace takt::vm {

// Register operands of the ref bank, as encoded.
constexpr uint16_t R(uint16_t ordinal) { return 0x8000 | ordinal; }
constexpr uint16_t MoveR(uint16_t ordinal) { return 0xc000 | ordinal; }
// A function operand that means an import.
constexpr uint32_t ImportOrdinal(uint32_t ordinal) {
  return 0x80000000u | ordinal;
}

// Writes one function body, field by field; nothing is checked.
class BodyBuilder {
 public:
  using Remap = std::vector<std::pair<uint16_t, uint16_t>>;

  // A target for branches, to be given to Block() before or after.
  uint32_t NewLabel() {
    labels_.push_back(0);
    return static_cast<uint32_t>(labels_.size() - 1);
  }
  BodyBuilder& Block() {
    ++block_count_;
    return Emit(Op::kBlock);
  }
  BodyBuilder& Block(uint32_t label) {
    labels_[label] = pc();
    return Block();
  }
  BodyBuilder& Emit(Op op) {
    const OpInfo& info = InfoOf(op);
    if (info.set != OpSet::kCore) U8(info.set == OpSet::kF32 ? 0xe0 : 0xe1);
    return U8(info.code);
  }

  BodyBuilder& U8(uint8_t value) { return Raw(value); }
  BodyBuilder& U16(uint16_t value) { return Raw(value); }
  BodyBuilder& U32(uint32_t value) { return Raw(value); }
  BodyBuilder& U64(uint64_t value) { return Raw(value); }
  BodyBuilder& F32(float value) { return Raw(value); }
  BodyBuilder& F64(double value) { return Raw(value); }
  BodyBuilder& Text(const std::string& text) {
    U16(static_cast<uint16_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  BodyBuilder& Align() { return bytes_.size() % 2 == 0 ? *this : U8(0); }
  // Registers or segment sizes.
  BodyBuilder& List(const std::vector<uint16_t>& list) {
    Align().U16(static_cast<uint16_t>(list.size()));
    for (uint16_t entry : list) U16(entry);
    return *this;
  }
  // The pc of a label alone (call.yieldable), and with its remap list.
  BodyBuilder& Target(uint32_t label) {
    fixups_.emplace_back(pc(), label);
    return U32(0);
  }
  BodyBuilder& Branch(uint32_t label, const Remap& remap = {}) {
    Target(label).Align().U16(static_cast<uint16_t>(remap.size()));
    for (const auto& pair : remap) U16(pair.first).U16(pair.second);
    return *this;
  }

  uint32_t pc() const { return static_cast<uint32_t>(bytes_.size()); }
  uint16_t block_count() const { return block_count_; }
  // With every label filled in.
  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> out = bytes_;
    for (const auto& [offset, label] : fixups_) {
      std::memcpy(out.data() + offset, &labels_[label], sizeof(uint32_t));
    }
    return out;
  }

 private:
  template <typename T>
  BodyBuilder& Raw(T value) {
    const size_t offset = bytes_.size();
    bytes_.resize(offset + sizeof(T));
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
    return *this;
  }

  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> labels_;
  std::vector<std::pair<uint32_t, uint32_t>> fixups_;  // Offset, label.
  uint16_t block_count_ = 0;
};

// Every member may be changed at will before Build(): hostile modules are
// made that way.
struct ModuleBuilder {
  explicit ModuleBuilder(std::string module_name = "test")
      : name(std::move(module_name)) {}

  struct Function {
    std::string convention;
    std::vector<uint8_t> body;
    uint16_t block_count = 0;
    uint16_t value_registers = 0;
    uint16_t ref_registers = 0;
    uint32_t requirements = 0;
    int16_t reserved = 0;
    int32_t offset = -1;  // -1: where the body really lies.
    int32_t length = -1;
    std::vector<std::pair<std::string, std::string>> attributes;
  };
  struct Import {
    std::string full_name;
    std::string convention;
    uint32_t flags = 1;
  };
  struct Dependency {
    std::string name;
    uint32_t minimum_version = 0;
    uint32_t flags = 1;
  };
  struct Rodata {
    std::vector<uint8_t> data;
    bool external = false;
    uint64_t offset_added = 0;  // To what an external segment's table says.
    uint64_t length_added = 0;
  };

  // Each Add returns the ordinal.
  uint32_t AddFunction(const std::string& convention, const BodyBuilder& body,
                       uint16_t value_registers, uint16_t ref_registers) {
    Function function;
    function.convention = convention;
    function.body = body.bytes();
    function.block_count = body.block_count();
    function.value_registers = value_registers;
    function.ref_registers = ref_registers;
    function.requirements = requirements;
    functions.push_back(std::move(function));
    return static_cast<uint32_t>(functions.size() - 1);
  }
  uint32_t AddImport(const std::string& full_name,
                     const std::string& convention, bool optional = false) {
    imports.push_back({full_name, convention, optional ? 2u : 1u});
    return static_cast<uint32_t>(imports.size() - 1);
  }
  uint32_t AddType(const std::string& type_name) {
    types.push_back(type_name);
    return static_cast<uint32_t>(types.size() - 1);
  }
  uint32_t AddRodata(std::vector<uint8_t> data, bool external = false) {
    Rodata segment;
    segment.data = std::move(data);
    segment.external = external;
    rodata.push_back(std::move(segment));
    return static_cast<uint32_t>(rodata.size() - 1);
  }
  void Export(const std::string& local_name, int32_t function) {
    exports.emplace_back(local_name, function);
  }

  std::vector<uint8_t> Build() const {
    Fbb fbb;
    fbb.FinishSizePrefixed(BuildModule(fbb), wire::ModuleIdentifier());
    std::vector<uint8_t> out(fbb.GetBufferPointer(),
                             fbb.GetBufferPointer() + fbb.GetSize());
    const size_t rodata_base = AlignTo(out.size(), 64);
    size_t end = 0;
    for (const Rodata& segment : rodata) {
      if (!segment.external) continue;
      end = AlignTo(end, 16);
      out.resize(rodata_base + end);
      out.insert(out.end(), segment.data.begin(), segment.data.end());
      end += segment.data.size();
    }
    return out;
  }

  std::string name;
  uint32_t version = 0;
  uint32_t requirements = 15;  // Of the module and of functions added next.
  uint32_t bytecode_version = 17u << 16;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::string> types;
  std::vector<Dependency> dependencies;
  std::vector<Import> imports;
  std::vector<std::pair<std::string, int32_t>> exports;
  std::vector<Function> functions;
  std::vector<Rodata> rodata;
  int32_t global_bytes = 0;
  int32_t global_refs = 0;
  size_t signatures_dropped = 0;  // Signatures fewer than functions.

 private:
  using Fbb = flatbuffers::FlatBufferBuilder;
  template <typename T>
  using Offset = flatbuffers::Offset<T>;
  template <typename T>
  using VectorOffset =
      flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<T>>>;

  static size_t AlignTo(size_t value, size_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
  }

  Offset<wire::Module> BuildModule(Fbb& fbb) const {
    std::vector<wire::FunctionDescriptor> descriptors;
    std::vector<uint8_t> bytecode;
    const auto name_offset = fbb.CreateString(name);
    const auto attributes_offset = BuildAttributes(fbb, attributes);
    const auto types_offset = BuildTypes(fbb);
    const auto dependencies_offset = BuildDependencies(fbb);
    const auto imports_offset = BuildImports(fbb);
    const auto exports_offset = BuildExports(fbb);
    const auto signatures_offset = BuildFunctions(fbb, &descriptors, &bytecode);
    const auto rodata_offset = BuildRodata(fbb);
    const auto state_offset = wire::CreateState(fbb, global_bytes, global_refs);
    const auto functions_offset = fbb.CreateVectorOfStructs(descriptors);
    const auto bytecode_offset = fbb.CreateVector(bytecode);
    wire::ModuleBuilder module(fbb);
    module.add_name(name_offset);
    module.add_version(version);
    module.add_requirements(requirements);
    module.add_attributes(attributes_offset);
    module.add_types(types_offset);
    module.add_dependencies(dependencies_offset);
    module.add_imports(imports_offset);
    module.add_exports(exports_offset);
    module.add_signatures(signatures_offset);
    module.add_rodata(rodata_offset);
    module.add_state(state_offset);
    module.add_functions(functions_offset);
    module.add_bytecode_version(bytecode_version);
    module.add_bytecode(bytecode_offset);
    return module.Finish();
  }

  static VectorOffset<wire::Attribute> BuildAttributes(
      Fbb& fbb,
      const std::vector<std::pair<std::string, std::string>>& entries) {
    std::vector<Offset<wire::Attribute>> tables;
    for (const auto& [key, value] : entries) {
      const auto key_offset = fbb.CreateString(key);
      const auto value_offset = fbb.CreateString(value);
      tables.push_back(wire::CreateAttribute(fbb, key_offset, value_offset));
    }
    return fbb.CreateVector(tables);
  }

  VectorOffset<wire::Type> BuildTypes(Fbb& fbb) const {
    std::vector<Offset<wire::Type>> tables;
    for (const std::string& type : types) {
      const auto name_offset = fbb.CreateString(type);
      tables.push_back(wire::CreateType(fbb, name_offset));
    }
    return fbb.CreateVector(tables);
  }

  VectorOffset<wire::Dependency> BuildDependencies(Fbb& fbb) const {
    std::vector<Offset<wire::Dependency>> tables;
    for (const Dependency& dependency : dependencies) {
      const auto name_offset = fbb.CreateString(dependency.name);
      tables.push_back(wire::CreateDependency(
          fbb, name_offset, dependency.minimum_version, dependency.flags));
    }
    return fbb.CreateVector(tables);
  }

  VectorOffset<wire::Import> BuildImports(Fbb& fbb) const {
    std::vector<Offset<wire::Import>> tables;
    for (const Import& import : imports) {
      const auto convention = fbb.CreateString(import.convention);
      const auto signature = wire::CreateSignature(fbb, convention);
      const auto name_offset = fbb.CreateString(import.full_name);
      tables.push_back(
          wire::CreateImport(fbb, name_offset, signature, import.flags));
    }
    return fbb.CreateVector(tables);
  }

  VectorOffset<wire::Export> BuildExports(Fbb& fbb) const {
    std::vector<Offset<wire::Export>> tables;
    for (const auto& [local_name, function] : exports) {
      const auto name_offset = fbb.CreateString(local_name);
      tables.push_back(wire::CreateExport(fbb, name_offset, function));
    }
    return fbb.CreateVector(tables);
  }

  // The signatures; descriptors and bytecode go to the other two.
  VectorOffset<wire::Signature> BuildFunctions(
      Fbb& fbb, std::vector<wire::FunctionDescriptor>* descriptors,
      std::vector<uint8_t>* bytecode) const {
    std::vector<Offset<wire::Signature>> tables;
    for (const Function& function : functions) {
      const auto attributes_offset = BuildAttributes(fbb, function.attributes);
      const auto convention = fbb.CreateString(function.convention);
      tables.push_back(
          wire::CreateSignature(fbb, convention, attributes_offset));
      const int32_t offset = static_cast<int32_t>(bytecode->size());
      const int32_t length = static_cast<int32_t>(function.body.size());
      descriptors->emplace_back(
          function.offset == -1 ? offset : function.offset,
          function.length == -1 ? length : function.length,
          function.requirements, function.reserved, function.block_count,
          function.value_registers, function.ref_registers);
      bytecode->insert(bytecode->end(), function.body.begin(),
                       function.body.end());
      bytecode->resize(AlignTo(bytecode->size(), 8));
    }
    tables.resize(tables.size() - signatures_dropped);
    return fbb.CreateVector(tables);
  }

  VectorOffset<wire::Rodata> BuildRodata(Fbb& fbb) const {
    std::vector<Offset<wire::Rodata>> tables;
    size_t end = 0;
    for (const Rodata& segment : rodata) {
      if (segment.external) {
        end = AlignTo(end, 16);
        tables.push_back(wire::CreateRodata(
            fbb, wire::Compression::NONE, 0, 0, end + segment.offset_added,
            segment.data.size() + segment.length_added));
        end += segment.data.size();
      } else {
        const auto data = fbb.CreateVector(segment.data);
        tables.push_back(
            wire::CreateRodata(fbb, wire::Compression::NONE, 0, data));
      }
    }
    return fbb.CreateVector(tables);
  }
};

}  // namespace takt::vm

#endif  // TAKT_TESTS_VM_MODULE_BUILDER_H_
