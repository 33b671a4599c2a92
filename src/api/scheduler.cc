#include "api/scheduler.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "abi/guard.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/handle.h"
#include "api/quantiles.h"
#include "api/scheduler_windows.h"
#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "runtime/instance.h"
#include "sched/policy.h"
#include "shop/job_shop.h"
#include "stream/stream.h"
#include "takt/scheduler.h"

namespace takt::api {
namespace {

// The policy that options without a name ask for.
constexpr char kDefaultPolicy[] = "job-shop";

absl::StatusOr<Ref<shop::JobShop>> ShopOf(takt_instance_t* instance) {
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, Unwrap(instance)->GetShop());
  if (shop == nullptr) {
    return absl::FailedPreconditionError(
        "the instance has no scheduler: its policy is \"off\"");
  }
  return shop;
}

template <size_t kSize>
void CopyText(const std::string& text, char (&target)[kSize]) {
  const size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(target, text.data(), length);
  target[length] = 0;
}

absl::Status QueryResources(takt_instance_t* instance, size_t capacity,
                            takt_resource_t* out, size_t* out_count) {
  *out_count = 0;
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  const std::vector<shop::ResourceState> states = shop->resources();
  for (size_t i = 0; i < std::min(capacity, states.size()); ++i) {
    out[i] = {};
    CopyText(states[i].pool, out[i].pool);
    out[i].is_npu = states[i].kind == sched::ResourceKind::kNpu;
    out[i].is_available = states[i].is_available;
    out[i].speed_permille = states[i].speed_permille;
  }
  *out_count = states.size();
  return absl::OkStatus();
}

absl::Status SetAvailable(takt_instance_t* instance, uint32_t resource,
                          bool is_available) {
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  return shop->SetAvailable(resource, is_available);
}

absl::Status SetSpeed(takt_instance_t* instance, const char* pool,
                      uint32_t permille) {
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  TAKT_ASSIGN_OR_RETURN(const uint32_t index, shop->FindPool(pool));
  return shop->SetSpeed(index, permille);
}

absl::Status SetHot(takt_instance_t* instance, bool is_hot) {
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  shop->SetHot(shop::JobShop::HeatSource::kApplication, is_hot);
  return absl::OkStatus();
}

absl::Status QueryMode(takt_instance_t* instance, takt_scheduler_mode_t* out) {
  *out = TAKT_SCHEDULER_MODE_NOMINAL;
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  *out = static_cast<takt_scheduler_mode_t>(shop->mode());
  return absl::OkStatus();
}

absl::Status Admit(takt_stream_t* stream, bool promise, takt_admission_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_admission"));
  TAKT_ASSIGN_OR_RETURN(const sched::AdmissionReport report,
                        Unwrap(stream)->Admit(promise));
  takt_admission_t result = {};
  result.verdict = static_cast<takt_admission_verdict_t>(report.verdict);
  CopyText(report.reason, result.reason);
  result.deadline_ns = report.deadline_ns;
  result.response_least_ns = report.response_least_ns;
  result.response_bound_ns = report.response_bound_ns;
  result.load_before_ppm = report.load_before_ppm;
  result.load_after_ppm = report.load_after_ppm;
  WriteSized(result, out);
  return absl::OkStatus();
}

absl::Status QueryWindowsOf(takt_instance_t* instance,
                            takt_window_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  return QueryWindows(*Unwrap(instance), *shop, out);
}

absl::Status QueryDurations(takt_instance_t* instance,
                            takt_duration_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  const sched::PredictionErrors read = shop->statistics().predictions;
  takt_duration_statistics_t result = {};
  result.run_count = read.run_count;
  result.ran_ns = read.ran_ns;
  result.error_ns = read.error_ns;
  result.plain_error_ns = read.plain_error_ns;
  WriteSized(result, out);
  return absl::OkStatus();
}

absl::Status QueryClass(takt_instance_t* instance,
                        takt_criticality_t criticality,
                        takt_class_statistics_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_statistics"));
  if (static_cast<uint32_t>(criticality) >= shop::kCriticalityCount) {
    return absl::InvalidArgumentError(
        absl::StrCat("criticality: ", criticality));
  }
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  const shop::ClassStatistics statistics =
      shop->statistics().classes[criticality];
  takt_class_statistics_t result = {};
  result.released_count = statistics.released_count;
  result.met_count = statistics.met_count;
  result.missed_count = statistics.missed_count;
  result.dropped_count = statistics.dropped_count;
  result.failed_count = statistics.failed_count;
  result.response = ToQuantiles(statistics.response.quantiles());
  result.release_error = ToQuantiles(statistics.release_error.quantiles());
  WriteSized(result, out);
  return absl::OkStatus();
}

absl::Status SetCallbacks(takt_instance_t* instance,
                          void (*on_miss)(void*, const takt_miss_t*),
                          void (*on_mode)(void*, takt_scheduler_mode_t),
                          void* user_data) {
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  std::function<void(const shop::JobEnd&)> miss;
  if (on_miss != nullptr) {
    miss = [on_miss, user_data](const shop::JobEnd& end) {
      const shop::StreamRequirements& requirements = end.stream->requirements();
      const takt_miss_t missed = {
          requirements.name.c_str(),
          static_cast<takt_criticality_t>(requirements.criticality),
          static_cast<takt_stream_outcome_t>(end.outcome),
          end.release_ns,
          end.deadline_ns,
          end.response_ns};
      on_miss(user_data, &missed);
    };
  }
  std::function<void(sched::Mode)> mode;
  if (on_mode != nullptr) {
    mode = [on_mode, user_data](sched::Mode entered) {
      on_mode(user_data, static_cast<takt_scheduler_mode_t>(entered));
    };
  }
  shop->SetCallbacks(std::move(miss), std::move(mode));
  return absl::OkStatus();
}

absl::Status SaveProfile(takt_instance_t* instance, const char* path) {
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  return WriteFileAtomically(path, shop->WriteProfile());
}

absl::Status LoadProfile(takt_instance_t* instance, const char* path,
                         size_t* out_record_count) {
  if (out_record_count != nullptr) *out_record_count = 0;
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, ShopOf(instance));
  TAKT_ASSIGN_OR_RETURN(auto file,
                        MappedFile::Open(path, MappedFile::Mode::kPreload));
  const absl::string_view bytes(
      reinterpret_cast<const char*>(file->bytes().data()),
      file->bytes().size());
  const auto report = shop->ReadProfile(bytes);
  if (!report.ok()) return Annotate(report.status(), path);
  if (out_record_count != nullptr) {
    *out_record_count = report->applied_count + report->unknown_count;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<absl::optional<sched::SchedulerOptions>> ReadScheduler(
    const takt_scheduler_options_t& given) {
  const absl::string_view name =
      given.policy != nullptr ? given.policy : kDefaultPolicy;
  if (name == runtime::kNoPolicy) return absl::nullopt;
  sched::SchedulerOptions result;
  result.policy = sched::FindPolicy(name);
  if (result.policy == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: scheduler: policy: there is no ", name, "; there are ",
        runtime::kNoPolicy, ", ", absl::StrJoin(sched::PolicyNames(), ", ")));
  }
  if (given.aging_ns < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: scheduler: aging_ns: expected 0 or more, got ",
                     given.aging_ns));
  }
  if (given.window_ns < 0 || given.window_budget_ns < 0 ||
      given.window_budget_ns > given.window_ns / 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: scheduler: a window of ", given.window_ns,
                     " ns with a budget of ", given.window_budget_ns,
                     "; expected 0 or more, and at most half of it"));
  }
  if (given.window_ns > 0 && name != kDefaultPolicy) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: scheduler: windows need the policy ",
                     kDefaultPolicy, ", not ", name));
  }
  result.aging_ns = given.aging_ns;
  result.set_fewest_clusters(given.fewest_clusters);
  return result;
}

}  // namespace takt::api

