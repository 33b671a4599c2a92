// takt/fence.hpp - timelines and fences from C++: waits, futures, and co_await.
// Contracts are in takt/timeline.h and takt/fence.h.
//
//   takt::Task Pipeline(takt::Fence frame, takt::Fence done) {
//     takt::Status status = co_await frame;        // Holds no thread.
//     ...
//     co_return status;
//   }
#ifndef TAKT_FENCE_HPP_
#define TAKT_FENCE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/fence.h"
#include "takt/instance.hpp"

namespace takt {
inline namespace cxx {

// See takt/timeline.h.
class Timeline : public Object<Timeline, takt_timeline_t, takt_timeline_retain,
                               takt_timeline_release> {
 public:
  using Object::Object;
  static Result<Timeline> Create(uint64_t initial_value = 0) {
    takt_timeline_t* timeline = nullptr;
    takt_status_t status = takt_timeline_create(initial_value, &timeline);
    return TakeResult<Timeline>(status, timeline);
  }
  void SetName(const std::string& name) const {
    takt_timeline_set_name(get(), name.c_str());
  }
  // The value reached; the timeline's own error if it failed.
  Result<uint64_t> Query() const {
    uint64_t value = 0;
    Status status(takt_timeline_query(get(), &value));
    if (!status.ok()) return status;
    return value;
  }
  Status Signal(uint64_t value) const {
    return Status(takt_timeline_signal(get(), value));
  }
  void Fail(Status error) const { takt_timeline_fail(get(), error.release()); }
};

// See takt/fence.h. An empty one is reached; Signal() of it is an error.
class Fence : public Object<Fence, takt_fence_t, takt_fence_retain,
                            takt_fence_release> {
 public:
  // A timeline, and the value that it must reach.
  using Point = std::pair<Timeline, uint64_t>;

  using Object::Object;
  static Result<Fence> Create() {
    takt_fence_t* fence = nullptr;
    takt_status_t status = takt_fence_create(&fence);
    return TakeResult<Fence>(status, fence);
  }
  static Result<Fence> FromPoints(std::initializer_list<Point> points) {
    std::vector<takt_timeline_point_t> given;
    for (const auto& [timeline, value] : points) {
      given.push_back({timeline.get(), value});
    }
    takt_fence_t* fence = nullptr;
    takt_status_t status =
        takt_fence_create_from_points(given.size(), given.data(), &fence);
    return TakeResult<Fence>(status, fence);
  }
  // Reached when `signaller_count` signallers are done.
  static Result<Fence> CreateBarrier(uint32_t signaller_count) {
    takt_fence_t* fence = nullptr;
    takt_status_t status = takt_fence_create_barrier(signaller_count, &fence);
    return TakeResult<Fence>(status, fence);
  }
  // Reached when all of them are; empty if all are empty.
  static Result<Fence> Join(std::span<const Fence> fences) {
    const std::vector<takt_fence_t*> pointers = Pointers(fences);
    takt_fence_t* joined = nullptr;
    takt_status_t status =
        takt_fence_join(pointers.size(), pointers.data(), &joined);
    return TakeResult<Fence>(status, joined);
  }
  static Result<Fence> Join(std::initializer_list<Fence> fences) {
    return Join(std::span<const Fence>(fences.begin(), fences.size()));
  }
  // Reached once `fd` is ready.
  static Result<Fence> ImportFd(
      const Instance& instance, int fd,
      takt_fence_fd_event_t event = TAKT_FENCE_FD_READABLE) {
    takt_fence_t* fence = nullptr;
    takt_status_t status =
        takt_fence_import_fd(instance.get(), fd, event, &fence);
    return TakeResult<Fence>(status, fence);
  }

  // Reached or not; the fence's own error if it failed.
  Result<bool> Query() const {
    bool reached = false;
    Status status(takt_fence_query(get(), &reached));
    if (!status.ok()) return status;
    return reached;
  }
  Status Signal() const { return Status(takt_fence_signal(get())); }
  void Fail(Status error) const { takt_fence_fail(get(), error.release()); }
  Status Wait(const Instance& instance,
              int64_t deadline_ns = TAKT_INFINITE_FUTURE) const {
    return Status(takt_fence_wait(get(), instance.get(), deadline_ns));
  }
  // Until all are reached, or one has failed.
  static Status WaitAll(std::span<const Fence> fences, const Instance& instance,
                        int64_t deadline_ns = TAKT_INFINITE_FUTURE) {
    const std::vector<takt_fence_t*> pointers = Pointers(fences);
    return Status(takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, pointers.size(),
                                       pointers.data(), instance.get(),
                                       deadline_ns, nullptr));
  }
  // Until one is reached: its index, or the error of the first that failed.
  static Result<size_t> WaitAny(std::span<const Fence> fences,
                                const Instance& instance,
                                int64_t deadline_ns = TAKT_INFINITE_FUTURE) {
    const std::vector<takt_fence_t*> pointers = Pointers(fences);
    size_t index = 0;
    Status status(takt_fence_wait_many(TAKT_FENCE_WAIT_ANY, pointers.size(),
                                       pointers.data(), instance.get(),
                                       deadline_ns, &index));
    if (!status.ok()) return status;
    return index;
  }
  // Runs `callback` once with the outcome, on the thread that brings it about.
  // It must not block, nor throw.
  void OnReached(std::function<void(Status)> callback) const {
    auto* call = new std::function<void(Status)>(std::move(callback));
    takt_fence_on_reached(
        get(),
        [](void* user_data, takt_status_t status) {
          const std::unique_ptr<std::function<void(Status)>> owned(
              static_cast<std::function<void(Status)>*>(user_data));
          (*owned)(Status(status));
        },
        call);
  }
  // The outcome, once it is known. The future's wait() only sleeps: use Wait()
  // to help an instance's workers meanwhile.
  std::future<Status> ToFuture() const {
    auto promise = std::make_shared<std::promise<Status>>();
    std::future<Status> future = promise->get_future();
    OnReached(
        [promise](Status status) { promise->set_value(std::move(status)); });
    return future;
  }
  // The caller's to close(); see takt_fence_export_fd().
  Result<int> ExportFd() const {
    int fd = -1;
    Status status(takt_fence_export_fd(get(), &fd));
    if (!status.ok()) return status;
    return fd;
  }
  void SetName(const std::string& name) const {
    takt_fence_set_name(get(), name.c_str());
  }
  // Says what the fence still waits for; an error's text if that fails.
  std::string Explain() const {
    char* text = nullptr;
    Status status(takt_fence_explain(get(), &text));
    if (!status.ok()) return status.ToString();
    std::string result = text;
    takt_string_free(text);
    return result;
  }

 private:
  static std::vector<takt_fence_t*> Pointers(std::span<const Fence> fences) {
    std::vector<takt_fence_t*> pointers;
    pointers.reserve(fences.size());
    for (const Fence& fence : fences) pointers.push_back(fence.get());
    return pointers;
  }
};

// Resumes a coroutine: called once with it, on the thread that brought the
// fence's outcome about, to resume() it at once or elsewhere.
using Resumer = std::function<void(std::coroutine_handle<>)>;

// What `co_await fence` waits on; gives the fence's outcome. The coroutine
// continues at once if that is known. Else the Resumer resumes it; without one,
// the thread that signals does (where it must not block). The awaiter does not
// keep the fence: its outcome is ABORTED once no other reference is left.
class FenceAwaiter {
 public:
  explicit FenceAwaiter(Fence fence, Resumer resumer = nullptr)
      : fence_(std::move(fence)), resumer_(std::move(resumer)) {}

