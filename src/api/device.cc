#include "api/device.h"

#include "absl/strings/str_join.h"
#include "api/handle.h"
#include "cpu/device.h"
#include "takt/device.h"

namespace takt::api {
namespace {

constexpr absl::string_view kLocalTask = "local-task";
constexpr const char* kDeviceNames[] = {"local-sync", "local-task"};

absl::StatusOr<Ref<hal::Device>> Create(Instance* instance, const char* name) {
  TAKT_RETURN_IF_ERROR(Require(instance, "instance"));
  TAKT_RETURN_IF_ERROR(Require(name, "name"));
  return CreateDevice(instance, name);
}

}  // namespace

absl::StatusOr<Ref<hal::Device>> CreateDevice(Instance* instance,
                                              absl::string_view name) {
  if (std::find(std::begin(kDeviceNames), std::end(kDeviceNames), name) ==
      std::end(kDeviceNames)) {
    return absl::NotFoundError(absl::StrCat("no device \"", name,
                                            "\"; there are ",
                                            absl::StrJoin(kDeviceNames, ", ")));
  }
  Ref<exec::Executor> executor;
  if (name == kLocalTask) {
    TAKT_ASSIGN_OR_RETURN(executor, instance->GetExecutor());
  }
  cpu::Device::Options options;
  const takt_allocator_t& allocator = instance->allocator();
  if (allocator.allocate != nullptr) {
    options.memory = {allocator.allocate, allocator.free, allocator.user_data};
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<cpu::Device> device,
      cpu::Device::Create(name, std::move(executor), options));
  return Ref<hal::Device>(std::move(device));
}

bool RunsOnWorkers(const hal::Device& device) {
  return device.id() == kLocalTask;
}

}  // namespace takt::api

using takt::api::Unwrap;

size_t takt_device_names(const char* const** out_names) {
  *out_names = takt::api::kDeviceNames;
  return std::size(takt::api::kDeviceNames);
}

takt_status_t takt_device_create(takt_instance_t* instance, const char* name,
                                 takt_device_t** out_device) {
  return takt::api::Give(__func__, takt::api::Create(Unwrap(instance), name),
                         out_device);
}

void takt_device_retain(takt_device_t* device) {
  takt::api::RetainHandle(device);
}

void takt_device_release(takt_device_t* device) {
  takt::api::ReleaseHandle(device);
}

const char* takt_device_name(const takt_device_t* device) {
  return Unwrap(device)->id().c_str();
}

bool takt_device_query_i64(const takt_device_t* device, const char* category,
                           const char* key, int64_t* out_value) {
  const absl::optional<int64_t> value = Unwrap(device)->QueryI64(category, key);
  *out_value = value.value_or(0);
  return value.has_value();
}

void takt_device_trim(takt_device_t* device) { Unwrap(device)->Trim(); }
