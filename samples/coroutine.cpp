// A coroutine waits for a camera and for the device, and holds no thread
// meanwhile. Here frames come through a pipe, and each is squared twice.
//
//   coroutine simple_mul_async.vmfb
#include <unistd.h>

#include <cstdio>
#include <takt/takt.hpp>

// A call that has begun: its result, and the fence at which it is valid.
struct Call {
  takt::BufferView result;
  takt::Fence done;
};

takt::Result<Call> Square(const takt::Function& mul, takt::BufferView x,
                          takt::Fence ready) {
  auto done = takt::Fence::Create();
  if (!done.ok()) return done.status();
  auto results = mul.Invoke(x, x, ready, *done);
  if (!results.ok()) return results.status();
  return Call{(*results)[0].view(), *done};
}

// Ends when every frame has been printed. All arguments are values, because a
// coroutine outlives the call that starts it.
takt::Task ShowFrames(takt::Instance instance, takt::Device device,
                      takt::Function mul, int camera, int count) {
  for (int frame = 0; frame < count; ++frame) {
    auto ready = takt::Fence::ImportFd(instance, camera);
    if (!ready.ok()) co_return ready.status();
    takt::Status status = co_await *ready;
    if (!status.ok()) co_return status;

    float pixels[4];
    if (read(camera, pixels, sizeof(pixels)) != sizeof(pixels)) {
      co_return takt::Status(TAKT_STATUS_DATA_LOSS, "half a frame");
    }
    auto input = takt::BufferView::Copy<float>(device, {4}, pixels);
    if (!input.ok()) co_return input.status();
    // The second call is queued behind the first: no wait in between.
    auto square = Square(mul, *input, takt::Fence());
    if (!square.ok()) co_return square.status();
    auto fourth = Square(mul, square->result, square->done);
    if (!fourth.ok()) co_return fourth.status();
    status = co_await fourth->done;
    if (!status.ok()) co_return status;
    std::printf("%s\n", fourth->result.Format().c_str());
  }
  co_return takt::Status();
}

int main(int argc, char** argv) {
  auto instance = takt::Instance::Create().value();
  auto device = takt::Device::Create(instance, "local-task").value();
  auto module =
      takt::Module::Load(instance, argc > 1 ? argv[1] : "simple_mul_async.vmfb")
          .value();
  auto context = takt::Context::Create(instance, {module}, {device}).value();
  auto mul = context.FindFunction("mul").value();

  int camera[2];
  if (pipe(camera) != 0) return 1;
  takt::Task show = ShowFrames(instance, device, mul, camera[0], 2);
  std::printf("waiting\n");
  const float frames[2][4] = {{1, 2, 3, 4}, {0, -1, -2, -3}};
  for (const auto& frame : frames) {
    if (write(camera[1], frame, sizeof(frame)) != sizeof(frame)) return 1;
  }
  takt::Status status = show.fence().Wait(instance);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  close(camera[0]);
  close(camera[1]);
  return status.ok() ? 0 : 1;
}
