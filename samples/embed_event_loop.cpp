// Takt in a program's own event loop (libuv), on one thread. A camera's file
// descriptor starts the work, a fence's file descriptor ends it, and the loop
// runs what is ready in between. Takt starts no thread.
//
//   embed_event_loop simple_mul_async.vmfb
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <takt/takt.hpp>

namespace {

constexpr int kFrameCount = 3;

void Check(const takt::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Take(takt::Result<T> result) {
  Check(result.status());
  return std::move(result).value();
}

// The loop's share of Takt's work. Before libuv waits for events, it runs for
// half a millisecond what is ready. If work is left, the idle handle keeps the
// loop from waiting; else the timer ends the wait when Takt's next timer is
// due.
class TaktInLoop {
 public:
  TaktInLoop(uv_loop_t* loop, takt::Instance instance)
      : instance_(std::move(instance)) {
    uv_prepare_init(loop, &prepare_);
    uv_idle_init(loop, &idle_);
    uv_timer_init(loop, &timer_);
    prepare_.data = this;
    uv_prepare_start(&prepare_, [](uv_prepare_t* handle) {
      static_cast<TaktInLoop*>(handle->data)->Run();
    });
  }

  void Close() {
    for (void* handle :
         {static_cast<void*>(&prepare_), static_cast<void*>(&idle_),
          static_cast<void*>(&timer_)}) {
      uv_close(static_cast<uv_handle_t*>(handle), nullptr);
    }
  }

 private:
  void Run() {
    const auto ran = Take(instance_.RunReady(500'000));
    const int64_t left_ns = ran.next_ns - takt_clock_now_ns();
    if (ran.next_ns == TAKT_INFINITE_FUTURE) {
      uv_idle_stop(&idle_);
      uv_timer_stop(&timer_);
    } else if (left_ns <= 0) {
      uv_idle_start(&idle_, [](uv_idle_t*) {});
    } else {
      uv_idle_stop(&idle_);
      uv_timer_start(
          &timer_, [](uv_timer_t*) {}, uint64_t(left_ns + 999'999) / 1'000'000,
          0);
    }
  }

  takt::Instance instance_;
  uv_prepare_t prepare_;
  uv_idle_t idle_;
  uv_timer_t timer_;
};

// Squares each frame of a pipe twice.
class Pipeline {
 public:
  Pipeline(uv_loop_t* loop, TaktInLoop* takt, takt::Device device,
           takt::Function mul, int camera)
      : loop_(loop),
        takt_(takt),
        device_(std::move(device)),
        mul_(std::move(mul)) {
    camera_fd_ = camera;
    uv_poll_init(loop, &camera_, camera);
    camera_.data = this;
    WaitForFrame();
  }

 private:
  void WaitForFrame() {
    uv_poll_start(&camera_, UV_READABLE, [](uv_poll_t* handle, int, int) {
      static_cast<Pipeline*>(handle->data)->Begin();
    });
  }

  // The calls are queued, and the loop goes on.
  void Begin() {
    uv_poll_stop(&camera_);
    float pixels[4];
    if (read(camera_fd_, pixels, sizeof(pixels)) != sizeof(pixels)) {
      Check(takt::Status(TAKT_STATUS_DATA_LOSS, "half a frame"));
    }
    auto input = Take(takt::BufferView::Copy<float>(device_, {4}, pixels));
    const auto squared = Take(takt::Fence::Create());
    const auto done = Take(takt::Fence::Create());
    auto square = Take(mul_.Invoke(input, input, takt::Fence(), squared));
    result_ = Take(mul_.Invoke(square[0], square[0], squared, done))[0].view();
    done_fd_ = Take(done.ExportFd());
    uv_poll_init(loop_, &done_, done_fd_);
    done_.data = this;
    uv_poll_start(&done_, UV_READABLE, [](uv_poll_t* handle, int, int) {
      static_cast<Pipeline*>(handle->data)->End();
    });
  }

  void End() {
    uint64_t outcome = 0;
    if (read(done_fd_, &outcome, sizeof(outcome)) != sizeof(outcome) ||
        outcome != TAKT_FENCE_FD_REACHED) {
      Check(takt::Status(TAKT_STATUS_UNKNOWN, "the calls failed"));
    }
    std::printf("%s\n", result_.Format().c_str());
    uv_close(reinterpret_cast<uv_handle_t*>(&done_), [](uv_handle_t* handle) {
      static_cast<Pipeline*>(handle->data)->Next();
    });
  }

  void Next() {
    close(done_fd_);
    if (++frame_count_ < kFrameCount) {
      WaitForFrame();
    } else {
      uv_close(reinterpret_cast<uv_handle_t*>(&camera_), nullptr);
      takt_->Close();
    }
  }

  uv_loop_t* loop_;
  TaktInLoop* takt_;
  takt::Device device_;
  takt::Function mul_;
  takt::BufferView result_;
  uv_poll_t camera_, done_;
  int camera_fd_ = -1, done_fd_ = -1;
  int frame_count_ = 0;
};

size_t ThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace

int main(int argc, char** argv) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.host_loop = true;
  auto instance = Take(takt::Instance::Create(&options));
  auto device = Take(takt::Device::Create(instance, "local-task"));
  auto module = Take(takt::Module::Load(
      instance, argc > 1 ? argv[1] : "simple_mul_async.vmfb"));
  auto context = Take(takt::Context::Create(instance, {module}, {device}));
  auto mul = Take(context.FindFunction("mul"));

  int camera[2];  // A pipe stands for the camera.
  if (pipe(camera) != 0) return 1;
  uv_loop_t loop;
  uv_loop_init(&loop);
  TaktInLoop takt(&loop, instance);
  Pipeline pipeline(&loop, &takt, device, mul, camera[0]);
  for (int frame = 0; frame < kFrameCount; ++frame) {
    float pixels[4];
    for (int i = 0; i < 4; ++i) pixels[i] = float(frame + i);
    if (write(camera[1], pixels, sizeof(pixels)) != sizeof(pixels)) return 1;
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  std::printf("threads: %zu\n", ThreadCount());
  uv_loop_close(&loop);
  close(camera[0]);
  close(camera[1]);
  return 0;
}
