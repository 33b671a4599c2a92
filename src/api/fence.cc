#include "hal/fence.h"

#include <new>
#include <vector>

#include "abi/c_string.h"
#include "abi/guard.h"
#include "api/handle.h"
#include "hal/fence_diagnosis.h"
#include "runtime/blocking_wait.h"
#include "runtime/instance.h"
#include "takt/fence.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<hal::Fence>> CreateFromPoints(
    size_t point_count, const takt_timeline_point_t* points) {
  std::vector<hal::TimelinePoint> result;
  for (size_t i = 0; i < point_count; ++i) {
    if (points[i].timeline == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("points: timeline ", i, " is NULL"));
    }
    result.push_back({Ref<hal::Timeline>::Retain(Unwrap(points[i].timeline)),
                      points[i].value});
  }
  return hal::Fence::FromPoints(result);
}

// The fences of a C array; nullptr where it has NULL.
absl::StatusOr<std::vector<hal::Fence*>> UnwrapFences(
    size_t fence_count, takt_fence_t* const* fences) {
  std::vector<hal::Fence*> result;
  result.reserve(fence_count);
  for (size_t i = 0; i < fence_count; ++i) {
    result.push_back(fences[i] != nullptr ? Unwrap(fences[i]) : nullptr);
  }
  return result;
}

absl::StatusOr<Ref<hal::Fence>> JoinFences(size_t fence_count,
                                           takt_fence_t* const* fences) {
  TAKT_ASSIGN_OR_RETURN(const std::vector<hal::Fence*> result,
                        UnwrapFences(fence_count, fences));
  return hal::Fence::Join(result);
}

Ref<exec::Executor> ExecutorOf(takt_instance_t* instance) {
  return instance != nullptr ? Unwrap(instance)->FindExecutor() : nullptr;
}

absl::Status WaitForMany(takt_fence_wait_mode_t mode, size_t fence_count,
                         takt_fence_t* const* fences, takt_instance_t* instance,
                         int64_t deadline_ns, size_t* index) {
  TAKT_ASSIGN_OR_RETURN(const std::vector<hal::Fence*> waited,
                        UnwrapFences(fence_count, fences));
  const Ref<exec::Executor> executor = ExecutorOf(instance);
  runtime::BlockingWait thread(executor.get());
  switch (mode) {
    case TAKT_FENCE_WAIT_ALL:
      return runtime::WaitForAll(waited, thread, deadline_ns, index);
    case TAKT_FENCE_WAIT_ANY:
      if (waited.empty()) {
        return absl::InvalidArgumentError("a wait for any of no fences");
      }
      return runtime::WaitForAny(waited, thread, deadline_ns, index);
  }
  return absl::InvalidArgumentError(absl::StrCat("mode ", mode, " is none"));
}

static_assert(TAKT_FENCE_SIGNALLERS_MAX == hal::Fence::kSignallersMax);

}  // namespace
}  // namespace takt::api

using takt::Ref;
using takt::api::Give;
using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_fence_create(takt_fence_t** out_fence) {
  TAKT_REQUIRE(out_fence);
  TAKT_TRY {
    return Give(
        __func__,
        absl::StatusOr<Ref<takt::hal::Fence>>(takt::hal::Fence::Create()),
        out_fence);
  }
  TAKT_CATCH_ALL(out_fence);
}

takt_status_t takt_fence_create_from_points(size_t point_count,
                                            const takt_timeline_point_t* points,
                                            takt_fence_t** out_fence) {
  TAKT_REQUIRE(Items(point_count, points), out_fence);
  TAKT_TRY {
    return Give(__func__, takt::api::CreateFromPoints(point_count, points),
                out_fence);
  }
  TAKT_CATCH_ALL(Items(point_count, points), out_fence);
}

takt_status_t takt_fence_join(size_t fence_count, takt_fence_t* const* fences,
                              takt_fence_t** out_fence) {
  TAKT_REQUIRE(Items(fence_count, fences), out_fence);
  TAKT_TRY {
    return Give(__func__, takt::api::JoinFences(fence_count, fences),
                out_fence);
  }
  TAKT_CATCH_ALL(Items(fence_count, fences), out_fence);
}

