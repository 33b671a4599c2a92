#include "vm/linkage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/hash_map.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"
#include "vm/bytecode_module.h"
#include "vm/import_call.h"
#include "vm/native_module.h"

namespace takt::vm {
namespace {

// How many linkages a module keeps for the lists that end with it. A list
// beyond that is linked again on each use.
constexpr size_t kMaxLinkages = 16;

Unit MakeUnit(InnerOp op, int16_t a, int32_t wide) {
  Unit unit{Narrow<uint16_t>(op), a, 0, 0};
  unit.set_wide(wide);
  return unit;
}

// The entry code: one call that may park, then the end.
std::vector<Unit> EntryCode(const HostEntry& entry, bool keep_arguments) {
  std::vector<int16_t> arguments = entry.arguments;
  for (int16_t& address : arguments) {
    if (address < 0 && !keep_arguments) ++address;  // To be moved from.
  }
  std::vector<Unit> code{MakeUnit(InnerOp::kCallImport, 1, 0)};
  ImportCall::Append(arguments, {}, entry.results, &code);
  code.push_back(MakeUnit(InnerOp::kExit, 0, 0));
  return code;
}

// Every value has two words of the frame, whatever its width.
HostEntry MakeEntry(const CallingConvention& convention) {
  HostEntry entry;
  uint32_t words = 0;
  uint32_t refs = 0;
  const auto place = [&](Letter letter) {
    if (letter == Letter::kRef) return RefAddress(refs++);
    words += 2;
    return Narrow<int16_t>(words - 2);
  };
  const size_t count = convention.arguments.size() + convention.results.size();
  entry.has_spans = convention.has_spans() ||
                    count > std::min(kMaxRefRegisters, kMaxValueRegisters / 2);
  if (entry.has_spans) return entry;
  for (const CallingConvention::Argument& argument : convention.arguments) {
    entry.letters.push_back(argument.letters[0]);
    entry.arguments.push_back(place(argument.letters[0]));
  }
  entry.result_letters = convention.results;
  for (Letter letter : convention.results) {
    entry.results.push_back(place(letter));
  }
  entry.frame.ref_count = refs;
  entry.frame.ref_bytes = Narrow<uint32_t>(AlignUp(refs * 8, 16));
  entry.frame.value_bytes = Narrow<uint32_t>(AlignUp(words * 4 + 4, 16));
  entry.code = EntryCode(entry, false);
  entry.keeping_code = EntryCode(entry, true);
  return entry;
}

// "(iree-compile 3.12)": the compilers that import it so, if they are known.
std::string Whose(const std::string& compilers) {
  return compilers.empty() ? "" : absl::StrCat(" (", compilers, ")");
}

// The reason why no export of `module` is bound to `import`: no export has the
// name, or those that have it have other conventions, which are listed.
absl::Status NoExportFor(const ImportInfo& import, absl::string_view importer,
                         absl::string_view local_name, const Module& module) {
  std::string offered;
  for (const ExportInfo& e : module.exports()) {
    if (e.name != local_name) continue;
    absl::StrAppend(
        &offered, offered.empty() ? "" : " or ", e.convention.Describe(),
        Whose(e.compilers.empty() ? module.compilers() : e.compilers));
  }
  if (offered.empty()) {
    return absl::NotFoundError(absl::StrCat(
        importer, " needs function ", import.full_name,
        module.compilers().empty()
            ? ""
            : absl::StrCat("; module ", module.name(), " has the functions of ",
                           module.compilers())));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(importer, " wants ", import.full_name, " to be ",
                   import.convention.Describe(), ", but ", module.name(),
                   " declares it as ", offered));
}

// The last one of the modules with that name.
absl::optional<size_t> FindModule(absl::Span<const Ref<Module>> modules,
                                  absl::string_view name) {
  for (size_t i = modules.size(); i-- > 0;) {
    if (name == modules[i]->name()) return i;
  }
  return absl::nullopt;
}

void CheckDependencies(const Module& module,
                       absl::Span<const Ref<Module>> earlier,
                       std::vector<absl::Status>* problems) {
  for (const Dependency& dependency : module.dependencies()) {
    const absl::optional<size_t> found =
        FindModule(earlier, dependency.module_name);
    if (dependency.optional ||
        (found.has_value() &&
         earlier[*found]->version() >= dependency.minimum_version)) {
      continue;
    }
    problems->push_back(absl::NotFoundError(absl::StrCat(
        module.name(), " needs module ", dependency.module_name, " version ",
        dependency.minimum_version, " or later, ",
        found.has_value()
            ? absl::StrCat("found version ", earlier[*found]->version(),
                           Whose(earlier[*found]->compilers()))
            : "which is not among those before it")));
  }
}

}  // namespace

absl::StatusOr<Ref<Linkage>> Linkage::Get(
    absl::Span<const Ref<Module>> modules) {
  if (modules.empty()) {
    return absl::InvalidArgumentError("a context needs at least one module");
  }
  const Module& last = *modules.back();
  MutexLock lock(&last.linkages_mutex_);
  for (const Ref<Linkage>& linkage : last.linkages_) {
    if (linkage->IsFor(modules)) return linkage;
  }
  auto linkage = Ref<Linkage>::Adopt(new Linkage(modules));
  std::vector<absl::Status> problems;
  for (size_t i = 0; i < modules.size(); ++i) {
    linkage->DescribeExports(modules, i);
    linkage->Bind(modules, i, &problems);
  }
  if (!problems.empty()) {
    return absl::Status(
        problems.front().code(),
        absl::StrJoin(problems, "; ",
                      [](std::string* out, const auto& problem) {
                        absl::StrAppend(out, problem.message());
                      }));
  }
  linkage->repeatable_ = linkage->AreInitializersRepeatable(modules);
  if (last.linkages_.size() == kMaxLinkages) {
    last.linkages_.erase(last.linkages_.begin());
  }
  last.linkages_.push_back(linkage);
  return linkage;
}

Linkage::Linkage(absl::Span<const Ref<Module>> modules)
    : Object(&kType),
      others_(modules.begin(), modules.end() - 1),
      last_(modules.back().get()),
      modules_(modules.size()),
      pool_(BlockPool::Create()) {}

bool Linkage::IsFor(absl::Span<const Ref<Module>> modules) const {
  return last_ == modules.back().get() &&
         std::equal(others_.begin(), others_.end(), modules.begin(),
                    modules.end() - 1);
}

void Linkage::DescribeExports(absl::Span<const Ref<Module>> modules,
                              size_t index) {
  const Module& module = *modules[index];
  LinkedModule& linked = modules_[index];
  const size_t count = module.exports().size();
  linked.names.reserve(count);  // Referred to by address.
  linked.exports.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const ExportInfo& info = module.exports()[i];
    linked.names.push_back(absl::StrCat(module.name(), ".", info.name));
    Export& e = linked.exports[i];
    e.callee.module = Narrow<uint32_t>(index);
    e.callee.name = &linked.names.back();
    e.callee.results = &info.convention.results;
    if (module.kind() == Module::Kind::kNative) {
      const auto& function =
          static_cast<const NativeModule&>(module).functions()[i];
      e.callee.native = function.function;
      e.callee.self = function.self;
    } else {
      const auto& bytecode = static_cast<const BytecodeModule&>(module);
      const uint32_t ordinal = bytecode.archive().exports[i].function;
      e.callee.function = &bytecode.program().functions[ordinal];
    }
    e.entry = MakeEntry(info.convention);
    e.entry.frame.name = linked.names.back();
  }
}