using takt::api::ToStatus;

size_t takt_scheduler_policy_names(const char* const** out_names) {
  TAKT_REQUIRE_OR(0, out_names);
  TAKT_TRY {
    constexpr size_t kCount = std::size(takt::sched::kPolicyNames) + 1;
    static constexpr auto names = [] {
      std::array<const char*, kCount> all{"off"};
      std::copy(std::begin(takt::sched::kPolicyNames),
                std::end(takt::sched::kPolicyNames), all.begin() + 1);
      return all;
    }();
    *out_names = names.data();
    return names.size();
  }
  TAKT_CATCH_ALL_OR(0, out_names);
}

const char* takt_scheduler_policy(const takt_instance_t* instance) {
  TAKT_REQUIRE_OR("", instance);
  return takt::api::Unwrap(instance)->policy_name();
}

takt_status_t takt_scheduler_query_resources(takt_instance_t* instance,
                                             size_t capacity,
                                             takt_resource_t* out_resources,
                                             size_t* out_count) {
  TAKT_REQUIRE(instance, Items(capacity, out_resources), out_count);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::QueryResources(instance, capacity, out_resources,
                                              out_count));
  }
  TAKT_CATCH_ALL(instance, Items(capacity, out_resources), out_count);
}

takt_status_t takt_scheduler_set_available(takt_instance_t* instance,
                                           uint32_t resource,
                                           bool is_available) {
  TAKT_REQUIRE(instance);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::SetAvailable(instance, resource, is_available));
  }
  TAKT_CATCH_ALL(instance);
}

