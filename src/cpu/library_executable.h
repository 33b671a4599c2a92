// A LibraryExecutable is native code of the compiler: an image whose query
// function describes what it exports (library_abi.h).
//
// Thread-safety: immutable once loaded; any number of threads may run it.
#ifndef TAKT_CPU_LIBRARY_EXECUTABLE_H_
#define TAKT_CPU_LIBRARY_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cpu/code_image.h"
#include "cpu/cpu_features.h"
#include "cpu/import_resolver.h"
#include "cpu/kernel_imports.h"
#include "cpu/library_abi.h"
#include "cpu/loaded_executable.h"

namespace takt::cpu {

class LibraryExecutable final : public ExecutableCode {
 public:
  // Loads and queries the library: as an ElfImage, or as a SystemLibrary.
  // `data` and `constants` are only read during the call, `imports` (NULL:
  // there is none) likewise. What it does not resolve may be an import of
  // kernel_imports.h. Errors: as those classes'; UNIMPLEMENTED for
  // another version of the interface, or code built for a sanitizer; DATA_LOSS
  // for tables outside of the image; FAILED_PRECONDITION for a wrong number of
  // constants; NOT_FOUND for an import that does not resolve.
  static absl::StatusOr<std::shared_ptr<ExecutableCode>> Load(
      absl::Span<const uint8_t> data, absl::Span<const uint32_t> constants,
      ImportResolver* imports, const ProcessorData& processor);
  static absl::StatusOr<std::shared_ptr<ExecutableCode>> LoadSystem(
      absl::Span<const uint8_t> data, absl::Span<const uint32_t> constants,
      ImportResolver* imports, const ProcessorData& processor);

  // The same for an image that is loaded, and its answer to the query.
  // Executes nothing of it.
  static absl::StatusOr<std::shared_ptr<ExecutableCode>> Create(
      std::unique_ptr<CodeImage> image, const library_abi::Library* library,
      absl::Span<const uint32_t> constants, ImportResolver* imports,
      const ProcessorData& processor);

  absl::Status RunWorkgroups(size_t function,
                             const DispatchArguments& arguments, uint32_t begin,
                             uint32_t end, exec::Worker& worker) override;

 private:
  LibraryExecutable() = default;

  absl::Status ReadLibrary(const library_abi::Library* address,
                           library_abi::Library* library) const;
  absl::Status ReadFunctions(const library_abi::Library& library);
  // The library's own name; empty if it has none.
  std::string ReadName(const library_abi::Library& library) const;
  absl::Status ResolveImports(const library_abi::Library& library,
                              ImportResolver* imports,
                              const ProcessorData& processor);

  // Checked reads of the memory to which the library's tables point.
  template <typename T>
  absl::StatusOr<T> Read(const T* array, uint64_t index,
                         absl::string_view what) const;
  absl::StatusOr<std::string> ReadString(const char* text,
                                         absl::string_view what) const;
  // Libraries without a table of names get "dispatch_" and the position.
  absl::StatusOr<std::string> ReadFunctionName(
      const library_abi::Library& library, uint32_t function) const;

  std::unique_ptr<CodeImage> image_;
  std::vector<library_abi::DispatchFunction> entries_;
  std::vector<std::string> fault_names_;  // Of the functions, with the library.
  std::vector<uint32_t> constants_;
  std::vector<library_abi::ImportCall> import_functions_;
  std::vector<void*> import_contexts_;
  KernelImportState kernel_imports_;
  library_abi::Environment environment_{};
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_LIBRARY_EXECUTABLE_H_
