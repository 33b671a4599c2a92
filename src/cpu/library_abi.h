// The binary interface of compiled executables, version 6: what the library's
// query function returns, and what its dispatch functions are called with.
// 64-bit layouts; each offset is asserted.
#ifndef TAKT_CPU_LIBRARY_ABI_H_
#define TAKT_CPU_LIBRARY_ABI_H_

#include <cstddef>
#include <cstdint>

namespace takt::cpu::library_abi {

inline constexpr char kQuerySymbol[] = "iree_hal_executable_library_query";
// The compiled query compares for equality.
inline constexpr uint32_t kVersion = 6;

struct Header {
  uint32_t version;
  const char* name;
  uint32_t features;
  uint32_t sanitizer;
};
static_assert(offsetof(Header, version) == 0);
static_assert(offsetof(Header, name) == 8);
static_assert(offsetof(Header, features) == 16);
static_assert(offsetof(Header, sanitizer) == 20);
static_assert(sizeof(Header) == 24);

enum Sanitizer : uint32_t { kNoSanitizer = 0 };

struct Attributes {  // Of one exported function.
  static constexpr uint64_t kSequential = 1 << 0;

  uint64_t flags;
  uint16_t local_memory_pages;  // Of kLocalMemoryPageBytes.
  uint8_t constant_count;
  uint8_t binding_count;
  uint32_t workgroup_size_x;  // 0: not given.
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t parameter_count;
  uint64_t reserved[5];
};
static_assert(offsetof(Attributes, flags) == 0);
static_assert(offsetof(Attributes, local_memory_pages) == 8);
static_assert(offsetof(Attributes, constant_count) == 10);
static_assert(offsetof(Attributes, binding_count) == 11);
static_assert(offsetof(Attributes, workgroup_size_x) == 12);
static_assert(offsetof(Attributes, workgroup_size_y) == 16);
static_assert(offsetof(Attributes, workgroup_size_z) == 20);
static_assert(offsetof(Attributes, parameter_count) == 22);
static_assert(offsetof(Attributes, reserved) == 24);
static_assert(sizeof(Attributes) == 64);

inline constexpr uint32_t kLocalMemoryPageBytes = 4096;
inline constexpr uint32_t kMaxConstantCount = 64;
inline constexpr uint32_t kMaxBindingCount = 64;

struct Environment;
struct DispatchState;
struct WorkgroupState;
// 0 is success. The three lie at multiples of 16: compiled code knows.
using DispatchFunction = int (*)(const Environment*, const DispatchState*,
                                 const WorkgroupState*);
using ImportCall = int (*)(void* parameters, void* context, void* reserved);
using ImportThunk = int (*)(ImportCall function, void* parameters,
                            void* context, void* reserved);

struct Library {
  const Header* header;
  uint32_t import_count;
  const char* const* import_names;  // "?name": may stay unresolved.
  uint32_t export_count;
  const DispatchFunction* functions;
  const Attributes* attributes;
  const void* parameters;  // Not read, as the others of type void*.
  const void* occupancy_hints;
  // NULL: no names, as iree-compile 3.8 to 3.11 write it when they leave out
  // debug symbols.
  const char* const* function_names;
  const void* tags;
  const void* parameter_names;
  const void* source_locations;
  const void* stage_locations;
  uint32_t constant_count;  // u32s that the host supplies at load.
  uint32_t unused;
  uint32_t source_file_count;
  const void* source_files;
};
static_assert(offsetof(Library, header) == 0);
static_assert(offsetof(Library, import_count) == 8);
static_assert(offsetof(Library, import_names) == 16);
static_assert(offsetof(Library, export_count) == 24);
static_assert(offsetof(Library, functions) == 32);
static_assert(offsetof(Library, attributes) == 40);
static_assert(offsetof(Library, parameters) == 48);
static_assert(offsetof(Library, occupancy_hints) == 56);
static_assert(offsetof(Library, function_names) == 64);
static_assert(offsetof(Library, tags) == 72);
static_assert(offsetof(Library, parameter_names) == 80);
static_assert(offsetof(Library, source_locations) == 88);
static_assert(offsetof(Library, stage_locations) == 96);
static_assert(offsetof(Library, constant_count) == 104);
static_assert(offsetof(Library, source_file_count) == 112);
static_assert(offsetof(Library, source_files) == 120);
static_assert(sizeof(Library) == 128);

struct alignas(16) Environment {  // One per executable.
  const uint32_t* constants;
  ImportThunk import_thunk;
  const ImportCall* import_functions;  // NULL: a weak one that is absent.
  void* const* import_contexts;
  uint64_t processor_data[8];
};
static_assert(offsetof(Environment, constants) == 0);
static_assert(offsetof(Environment, import_thunk) == 8);
static_assert(offsetof(Environment, import_functions) == 16);
static_assert(offsetof(Environment, import_contexts) == 24);
static_assert(offsetof(Environment, processor_data) == 32);
static_assert(sizeof(Environment) == 96);

struct alignas(16) DispatchState {  // One per dispatch.
  uint32_t workgroup_size_x;
  uint32_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t constant_count;
  uint32_t workgroup_count_x;
  uint32_t workgroup_count_y;
  uint16_t workgroup_count_z;
  uint8_t max_concurrency;
  uint8_t binding_count;
  const uint32_t* constants;
  void* const* bindings;
  const size_t* binding_lengths;
};
static_assert(offsetof(DispatchState, workgroup_size_x) == 0);
static_assert(offsetof(DispatchState, workgroup_size_y) == 4);
static_assert(offsetof(DispatchState, workgroup_size_z) == 8);
static_assert(offsetof(DispatchState, constant_count) == 10);
static_assert(offsetof(DispatchState, workgroup_count_x) == 12);
static_assert(offsetof(DispatchState, workgroup_count_y) == 16);
static_assert(offsetof(DispatchState, workgroup_count_z) == 20);
static_assert(offsetof(DispatchState, max_concurrency) == 22);
static_assert(offsetof(DispatchState, binding_count) == 23);
static_assert(offsetof(DispatchState, constants) == 24);
static_assert(offsetof(DispatchState, bindings) == 32);
static_assert(offsetof(DispatchState, binding_lengths) == 40);
static_assert(sizeof(DispatchState) == 48);

struct alignas(16) WorkgroupState {  // One per call.
  uint32_t workgroup_id_x;
  uint32_t workgroup_id_y;
  uint16_t workgroup_id_z;
  uint16_t reserved;
  uint32_t processor_id;  // 0: not known.
  void* local_memory;     // 64-aligned.
  uint32_t local_memory_bytes;
};
static_assert(offsetof(WorkgroupState, workgroup_id_x) == 0);
static_assert(offsetof(WorkgroupState, workgroup_id_y) == 4);
static_assert(offsetof(WorkgroupState, workgroup_id_z) == 8);
static_assert(offsetof(WorkgroupState, reserved) == 10);
static_assert(offsetof(WorkgroupState, processor_id) == 12);
static_assert(offsetof(WorkgroupState, local_memory) == 16);
static_assert(offsetof(WorkgroupState, local_memory_bytes) == 24);
static_assert(sizeof(WorkgroupState) == 32);

// `max_version` is kVersion; NULL if the library is of another one.
using QueryFunction = const Library* (*)(uint32_t max_version,
                                         const Environment*);

}  // namespace takt::cpu::library_abi

#endif  // TAKT_CPU_LIBRARY_ABI_H_