  bool await_ready() {
    bool reached = false;
    status_ = Status(takt_fence_query(fence_.get(), &reached));
    return reached || !status_.ok();
  }
  // Not inlined, so that nothing of it lives in the coroutine's frame, which
  // may be gone before it returns.
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> coroutine) {
    coroutine_ = coroutine;
    {
      const Fence fence = std::move(fence_);
      takt_fence_on_reached(fence.get(), &FenceAwaiter::OnReached, this);
    }
    // The second of two arrivals resumes: this function by returning false.
    // Acquire and release: each sees what the other wrote.
    return !met_.exchange(true, std::memory_order_acq_rel);
  }
  Status await_resume() { return std::move(status_); }

 private:
  static void OnReached(void* user_data, takt_status_t status) {
    auto* self = static_cast<FenceAwaiter*>(user_data);
    self->status_ = Status(status);
    if (!self->met_.exchange(true, std::memory_order_acq_rel)) return;
    // Both are copied: they die with the coroutine's frame.
    const std::coroutine_handle<> coroutine = self->coroutine_;
    const Resumer resumer = std::move(self->resumer_);
    if (resumer) {
      resumer(coroutine);
    } else {
      coroutine.resume();
    }
  }

  Fence fence_;
  Resumer resumer_;
  std::coroutine_handle<> coroutine_;
  Status status_;
  std::atomic<bool> met_{false};
};

inline FenceAwaiter operator co_await(Fence fence) {
  return FenceAwaiter(std::move(fence));
}

// `co_await takt::ResumeOn(fence, resumer)`: as `co_await fence`, going on
// where `resumer` has it.
inline FenceAwaiter ResumeOn(Fence fence, Resumer resumer) {
  return FenceAwaiter(std::move(fence), std::move(resumer));
}

// A coroutine that runs at once up to its first co_await, and by itself from
// then on; `co_return status` ends it. Its fence is reached when it has ended
// with OK and its variables are gone, and failed with its status otherwise
// (UNKNOWN for an exception). Letting go of the Task does not stop it.
class Task {
 public:
  class promise_type {
   public:
    // Ends the coroutine: frees it, then signals its fence.
    struct End {
      bool await_ready() noexcept { return false; }
      [[gnu::noinline]] void await_suspend(
          std::coroutine_handle<promise_type> coroutine) noexcept {
        const Fence done = std::move(coroutine.promise().done_);
        Status status = std::move(coroutine.promise().status_);
        coroutine.destroy();
        if (!status.ok()) {
          done.Fail(std::move(status));
          return;
        }
        // Fails only if other code has ended the fence, whose outcome holds.
        status = done.Signal();
      }
      void await_resume() noexcept {}
    };

    Task get_return_object() { return Task(done_); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    End final_suspend() noexcept { return {}; }
    void return_value(Status status) { status_ = std::move(status); }
    void unhandled_exception() {
#if defined(__cpp_exceptions)
      try {
        throw;
      } catch (const std::exception& error) {
        status_ = Status(TAKT_STATUS_UNKNOWN, error.what());
      } catch (...) {
        status_ = Status(TAKT_STATUS_UNKNOWN, "the coroutine threw");
      }
#endif
    }

   private:
    Fence done_ = Fence::Create().value();
    Status status_;
  };

  // What other work may wait for.
  const Fence& fence() const { return fence_; }

 private:
  explicit Task(Fence fence) : fence_(std::move(fence)) {}

  Fence fence_;
};

inline FenceAwaiter operator co_await(const Task& task) {
  return FenceAwaiter(task.fence());
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_FENCE_HPP_