takt_status_t takt_fence_create_barrier(uint32_t signaller_count,
                                        takt_fence_t** out_fence) {
  TAKT_REQUIRE(out_fence);
  TAKT_TRY {
    return Give(__func__, takt::hal::Fence::CreateBarrier(signaller_count),
                out_fence);
  }
  TAKT_CATCH_ALL(out_fence);
}

void takt_fence_retain(takt_fence_t* fence) { takt::api::RetainHandle(fence); }

void takt_fence_release(takt_fence_t* fence) {
  takt::api::ReleaseHandle(fence);
}

takt_status_t takt_fence_query(const takt_fence_t* fence, bool* out_reached) {
  TAKT_REQUIRE(out_reached);
  TAKT_TRY {
    *out_reached = fence == nullptr;
    if (fence == nullptr) return nullptr;
    return ToStatus(__func__, Unwrap(fence)->Query(out_reached));
  }
  TAKT_CATCH_ALL(out_reached);
}

takt_status_t takt_fence_signal(takt_fence_t* fence) {
  TAKT_REQUIRE(fence);
  TAKT_TRY { return ToStatus(__func__, Unwrap(fence)->Signal()); }
  TAKT_CATCH_ALL(fence);
}

void takt_fence_fail(takt_fence_t* fence, takt_status_t status) {
  const absl::Status error = takt::api::ErrorFrom(status);
  TAKT_TRY {
    if (fence != nullptr) Unwrap(fence)->Fail(error);
  }
  TAKT_CATCH_ALL_OR(, fence);
}

takt_status_t takt_fence_wait(const takt_fence_t* fence,
                              takt_instance_t* instance, int64_t deadline_ns) {
  TAKT_TRY {
    if (fence == nullptr) return nullptr;
    const Ref<takt::exec::Executor> executor = takt::api::ExecutorOf(instance);
    takt::runtime::BlockingWait thread(executor.get());
    return ToStatus(__func__, takt::runtime::WaitForFence(*Unwrap(fence),
                                                          thread, deadline_ns));
  }
  TAKT_CATCH_ALL();
}

takt_status_t takt_fence_wait_many(takt_fence_wait_mode_t mode,
                                   size_t fence_count,
                                   takt_fence_t* const* fences,
                                   takt_instance_t* instance,
                                   int64_t deadline_ns, size_t* out_index) {
  TAKT_REQUIRE(Items(fence_count, fences), Optional(out_index));
  TAKT_TRY {
    size_t index = fence_count;
    const absl::Status status = takt::api::WaitForMany(
        mode, fence_count, fences, instance, deadline_ns, &index);
    if (out_index != nullptr) *out_index = index;
    return ToStatus(__func__, status);
  }
  TAKT_CATCH_ALL(Items(fence_count, fences), Optional(out_index));
}

void takt_fence_on_reached(takt_fence_t* fence, takt_fence_callback_t callback,
                           void* user_data) {
  TAKT_IGNORE_NULL(callback);
  if (fence == nullptr) {
    callback(user_data, nullptr);
    return;
  }
  TAKT_TRY {
    Unwrap(fence)->OnReached([callback, user_data](const absl::Status& status) {
      callback(user_data, ToStatus("", status));
    });
  }
  TAKT_CATCH(const std::bad_alloc&) {  // The wait has not begun.
    callback(user_data, ToStatus("", takt::OutOfMemory()));
  }
}

void takt_fence_set_name(takt_fence_t* fence, const char* name) {
  TAKT_TRY {
    if (fence == nullptr || name == nullptr) return;
    for (const takt::hal::TimelinePoint& point : Unwrap(fence)->points()) {
      if (point.timeline->name().empty()) point.timeline->set_name(name);
    }
  }
  TAKT_CATCH_ALL_OR();
}

takt_status_t takt_fence_explain(const takt_fence_t* fence, char** out_text) {
  TAKT_REQUIRE(out_text);
  TAKT_TRY {
    return takt::api::GiveText(
        __func__,
        fence == nullptr ? "reached" : takt::hal::ExplainFence(*Unwrap(fence)),
        out_text);
  }
  TAKT_CATCH_ALL(out_text);
}
