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

// See takt/fence.h. An empty fence counts as reached; Signal() of it is an
// error.
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
  // A fence that is reached when all of `fences` are; empty if all are empty.
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

  // Returns whether the fence is reached, or its error if it failed.
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
  // Waits until all are reached, or one has failed.
  static Status WaitAll(std::span<const Fence> fences, const Instance& instance,
                        int64_t deadline_ns = TAKT_INFINITE_FUTURE) {
    const std::vector<takt_fence_t*> pointers = Pointers(fences);
    return Status(takt_fence_wait_many(TAKT_FENCE_WAIT_ALL, pointers.size(),
                                       pointers.data(), instance.get(),
                                       deadline_ns, nullptr));
  }
  // Waits until one is reached and returns its index, or the error of the first
  // that failed.
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
  // Runs `callback` once with the outcome, on the thread that signals or fails
  // the fence, or on this thread if that has happened. It must not block or
  // throw.
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
  // Returns a future of the outcome. Its wait() only sleeps; Wait() helps the
  // workers of an instance meanwhile.
  std::future<Status> ToFuture() const {
    auto promise = std::make_shared<std::promise<Status>>();
    std::future<Status> future = promise->get_future();
    OnReached(
        [promise](Status status) { promise->set_value(std::move(status)); });
    return future;
  }
  // The caller must close() the descriptor; see takt_fence_export_fd().
  Result<int> ExportFd() const {
    int fd = -1;
    Status status(takt_fence_export_fd(get(), &fd));
    if (!status.ok()) return status;
    return fd;
  }
  void SetName(const std::string& name) const {
    takt_fence_set_name(get(), name.c_str());
  }
  // Describes what the fence still waits for, or the error if that fails.
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

// Resumes a coroutine. It is called once, with the coroutine, on the thread
// that signaled or failed the fence. It may resume() the coroutine at once, or
// have another thread do it.
using Resumer = std::function<void(std::coroutine_handle<>)>;

// The awaiter of `co_await fence`; its result is the fence's outcome. The
// coroutine continues at once if the outcome is known. Otherwise the Resumer
// resumes it. Without a Resumer, the thread that signals the fence resumes it,
// and the coroutine must not block there. The awaiter does not keep the fence
// alive: when no other reference is left, the outcome is ABORTED.
class FenceAwaiter {
 public:
  explicit FenceAwaiter(Fence fence, Resumer resumer = nullptr)
      : fence_(std::move(fence)), resumer_(std::move(resumer)) {}

  bool await_ready() {
    bool reached = false;
    status_ = Status(takt_fence_query(fence_.get(), &reached));
    return reached || !status_.ok();
  }
  // Not inlined: its variables must not be in the coroutine's frame, which
  // another thread may free before this function returns.
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> coroutine) {
    coroutine_ = coroutine;
    {
      const Fence fence = std::move(fence_);
      takt_fence_on_reached(fence.get(), &FenceAwaiter::OnReached, this);
    }
    // Two parties meet here: this function and the fence's callback. The second
    // one resumes the coroutine; this function does so by returning false.
    // Acquire and release: each sees what the other wrote.
    return !met_.exchange(true, std::memory_order_acq_rel);
  }
  Status await_resume() { return std::move(status_); }

 private:
  static void OnReached(void* user_data, takt_status_t status) {
    auto* self = static_cast<FenceAwaiter*>(user_data);
    self->status_ = Status(status);
    if (!self->met_.exchange(true, std::memory_order_acq_rel)) return;
    // Both are copied, because they are destroyed with the coroutine's frame.
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

// `co_await takt::ResumeOn(fence, resumer)` is `co_await fence`, but `resumer`
// resumes the coroutine.
inline FenceAwaiter ResumeOn(Fence fence, Resumer resumer) {
  return FenceAwaiter(std::move(fence), std::move(resumer));
}

// A coroutine that starts at once, runs to its first co_await on the caller's
// thread, and is resumed by its fences from then on; `co_return status` ends
// it. If the status is OK, its fence is reached after its variables were
// destroyed. Otherwise its fence fails with the status (UNKNOWN for an
// exception). The destruction of the Task object does not stop the coroutine.
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
        // Fails only if other code has signaled or failed the fence before;
        // that outcome stays.
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

  // The fence for which other work may wait.
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