void Linkage::Bind(absl::Span<const Ref<Module>> modules, size_t index,
                   std::vector<absl::Status>* problems) {
  const Module& module = *modules[index];
  if (module.kind() == Module::Kind::kBytecode) {
    const absl::Status status =
        static_cast<const BytecodeModule&>(module).CheckTypes();
    if (!status.ok()) problems->push_back(Annotate(status, module.name()));
  }
  const auto earlier = modules.subspan(0, index);
  CheckDependencies(module, earlier, problems);
  std::vector<Callee>& imports = modules_[index].imports;
  imports.resize(module.imports().size());
  for (size_t i = 0; i < imports.size(); ++i) {
    const absl::Status status =
        BindImport(module, module.imports()[i], earlier, &imports[i]);
    if (!status.ok()) problems->push_back(status);
  }
}

absl::Status Linkage::BindImport(const Module& module, const ImportInfo& import,
                                 absl::Span<const Ref<Module>> earlier,
                                 Callee* callee) const {
  const size_t dot = import.full_name.find('.');
  if (dot == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        module.name(), ": import ", import.full_name, " names no module"));
  }
  const absl::optional<size_t> from =
      FindModule(earlier, import.full_name.substr(0, dot));
  if (!from.has_value()) {
    if (import.optional) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat(module.name(), " needs function ",
                                            import.full_name,
                                            ", whose module is missing"));
  }
  const std::string local_name = import.full_name.substr(dot + 1);
  const Module& exporter = *earlier[*from];
  const absl::optional<size_t> found =
      exporter.FindExport(local_name, import.convention.text);
  if (found.has_value()) {
    *callee = modules_[*from].exports[*found].callee;
    return absl::OkStatus();
  }
  // An optional import may lack its function, but not its convention.
  if (import.optional && !exporter.FindExport(local_name).has_value()) {
    return absl::OkStatus();
  }
  return NoExportFor(import, module.name(), local_name, exporter);
}

// Walks every function that an __init may reach.
bool Linkage::AreInitializersRepeatable(
    absl::Span<const Ref<Module>> modules) const {
  std::vector<const Callee*> pending;
  HashSet<const Function*> seen;
  for (size_t i = 0; i < modules.size(); ++i) {
    const absl::optional<size_t> init = modules[i]->FindExport("__init");
    if (!init.has_value()) continue;
    pending.push_back(&modules_[i].exports[*init].callee);
    // A native module's own __init changes its state, which is not copied.
    if (pending.back()->function == nullptr) return false;
  }
  std::vector<std::pair<const Function*, size_t>> functions;
  const auto visit = [&](const Function* function, size_t module) {
    if (seen.insert(function).second) functions.emplace_back(function, module);
  };
  for (const Callee* init : pending) visit(init->function, init->module);
  while (!functions.empty()) {
    const auto [function, module] = functions.back();
    functions.pop_back();
    for (uint32_t callee : function->callees) {
      if ((callee & kImportBit) == 0) {
        visit(&function->program->functions[callee], module);
        continue;
      }
      const Callee& import = modules_[module].imports[callee & ~kImportBit];
      if (import.function != nullptr) visit(import.function, import.module);
      if (import.native != nullptr &&
          !static_cast<const NativeModule&>(*modules[import.module])
               .initializers_repeatable()) {
        return false;
      }
    }
  }
  return true;
}

std::shared_ptr<const Snapshot> Linkage::snapshot() const {
  MutexLock lock(&mutex_);
  return snapshot_;
}

void Linkage::Publish(std::shared_ptr<const Snapshot> snapshot) {
  MutexLock lock(&mutex_);
  if (snapshot_ == nullptr) snapshot_ = std::move(snapshot);
}

}  // namespace takt::vm
