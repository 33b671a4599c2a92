#include "api/plan.h"

#include <string>
#include <utility>

#include "abi/guard.h"
#include "api/handle.h"
#include "base/mapped_file.h"
#include "plan/plan_file.h"
#include "takt/plan.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<PlanFile>> Load(const char* name,
                                   absl::Span<const uint8_t> bytes) {
  absl::StatusOr<plan::Plan> plan = plan::DecodePlan(bytes);
  if (!plan.ok()) return Annotate(plan.status(), name);
  return MakeRef<PlanFile>(*std::move(plan));
}

absl::StatusOr<Ref<PlanFile>> LoadFile(const char* path) {
  TAKT_ASSIGN_OR_RETURN(const Ref<MappedFile> file,
                        MappedFile::Open(path, MappedFile::Mode::kPreload));
  return Load(path, file->bytes());
}

absl::StatusOr<Ref<PlanFile>> LoadBytes(const char* name, const void* data,
                                        size_t byte_length) {
  // FlatBuffers reads aligned numbers; the caller's bytes may lie anywhere.
  const std::string copy(static_cast<const char*>(data), byte_length);
  return Load(name != nullptr ? name : "plan",
              {reinterpret_cast<const uint8_t*>(copy.data()), copy.size()});
}

}  // namespace
}  // namespace takt::api

using takt::api::Give;
using takt::api::Unwrap;

takt_status_t takt_plan_load_file(const char* path, takt_plan_t** out_plan) {
  TAKT_REQUIRE(path, out_plan);
  TAKT_TRY { return Give(__func__, takt::api::LoadFile(path), out_plan); }
  TAKT_CATCH_ALL(path, out_plan);
}

takt_status_t takt_plan_load(const char* name, const void* data,
                             size_t byte_length, takt_plan_t** out_plan) {
  TAKT_REQUIRE(Items(byte_length, data), out_plan);
  TAKT_TRY {
    return Give(__func__, takt::api::LoadBytes(name, data, byte_length),
                out_plan);
  }
  TAKT_CATCH_ALL(Items(byte_length, data), out_plan);
}

takt_status_t takt_plan_encode(const takt_plan_t* plan, char** out_data,
                               size_t* out_byte_length) {
  TAKT_REQUIRE(plan, out_data, out_byte_length);
  TAKT_TRY {
    *out_byte_length = 0;
    const std::string bytes = takt::plan::EncodePlan(Unwrap(plan)->plan());
    takt_status_t status = takt::api::GiveText(__func__, bytes, out_data);
    if (status == nullptr) *out_byte_length = bytes.size();
    return status;
  }
  TAKT_CATCH_ALL(plan, out_data, out_byte_length);
}

void takt_plan_retain(takt_plan_t* plan) { takt::api::RetainHandle(plan); }

void takt_plan_release(takt_plan_t* plan) { takt::api::ReleaseHandle(plan); }
