#include "vm/translator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"
#include "vm/block_graph.h"
#include "vm/function_translator.h"

namespace takt::vm {
namespace {

// Stands for types that are not registered.
constexpr ObjectType kUnknownType{"unknown"};

absl::StatusOr<ElementType> ResolveType(const std::string& name,
                                        const TypeRegistry& types,
                                        Program& program) {
  constexpr std::pair<const char*, ValueKind> kValueTypes[] = {
      {"i8", ValueKind::kI8},   {"i16", ValueKind::kI16},
      {"i32", ValueKind::kI32}, {"i64", ValueKind::kI64},
      {"f32", ValueKind::kF32}, {"f64", ValueKind::kF64}};
  for (const auto& [text, kind] : kValueTypes) {
    if (name == text) return ElementType{kind, nullptr};
  }
  if (name == "!vm.opaque") return ElementType{};
  if (absl::StartsWith(name, "!vm.list")) {
    return ElementType{ValueKind::kRef, &List::kType};
  }
  if (!absl::StartsWith(name, "!")) {
    return absl::NotFoundError(absl::StrCat("no type is known as ", name));
  }
  const ObjectType* type = types.Find(name.substr(1));
  if (type == nullptr) {
    type = &kUnknownType;
    if (program.unknown_type.empty()) program.unknown_type = name;
  }
  return ElementType{ValueKind::kRef, type};
}

// Assigns registers to the arguments of a function: values and refs are counted
// apart, and a 64-bit value takes an even word.
void PlaceArguments(const ArchiveFunction& source, Function& function) {
  uint32_t word = 0;
  uint32_t ref = 0;
  for (const CallingConvention::Argument& argument :
       source.convention.arguments) {
    const Letter letter = argument.letters[0];
    if (letter == Letter::kRef) {
      function.arguments.push_back(RefAddress(ref++));
      continue;
    }
    if (IsWide(letter)) word = (word + 1) / 2 * 2;
    function.arguments.push_back(Narrow<int16_t>(word));
    word += IsWide(letter) ? 2 : 1;
  }
  function.zero_begin = word * 4;
}

void NameFunctions(const BytecodeArchive& archive, Program& program) {
  for (const ArchiveExport& e : archive.exports) {
    std::string& name = program.functions[e.function].name;
    if (name.empty()) name = absl::StrCat(archive.name, ".", e.local_name);
  }
  for (Function& function : program.functions) {
    if (!function.name.empty()) continue;
    function.name = absl::StrCat(archive.name, ".#", function.ordinal);
  }
}

// Gives a function its registers, which its callers must know.
absl::Status PlaceRegisters(const ArchiveFunction& source, Function& function) {
  if (source.value_register_count > kMaxValueRegisters ||
      source.ref_register_count > kMaxRefRegisters) {
    return absl::UnimplementedError(absl::StrCat(
        function.name, ": ", source.value_register_count, " value and ",
        source.ref_register_count, " ref registers; at most ",
        kMaxValueRegisters, " and ", kMaxRefRegisters, " are supported"));
  }
  function.ref_count = source.ref_register_count;
  function.ref_bytes =
      Narrow<uint32_t>(AlignUp(uint64_t{function.ref_count} * 8, 16));
  PlaceArguments(source, function);
  return absl::OkStatus();
}

absl::Status TranslateFunction(const BytecodeArchive& archive, uint32_t ordinal,
                               Program& program, TranslatorScratch& scratch) {
  Function& function = program.functions[ordinal];
  const ArchiveFunction& source = archive.functions[ordinal];
  absl::StatusOr<BlockGraph> graph = BlockGraph::Build(archive, source);
  if (!graph.ok()) return graph.status();
  const size_t begin = program.code.size();
  for (const bool fuse : {true, false}) {
    FunctionTranslator translator(archive, program, ordinal, *graph, fuse,
                                  scratch);
    TAKT_RETURN_IF_ERROR(translator.Run());
    if (translator.fits()) break;
    program.code.resize(begin);
    function.pcs.clear();
  }
  return absl::OkStatus();
}

void WrapRodata(const BytecodeArchive& archive, const Ref<Object>& owner,
                Program& program) {
  for (absl::Span<const uint8_t> segment : archive.rodata) {
    // Read-only: nothing writes through the pointer.
    program.rodata.push_back(ByteBuffer::Wrap(
        owner, const_cast<uint8_t*>(segment.data()), segment.size(), false));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> Translate(
    const BytecodeArchive& archive, const TypeRegistry& types,
    const Ref<Object>& owner) {
  auto program = std::make_unique<Program>();
  program->name = archive.name;
  program->global_bytes = archive.global_bytes;
  program->global_ref_count = archive.global_ref_count;
  for (const std::string& name : archive.type_names) {
    TAKT_ASSIGN_OR_RETURN(ElementType type, ResolveType(name, types, *program));
    program->types.push_back(type);
  }
  for (const ImportInfo& import : archive.imports) {
    program->import_results.push_back(import.convention.results);
    program->import_names.push_back(import.full_name);
  }
  WrapRodata(archive, owner, *program);
  program->functions.resize(archive.functions.size());
  for (uint32_t i = 0; i < program->functions.size(); ++i) {
    program->functions[i].program = program.get();
    program->functions[i].ordinal = i;
  }
  NameFunctions(archive, *program);
  for (uint32_t i = 0; i < program->functions.size(); ++i) {
    TAKT_RETURN_IF_ERROR(
        PlaceRegisters(archive.functions[i], program->functions[i]));
  }
  std::vector<size_t> begins;
  TranslatorScratch scratch;
  for (uint32_t i = 0; i < program->functions.size(); ++i) {
    begins.push_back(program->code.size());
    TAKT_RETURN_IF_ERROR(TranslateFunction(archive, i, *program, scratch));
  }
  for (size_t i = 0; i < begins.size(); ++i) {
    program->functions[i].code = program->code.data() + begins[i];
  }
  return program;
}

std::string DescribePlace(const Function& function, const Unit* pc) {
  const auto unit = Narrow<uint32_t>(pc - function.code);
  auto it = std::upper_bound(
      function.pcs.begin(), function.pcs.end(), unit,
      [](uint32_t u, const auto& entry) { return u < entry.first; });
  if (it == function.pcs.begin()) return function.name;
  return absl::StrCat(function.name, "+", std::prev(it)->second);
}

}  // namespace takt::vm
