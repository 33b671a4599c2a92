#include "takt/file.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "api/release_guard.h"
#include "base/mapped_file.h"
#include "hal/device.h"

namespace takt::api {
namespace {

absl::Status CheckAccess(uint32_t access) {
  if (access != 0 && (access & ~TAKT_ACCESS_ALL) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("access ", access, " is no set of TAKT_ACCESS_* bits"));
}

absl::StatusOr<Ref<hal::File>> Open(const char* path,
                                    const takt_file_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(takt_file_options_t given,
                        ReadOptions(options, &takt_file_options_init));
  absl::Status status = CheckAccess(given.access);
  const bool is_written = (given.access & TAKT_ACCESS_WRITE) != 0;
  if (status.ok() && given.create_byte_length != 0 && !is_written) {
    status = absl::InvalidArgumentError(
        "create_byte_length without TAKT_ACCESS_WRITE");
  }
  if (!status.ok()) return Annotate(status, path);
  absl::StatusOr<Ref<MappedFile>> opened =
      given.create_byte_length != 0
          ? MappedFile::Create(path, given.create_byte_length)
          : MappedFile::Open(path, is_written ? MappedFile::Mode::kWrite
                                              : MappedFile::Mode::kMap);
  TAKT_ASSIGN_OR_RETURN(Ref<MappedFile> file, std::move(opened));
  // access() prevents writing to a file that is mapped for reading.
  const absl::Span<uint8_t> bytes = file->writable_bytes();
  return hal::File::Wrap(std::move(file), bytes.data(), bytes.size(),
                         static_cast<hal::MemoryAccess>(given.access));
}

absl::StatusOr<Ref<hal::File>> WrapMemory(void* data, uint64_t byte_length,
                                          uint32_t access,
                                          takt_buffer_release_t release,
                                          void* user_data) {
  TAKT_RETURN_IF_ERROR(CheckAccess(access));
  auto guard = MakeRef<ReleaseGuard>();
  Ref<hal::File> file =
      hal::File::Wrap(guard, static_cast<uint8_t*>(data), byte_length,
                      static_cast<hal::MemoryAccess>(access));
  guard->Arm(release, user_data);
  return file;
}

}  // namespace
}  // namespace takt::api

takt_status_t takt_file_open(const char* path,
                             const takt_file_options_t* options,
                             takt_file_t** out_file) {
  TAKT_REQUIRE(path, out_file);
  TAKT_TRY {
    return takt::api::Give(__func__, takt::api::Open(path, options), out_file);
  }
  TAKT_CATCH_ALL(path, out_file);
}

takt_status_t takt_file_wrap(void* data, uint64_t byte_length, uint32_t access,
                             takt_buffer_release_t release, void* user_data,
                             takt_file_t** out_file) {
  TAKT_REQUIRE(Items(byte_length, data), out_file);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::WrapMemory(data, byte_length, access, release, user_data),
        out_file);
  }
  TAKT_CATCH_ALL(Items(byte_length, data), out_file);
}

void takt_file_retain(takt_file_t* file) { takt::api::RetainHandle(file); }

void takt_file_release(takt_file_t* file) { takt::api::ReleaseHandle(file); }

uint64_t takt_file_byte_length(const takt_file_t* file) {
  TAKT_REQUIRE_OR(0, file);
  return takt::api::Unwrap(file)->byte_length();
}
