// A BytecodeArchive holds the parts of a `.vmfb`, structurally checked:
// container, FlatBuffer and rodata of docs/module_format.md (archive or bare
// form). It knows no type registry and runs nothing.
//
// The file is hostile until checked. An archive that Parse() accepts satisfies
// the module-level rules 1-8 of docs/module_format.md.
#ifndef TAKT_VM_BYTECODE_ARCHIVE_H_
#define TAKT_VM_BYTECODE_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vm/bytecode_version.h"
#include "vm/module.h"

namespace takt::vm {

inline constexpr uint32_t kFeatureF32 = 1;
inline constexpr uint32_t kFeatureF64 = 2;
inline constexpr uint32_t kFeatureYield = 4;
inline constexpr uint32_t kFeatureUnwind = 8;

struct ArchiveFunction {
  absl::Span<const uint8_t> body;  // Without padding.
  uint32_t requirements = 0;
  uint16_t block_count = 0;
  // At least the registers of the arguments.
  uint16_t value_register_count = 0;
  uint16_t ref_register_count = 0;
  CallingConvention convention;
  std::vector<Attribute> attributes;
};

struct ArchiveExport {
  std::string local_name;
  uint32_t function = 0;  // Index into functions.
};

struct ArchiveSourceLocation {
  uint32_t pc = 0;
  std::string text;  // "file.mlir:3:5".
};

// The source locations of one function. iree-compile 3.13 writes a single map,
// under one function's name, for the whole module.
struct ArchiveSourceMap {
  std::string local_name;
  std::vector<ArchiveSourceLocation> locations;  // Ascending pc.
};

struct BytecodeArchive {
  // `bytes` must outlive the result and start at a multiple of 64 (an archive
  // inside another one: of 16; embedded parts are then copied as needed).
  // Errors name offsets; the caller adds the file's name. INVALID_ARGUMENT for
  // a damaged file, or for another version, with those that are supported;
  // UNIMPLEMENTED for a feature of the format that Takt lacks.
  static absl::StatusOr<BytecodeArchive> Parse(absl::Span<const uint8_t> bytes);

  // Reads the debug database, which Parse() only checks. Empty if the module
  // was stripped.
  std::vector<ArchiveSourceMap> ReadSourceMaps() const;

  std::string name;
  uint32_t version = 0;
  const BytecodeVersion* bytecode_version = &NewestBytecode();
  uint32_t requirements = 0;
  std::vector<Attribute> attributes;
  std::vector<std::string> type_names;
  std::vector<Dependency> dependencies;
  std::vector<ImportInfo> imports;
  std::vector<ArchiveExport> exports;
  std::vector<ArchiveFunction> functions;
  std::vector<absl::Span<const uint8_t>> rodata;
  uint32_t global_bytes = 0;
  uint32_t global_ref_count = 0;

  // The FlatBuffer with its size prefix: part of `bytes`, or of aligned_copy
  // where `bytes` was not aligned to 8.
  absl::Span<const uint8_t> flatbuffer;
  std::unique_ptr<uint64_t[]> aligned_copy;
};

}  // namespace takt::vm

#endif  // TAKT_VM_BYTECODE_ARCHIVE_H_
