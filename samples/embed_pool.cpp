// Takt on the threads of a program's own pool, here an arena of oneTBB. The
// arena's tasks run Takt's work between their own, and Takt starts no thread.
//
//   embed_pool perception.cpu.vmfb
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <takt/takt.hpp>
#include <vector>

namespace {

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

// Threads that Takt has named, so that it started them.
int TaktThreadCount() {
  int count = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name.starts_with("takt");
  }
  return count;
}

// The pool does its own work in `parts`, and Takt's between them, until the
// fence is reached.
size_t RunUntil(tbb::task_arena& arena, const takt::Instance& instance,
                const takt::Fence& fence, std::vector<double>& parts) {
  std::atomic<size_t> taken = 0, ran = 0;
  arena.execute([&] {
    tbb::parallel_for(0, arena.max_concurrency(), [&](int) {
      while (true) {
        const size_t part = taken++;
        if (part < parts.size()) {
          for (int i = 1; i <= 1000; ++i) parts[part] += 1.0 / i;
        }
        ran += Take(instance.RunReady(200'000)).count;
        if (part >= parts.size() && Take(fence.Query())) return;
      }
    });
  });
  return ran;
}

}  // namespace

int main(int argc, char** argv) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.host_loop = true;
  auto instance = Take(takt::Instance::Create(&options));
  auto device = Take(takt::Device::Create(instance, "local-task"));
  auto module = Take(
      takt::Module::Load(instance, argc > 1 ? argv[1] : "perception.cpu.vmfb"));
  auto context = Take(takt::Context::Create(instance, {module}, {device}));
  auto detect = Take(context.FindFunction("detect"));

  const std::vector<float> pixels(size_t{192} * 192 * 3, 0.5f);
  auto image =
      Take(takt::BufferView::Copy<float>(device, {1, 192, 192, 3}, pixels));
  auto call = Take(takt::AsyncInvoke(detect, {image}));
  tbb::task_arena arena(2);
  std::vector<double> parts(100);
  const size_t ran = RunUntil(arena, instance, Take(call.fence()), parts);
  const auto scores = Take(call.Get());
  const bool is_done = std::ranges::all_of(
      parts, [](double part) { return part > 7.48 && part < 7.49; });
  std::printf(
      "scores: %s\nthe pool's own work: %s, Takt's: %s, its threads: %d\n",
      scores[0].view().Format(1).c_str(), is_done ? "done" : "open",
      ran > 0 ? "done" : "open", TaktThreadCount());
  return 0;
}
