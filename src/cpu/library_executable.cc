#include "cpu/library_executable.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/fault_report.h"
#include "base/narrow.h"
#include "base/status.h"
#include "cpu/elf_image.h"
#include "cpu/system_library.h"

namespace takt::cpu {
namespace {

// The tables are in the image, whose size bounds the counts. These limits bound
// the work of reading tables with a damaged count.
constexpr uint32_t kMaxFunctionCount = 1 << 16;
constexpr uint32_t kMaxImportCount = 1 << 12;

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("executable library: ", what));
}

int CallImport(library_abi::ImportCall function, void* parameters,
               void* context, void* reserved) {
  return function(parameters, context, reserved);
}

// Calls the image's query function.
absl::StatusOr<const library_abi::Library*> Query(const CodeImage& image) {
  TAKT_ASSIGN_OR_RETURN(const void* symbol,
                        image.FindFunction(library_abi::kQuerySymbol));
  library_abi::QueryFunction query = nullptr;
  std::memcpy(&query, &symbol, sizeof(query));
  // The answer is static: it does not depend on the environment.
  library_abi::Environment environment{};
  const library_abi::Library* const library =
      query(library_abi::kVersion, &environment);
  if (library == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "executable library: not of version ", library_abi::kVersion,
        " of the interface, the only one that is supported"));
  }
  return library;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ExecutableCode>> LibraryExecutable::Load(
    absl::Span<const uint8_t> data, absl::Span<const uint32_t> constants,
    ImportResolver* imports, const ProcessorData& processor) {
  TAKT_ASSIGN_OR_RETURN(auto image, ElfImage::Load(data));
  TAKT_ASSIGN_OR_RETURN(const auto* library, Query(*image));
  return Create(std::move(image), library, constants, imports, processor);
}

absl::StatusOr<std::shared_ptr<ExecutableCode>> LibraryExecutable::LoadSystem(
    absl::Span<const uint8_t> data, absl::Span<const uint32_t> constants,
    ImportResolver* imports, const ProcessorData& processor) {
  TAKT_ASSIGN_OR_RETURN(auto image, SystemLibrary::Load(data));
  TAKT_ASSIGN_OR_RETURN(const auto* library, Query(*image));
  return Create(std::move(image), library, constants, imports, processor);
}

absl::StatusOr<std::shared_ptr<ExecutableCode>> LibraryExecutable::Create(
    std::unique_ptr<CodeImage> image, const library_abi::Library* library,
    absl::Span<const uint32_t> constants, ImportResolver* imports,
    const ProcessorData& processor) {
  std::shared_ptr<LibraryExecutable> code(new LibraryExecutable);
  code->image_ = std::move(image);
  library_abi::Library tables;
  TAKT_RETURN_IF_ERROR(code->ReadLibrary(library, &tables));
  if (constants.size() != tables.constant_count) {
    return absl::FailedPreconditionError(
        absl::StrCat("executable library: expected ", tables.constant_count,
                     " constants, got ", constants.size()));
  }
  TAKT_RETURN_IF_ERROR(code->ReadFunctions(tables));
  TAKT_RETURN_IF_ERROR(code->ResolveImports(tables, imports, processor));
  code->constants_.assign(constants.begin(), constants.end());
  library_abi::Environment& environment = code->environment_;
  environment.constants =
      code->constants_.empty() ? nullptr : code->constants_.data();
  environment.import_thunk = &CallImport;
  environment.import_functions = code->import_functions_.data();
  environment.import_contexts = code->import_contexts_.data();
  static_assert(sizeof(processor.words) == sizeof(environment.processor_data));
  std::memcpy(environment.processor_data, processor.words.data(),
              sizeof(environment.processor_data));
  return code;
}