takt_status_t takt_scheduler_set_speed(takt_instance_t* instance,
                                       const char* pool, uint32_t permille) {
  TAKT_REQUIRE(instance, pool);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::SetSpeed(instance, pool, permille));
  }
  TAKT_CATCH_ALL(instance, pool);
}

takt_status_t takt_scheduler_set_hot(takt_instance_t* instance, bool is_hot) {
  TAKT_REQUIRE(instance);
  TAKT_TRY { return ToStatus(__func__, takt::api::SetHot(instance, is_hot)); }
  TAKT_CATCH_ALL(instance);
}

takt_status_t takt_scheduler_query_mode(takt_instance_t* instance,
                                        takt_scheduler_mode_t* out_mode) {
  TAKT_REQUIRE(instance, out_mode);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::QueryMode(instance, out_mode));
  }
  TAKT_CATCH_ALL(instance, out_mode);
}

takt_status_t takt_stream_admit(takt_stream_t* stream, bool promise,
                                takt_admission_t* out_admission) {
  TAKT_REQUIRE(stream, out_admission);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::Admit(stream, promise, out_admission));
  }
  TAKT_CATCH_ALL(stream, out_admission);
}

takt_status_t takt_scheduler_query_class(
    takt_instance_t* instance, takt_criticality_t criticality,
    takt_class_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY {
    return ToStatus(
        __func__, takt::api::QueryClass(instance, criticality, out_statistics));
  }
  TAKT_CATCH_ALL(instance, out_statistics);
}

takt_status_t takt_scheduler_query_durations(
    takt_instance_t* instance, takt_duration_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::QueryDurations(instance, out_statistics));
  }
  TAKT_CATCH_ALL(instance, out_statistics);
}

takt_status_t takt_scheduler_query_windows(
    takt_instance_t* instance, takt_window_statistics_t* out_statistics) {
  TAKT_REQUIRE(instance, out_statistics);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::QueryWindowsOf(instance, out_statistics));
  }
  TAKT_CATCH_ALL(instance, out_statistics);
}

takt_status_t takt_scheduler_set_callbacks(
    takt_instance_t* instance,
    void (*on_miss)(void* user_data, const takt_miss_t* miss),
    void (*on_mode)(void* user_data, takt_scheduler_mode_t mode),
    void* user_data) {
  TAKT_REQUIRE(instance);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::SetCallbacks(instance, on_miss,
                                                      on_mode, user_data));
  }
  TAKT_CATCH_ALL(instance);
}

takt_status_t takt_scheduler_save_profile(takt_instance_t* instance,
                                          const char* path) {
  TAKT_REQUIRE(instance, path);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::SaveProfile(instance, path));
  }
  TAKT_CATCH_ALL(instance, path);
}

takt_status_t takt_scheduler_load_profile(takt_instance_t* instance,
                                          const char* path,
                                          size_t* out_record_count) {
  TAKT_REQUIRE(instance, path, Optional(out_record_count));
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::LoadProfile(instance, path, out_record_count));
  }
  TAKT_CATCH_ALL(instance, path, Optional(out_record_count));
}
