// Measures the cost of a second context, as a program with state makes one for
// each client. The initializers of the modules have run in this process before.
//
//   context_bench MODULE.vmfb... [--benchmark_*]
//
// Counters of one context: bytes, its own memory as the library counts it;
// heap_bytes, the memory from malloc(), the device's buffers included;
// state_bytes and state_refs, the size of its globals.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdio>
#include <vector>

#include "takt/takt.hpp"

namespace {

struct Linked {
  takt::Instance instance;
  takt::Device device;
  std::vector<takt::Module> modules;

  takt::Context Create() const {
    return takt::Context::Create(instance, modules, {device}).value();
  }
};

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void CountBytes(const Linked& linked, benchmark::State& state) {
  constexpr size_t kCount = 256;
  std::vector<takt::Context> contexts;
  contexts.reserve(kCount);
  const size_t before = HeapBytes();
  for (size_t i = 0; i < kCount; ++i) contexts.push_back(linked.Create());
  const double heap_bytes = static_cast<double>(HeapBytes() - before);
  const takt_context_statistics_t statistics = contexts[0].statistics();
  state.counters["heap_bytes"] = heap_bytes / kCount;
  state.counters["bytes"] = static_cast<double>(statistics.memory_bytes);
  state.counters["state_bytes"] = static_cast<double>(statistics.global_bytes);
  state.counters["state_refs"] =
      static_cast<double>(statistics.global_ref_count);
}

void BM_ContextCreate(benchmark::State& state, const Linked& linked) {
  const takt::Context first = linked.Create();  // Runs the initializers.
  for (auto _ : state) {
    const takt::Context context = linked.Create();
    benchmark::DoNotOptimize(context.get());
  }
  CountBytes(linked, state);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s MODULE.vmfb...\n", argv[0]);
    return 1;
  }
  Linked linked;
  linked.instance = takt::Instance::Create().value();
  linked.device = takt::Device::Create(linked.instance, "local-sync").value();
  for (int i = 1; i < argc; ++i) {
    linked.modules.push_back(
        takt::Module::Load(linked.instance, argv[i]).value());
  }
  benchmark::RegisterBenchmark("BM_ContextCreate", BM_ContextCreate, linked);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