template <typename T>
absl::StatusOr<T> LibraryExecutable::Read(const T* array, uint64_t index,
                                          absl::string_view what) const {
  const absl::Span<const uint8_t> bytes = image_->ReadableFrom(array);
  if (index >= bytes.size() / sizeof(T)) {
    return Damaged(absl::StrCat(what, " outside of the image"));
  }
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

absl::StatusOr<std::string> LibraryExecutable::ReadString(
    const char* text, absl::string_view what) const {
  const absl::Span<const uint8_t> bytes = image_->ReadableFrom(text);
  // A pointer outside of the image, such as NULL, gives no bytes and is not
  // read.
  const size_t length = bytes.empty() ? 0 : strnlen(text, bytes.size());
  if (length == bytes.size()) {
    return Damaged(absl::StrCat(what, " outside of the image, or without end"));
  }
  return std::string(text, length);
}

absl::Status LibraryExecutable::ReadLibrary(
    const library_abi::Library* address, library_abi::Library* library) const {
  TAKT_ASSIGN_OR_RETURN(*library, Read(address, 0, "description"));
  TAKT_ASSIGN_OR_RETURN(const library_abi::Header header,
                        Read(library->header, 0, "header"));
  if (header.version != library_abi::kVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "executable library: version ", header.version,
        " of the interface; only ", library_abi::kVersion, " is supported"));
  }
  if (header.sanitizer != library_abi::kNoSanitizer) {
    return absl::UnimplementedError(
        absl::StrCat("executable library: built for sanitizer ",
                     header.sanitizer, ", which this program does not run"));
  }
  if (library->export_count > kMaxFunctionCount ||
      library->import_count > kMaxImportCount) {
    return Damaged(absl::StrCat(library->export_count, " exports and ",
                                library->import_count, " imports"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LibraryExecutable::ReadFunctionName(
    const library_abi::Library& library, uint32_t function) const {
  if (library.function_names == nullptr) {
    return absl::StrCat("dispatch_", function);
  }
  TAKT_ASSIGN_OR_RETURN(
      const char* const name,
      Read(library.function_names, function, "function names"));
  return ReadString(name, "function name");
}

std::string LibraryExecutable::ReadName(
    const library_abi::Library& library) const {
  const auto header = Read(library.header, 0, "header");
  if (!header.ok()) return "";
  return ReadString(header->name, "library name").value_or("");
}

absl::Status LibraryExecutable::ReadFunctions(
    const library_abi::Library& library) {
  const std::string library_name = ReadName(library);
  std::vector<Function> functions;
  for (uint32_t i = 0; i < library.export_count; ++i) {
    TAKT_ASSIGN_OR_RETURN(const auto entry,
                          Read(library.functions, i, "function table"));
    TAKT_ASSIGN_OR_RETURN(const auto attributes,
                          Read(library.attributes, i, "attributes"));
    Function function;
    TAKT_ASSIGN_OR_RETURN(function.name, ReadFunctionName(library, i));
    const void* address = nullptr;
    std::memcpy(&address, &entry, sizeof(address));
    if (!image_->IsCode(address)) {
      return Damaged(absl::StrCat("function ", function.name, " is no code"));
    }
    if (attributes.constant_count > library_abi::kMaxConstantCount ||
        attributes.binding_count > library_abi::kMaxBindingCount) {
      return Damaged(absl::StrCat("function ", function.name, " with ",
                                  attributes.constant_count, " constants and ",
                                  attributes.binding_count, " bindings"));
    }
    function.constant_count = attributes.constant_count;
    function.binding_count = attributes.binding_count;
    function.local_memory_bytes =
        attributes.local_memory_pages * library_abi::kLocalMemoryPageBytes;
    function.is_sequential =
        (attributes.flags & library_abi::Attributes::kSequential) != 0;
    function.workgroup_size = {attributes.workgroup_size_x,
                               attributes.workgroup_size_y,
                               attributes.workgroup_size_z};
    for (uint32_t& size : function.workgroup_size) {
      if (size == 0) size = 1;
    }
    entries_.push_back(entry);
    fault_names_.push_back(absl::StrCat(
        function.name, library_name.empty() ? "" : " of executable ",
        library_name));
    functions.push_back(std::move(function));
  }
  SetFunctions(std::move(functions));
  return absl::OkStatus();
}

absl::Status LibraryExecutable::ResolveImports(
    const library_abi::Library& library, ImportResolver* imports,
    const ProcessorData& processor) {
  const kernels::KernelTable kernels =
      kernels::SelectKernels(UsableInstructionSets(processor));
  for (uint32_t i = 0; i < library.import_count; ++i) {
    TAKT_ASSIGN_OR_RETURN(const char* const text,
                          Read(library.import_names, i, "import names"));
    TAKT_ASSIGN_OR_RETURN(const std::string full_name,
                          ReadString(text, "import name"));
    absl::string_view name = full_name;
    const bool is_weak = !name.empty() && name.front() == '?';
    if (is_weak) name.remove_prefix(1);
    absl::optional<ImportFunction> import;
    if (imports != nullptr) import = imports->Resolve(name);
    if (!import.has_value()) {
      import = FindKernelImport(name, kernels, &kernel_imports_);
    }
    if (!import.has_value() && !is_weak) {
      return MissingImportError(name);
    }
    const ImportFunction resolved = import.value_or(ImportFunction{});
    import_functions_.push_back(resolved.function);
    import_contexts_.push_back(resolved.context);
  }
  return absl::OkStatus();
}

namespace {

library_abi::DispatchState DispatchStateOf(const ExecutableCode::Function& info,
                                           const DispatchArguments& arguments) {
  const std::array<uint32_t, 3>& count = arguments.workgroup_count;
  library_abi::DispatchState dispatch;
  dispatch.workgroup_size_x = info.workgroup_size[0];
  dispatch.workgroup_size_y = info.workgroup_size[1];
  dispatch.workgroup_size_z = Narrow<uint16_t>(info.workgroup_size[2]);
  dispatch.constant_count = Narrow<uint16_t>(info.constant_count);
  dispatch.workgroup_count_x = count[0];
  dispatch.workgroup_count_y = count[1];
  dispatch.workgroup_count_z = Narrow<uint16_t>(count[2]);
  dispatch.max_concurrency = Narrow<uint8_t>(
      arguments.max_concurrency < 255 ? arguments.max_concurrency : 255);
  dispatch.binding_count = Narrow<uint8_t>(info.binding_count);
  dispatch.constants = arguments.constants;
  dispatch.bindings = arguments.bindings;
  dispatch.binding_lengths = arguments.binding_lengths;
  return dispatch;
}

// The coordinates of a workgroup, stepped in the order of linear indices.
class WorkgroupId {
 public:
  WorkgroupId(uint32_t index, const std::array<uint32_t, 3>& count)
      : count_(count) {
    if (index == 0) return;
    x_ = index % count[0];
    y_ = index / count[0] % count[1];
    z_ = index / count[0] / count[1];
  }
  void StoreTo(library_abi::WorkgroupState* workgroup) const {
    workgroup->workgroup_id_x = x_;
    workgroup->workgroup_id_y = y_;
    workgroup->workgroup_id_z = Narrow<uint16_t>(z_);
  }
  void Step() {
    if (++x_ < count_[0]) return;
    x_ = 0;
    if (++y_ < count_[1]) return;
    y_ = 0;
    ++z_;
  }
  std::string ToString() const { return absl::StrCat(x_, ",", y_, ",", z_); }

 private:
  const std::array<uint32_t, 3>& count_;
  uint32_t x_ = 0;
  uint32_t y_ = 0;
  uint32_t z_ = 0;
};

}  // namespace

absl::Status LibraryExecutable::RunWorkgroups(
    size_t function, const DispatchArguments& arguments, uint32_t begin,
    uint32_t end, exec::Worker& worker) {
  const Function& info = functions()[function];
  TAKT_DCHECK(arguments.constant_count == info.constant_count);
  TAKT_DCHECK(arguments.binding_count == info.binding_count);
  TAKT_DCHECK(worker.local_bytes >= info.local_memory_bytes);

  const library_abi::DispatchState dispatch = DispatchStateOf(info, arguments);
  library_abi::WorkgroupState workgroup{};
  workgroup.local_memory = worker.local_memory;
  workgroup.local_memory_bytes = Narrow<uint32_t>(worker.local_bytes);
  WorkgroupId id(begin, arguments.workgroup_count);
  const library_abi::DispatchFunction entry = entries_[function];
  const ScopedKernelName here(fault_names_[function].c_str());
  for (uint32_t i = begin; i < end; ++i) {
    id.StoreTo(&workgroup);
    const int result = entry(&environment_, &dispatch, &workgroup);
    if (__builtin_expect(result != 0, 0)) {
      const absl::string_view why =
          result == kImportOutOfMemory ? ", no memory for a kernel" : "";
      return absl::Status(why.empty() ? absl::StatusCode::kInternal
                                      : absl::StatusCode::kResourceExhausted,
                          absl::StrCat(info.name, ": workgroup ", id.ToString(),
                                       " returned ", result, why));
    }
    id.Step();
    if (__builtin_expect(worker.MustStop(), 0) && i + 1 < end) {
      *worker.reached = i + 1;
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace takt::cpu
