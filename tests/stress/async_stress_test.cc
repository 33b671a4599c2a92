// Goal: calls have the outcome of a sequential run, for any order of issue, any
// number of threads, and any failures and cancellations.
//
// Method: random graphs of up to 200 calls of dag.step (out = a + 2 b) over
// four modules, a context each. A call's inputs are outputs of earlier calls;
// it waits for their fences in one of several ways, perhaps for a barrier of
// two others besides. Threads issue the calls in random order while others are
// cancelled, and signal the root fence somewhere in between. Then a sequential
// model walks the graph. A call with good inputs must succeed with the same
// bits, unless the test made it fail or cancelled it. A call with a failed
// input must carry one of the causes of its inputs.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "takt/takt.hpp"

namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {  // SplitMix64.
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t Below(uint32_t count) {
    return static_cast<uint32_t>(Next() % count);
  }
  bool Percent(uint32_t chance) { return Below(100) < chance; }

 private:
  uint64_t state_;
};

constexpr int kElements = 4;
constexpr int kRoot = -1;  // As an input: the source tensor.
const char* const kModules[] = {"dag.cpu", "dag.cpu.async", "dag.vmvx",
                                "dag.vmvx.async"};
constexpr int kModuleCount = 4;

struct Node {
  int context = 0;
  int inputs[2] = {kRoot, kRoot};
  int barrier = -1;          // Also waits for this one.
  std::vector<int> signals;  // Barriers that it is a signaller of.
  bool fails = false;
  bool is_cancelled = false;
  bool has_handle = true;
  bool has_callback = false;
  bool is_cancellable = true;
  int wait_style = 0;

  takt::Fence fence;
  takt::BufferView out;
  takt::Invocation call;
  std::atomic<int> callbacks{0};
  // Found in the end.
  takt_status_code_t code = TAKT_STATUS_OK;
  float value[kElements] = {};
};

struct Barrier {
  int nodes[2];
  takt::Fence fence;
};

struct World {
  takt::Instance instance;
  takt::Device device;
  std::vector<takt::Function> steps;
  takt::BufferView source;

  explicit World(int worker_count) {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_count = worker_count;
    instance = takt::Instance::Create(&options).value();
    device = takt::Device::Create(instance, "local-task").value();
    for (const char* name : kModules) {
      auto module =
          takt::Module::Load(instance, std::string(TAKT_TESTDATA_DIR) +
                                           "/async/" + name + ".vmfb")
              .value();
      auto context =
          takt::Context::Create(instance, {module}, {device}).value();
      steps.push_back(context.FindFunction("step").value());
    }
    const float values[kElements] = {1, 2, 3, 0.5f};
    source = takt::BufferView::Copy<float>(device, {kElements}, values).value();
  }
};

// Outcomes of all calls.
struct Counts {
  uint64_t good = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
};

class Graph {
 public:
  Graph(World& world, uint64_t seed) : world_(world), random_(seed) {
    const int count = 1 + static_cast<int>(random_.Below(200));
    // Most graphs go wrong somewhere, but not everywhere.
    const uint32_t fail_percent = random_.Below(3);
    const uint32_t cancel_percent = random_.Below(3);
    nodes_ = std::vector<Node>(count);
    const float zeros[kElements] = {};
    for (int i = 0; i < count; ++i) {
      Node& node = nodes_[i];
      node.context = random_.Below(kModuleCount);
      for (int& input : node.inputs) {
        // Near ones more often: long chains.
        const int reach = random_.Percent(70) ? 8 : count;
        const int lowest = std::max(kRoot, i - reach);
        input = lowest + static_cast<int>(random_.Below(i - lowest));
      }
      node.fails = random_.Percent(fail_percent);
      node.is_cancelled = random_.Percent(cancel_percent);
      node.has_handle = node.is_cancelled || random_.Percent(80);
      node.has_callback = random_.Percent(20);
      node.is_cancellable = random_.Percent(70);
      node.wait_style = random_.Below(3);
      node.fence = takt::Fence::Create().value();
      node.out = takt::BufferView::Copy<float>(world_.device, {kElements},
                                               std::span<const float>(zeros))
                     .value();
      if (i >= 2 && random_.Percent(10)) AddBarrier(i);
    }
    root_ = takt::Fence::Create().value();
  }

  // True if every outcome was the expected one.
  bool Run() {
    std::vector<int> order(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    const uint32_t style = random_.Below(3);  // Forward, backward, shuffled.
    if (style == 1) std::reverse(order.begin(), order.end());
    for (size_t i = order.size() - 1; style == 2 && i > 0; --i) {
      std::swap(order[i], order[random_.Below(static_cast<uint32_t>(i) + 1)]);
    }
    const uint32_t thread_count = 1 + random_.Below(4);
    const uint32_t signal_at =
        random_.Below(static_cast<uint32_t>(order.size()));
    std::vector<std::thread> threads;
    for (uint32_t t = 1; t < thread_count; ++t) {
      threads.emplace_back(
          [&, t] { IssueShare(order, t, thread_count, signal_at); });
    }
    IssueShare(order, 0, thread_count, signal_at);
    for (std::thread& thread : threads) thread.join();
    return Check();
  }

  void Count(Counts* counts) const {
    for (const Node& node : nodes_) {
      counts->good += node.code == TAKT_STATUS_OK;
      counts->cancelled += node.code == TAKT_STATUS_CANCELLED;
      counts->failed +=
          node.code != TAKT_STATUS_OK && node.code != TAKT_STATUS_CANCELLED;
    }
  }

 private:
  void AddBarrier(int i) {
    Barrier barrier;
    barrier.fence = takt::Fence::CreateBarrier(2).value();
    barrier.nodes[0] = random_.Below(i);
    barrier.nodes[1] = (barrier.nodes[0] + 1 + random_.Below(i - 1)) % i;
    nodes_[i].barrier = static_cast<int>(barriers_.size());
    for (int node : barrier.nodes) {
      nodes_[node].signals.push_back(nodes_[i].barrier);
    }
    barriers_.push_back(std::move(barrier));
  }

  void IssueShare(const std::vector<int>& order, uint32_t thread,
                  uint32_t thread_count, uint32_t signal_at) {
    Node* waiting = nullptr;  // Cancelled after the next one is issued.
    for (uint32_t i = thread; i < order.size(); i += thread_count) {
      if (i == signal_at && !root_.Signal().ok()) std::abort();
      Node& node = nodes_[order[i]];
      Issue(node);
      if (waiting != nullptr) waiting->call.Cancel();
      waiting = nullptr;
      if (!node.is_cancelled) continue;
      if (order[i] % 2 == 0) {
        node.call.Cancel();
      } else {
        waiting = &node;
      }
    }
    if (waiting != nullptr) waiting->call.Cancel();
  }

  const takt::BufferView& TensorOf(int input) const {
    return input == kRoot ? world_.source : nodes_[input].out;
  }
  const takt::Fence& FenceOf(int input) const {
    return input == kRoot ? root_ : nodes_[input].fence;
  }

  void Issue(Node& node) {
    takt::AsyncOptions options;
    const takt::Fence& first = FenceOf(node.inputs[0]);
    const takt::Fence& second = FenceOf(node.inputs[1]);
    switch (node.wait_style) {
      case 0:
        options.wait = takt::Fence::Join({first, second}).value();
        break;
      case 1:
        options.wait = first;
        options.argument_fences.push_back({2, second});
        break;
      default:
        options.argument_fences = {{1, first}, {2, second}};
        break;
    }
    if (node.barrier >= 0) {
      options.argument_fences.push_back({3, barriers_[node.barrier].fence});
    }
    options.signal = node.fence;
    for (int barrier : node.signals) {
      options.result_fences.push_back({0, barriers_[barrier].fence});
    }
    options.cancellable = node.is_cancellable;
    if (node.has_callback) {
      options.on_done = [&node](const takt::Invocation&, takt::Status) {
        node.callbacks.fetch_add(1);
      };
    }
    auto call =
        takt::AsyncInvoke(world_.steps[node.context],
                          {int32_t{node.fails}, TensorOf(node.inputs[0]),
                           TensorOf(node.inputs[1]), node.out},
                          options);
    if (node.has_handle) {
      node.call = std::move(call).value();
    } else if (!call.ok()) {
      std::abort();
    }
  }

  bool Check() {
    bool is_right = true;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const takt::Status status = node.fence.Wait(world_.instance);
      node.code = status.code();
      if (node.has_handle && node.call.Wait().code() != node.code) {
        std::printf("node %zu: the call's outcome is not its fence's\n", i);
        is_right = false;
      }
      is_right = CheckNode(node, i, status) && is_right;
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].callbacks.load() == (nodes_[i].has_callback ? 1 : 0)) {
        continue;
      }
      std::printf("node %zu: told %d times\n", i, nodes_[i].callbacks.load());
      is_right = false;
    }
    return is_right;
  }

  bool CheckNode(Node& node, size_t index, const takt::Status& status) {
    std::vector<takt_status_code_t> causes;
    bool may_be_good = !node.fails;
    const auto add = [&](int input) {
      if (input == kRoot || nodes_[input].code == TAKT_STATUS_OK) return;
      may_be_good = false;
      causes.push_back(nodes_[input].code);
    };
    for (int input : node.inputs) add(input);
    if (node.barrier >= 0) {
      for (int other : barriers_[node.barrier].nodes) add(other);
    }
    if (node.fails) causes.push_back(TAKT_STATUS_FAILED_PRECONDITION);
    if (node.is_cancelled) causes.push_back(TAKT_STATUS_CANCELLED);
    if (node.code != TAKT_STATUS_OK) {
      for (takt_status_code_t cause : causes) {
        if (cause == node.code) return true;
      }
      std::printf("node %zu: failed: %s\n", index, status.ToString().c_str());
      return false;
    }
    if (!may_be_good) {
      std::printf("node %zu: did not fail\n", index);
      return false;
    }
    float a[kElements] = {1, 2, 3, 0.5f};
    float b[kElements] = {1, 2, 3, 0.5f};
    float actual[kElements];
    if (node.inputs[0] != kRoot) {
      std::memcpy(a, nodes_[node.inputs[0]].value, sizeof(a));
    }
    if (node.inputs[1] != kRoot) {
      std::memcpy(b, nodes_[node.inputs[1]].value, sizeof(b));
    }
    for (int e = 0; e < kElements; ++e) node.value[e] = (a[e] + b[e]) + b[e];
    if (!node.out.Read(std::span<float>(actual)).ok()) return false;
    if (std::memcmp(actual, node.value, sizeof(actual)) == 0) return true;
    std::printf("node %zu: %s, expected %g ...\n", index,
                node.out.Format().c_str(), node.value[0]);
    return false;
  }

  World& world_;
  Random random_;
  std::vector<Node> nodes_;
  std::vector<Barrier> barriers_;
  takt::Fence root_;
};

// "--name=5", else `otherwise`.
uint64_t Flag(int argc, char** argv, const char* name, uint64_t otherwise) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], name, std::strlen(name)) == 0) {
      return std::strtoull(argv[i] + std::strlen(name), nullptr, 10);
    }
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t dags = Flag(argc, argv, "--dags=", 100);
  const uint64_t seed = Flag(argc, argv, "--seed=", 1);
  const uint64_t workers = Flag(argc, argv, "--workers=", UINT64_MAX);
  const uint64_t dags_of_a_world = std::clamp<uint64_t>(dags / 4, 1, 100);
  uint64_t wrong = 0;
  Counts counts;
  for (uint64_t first = 0; first < dags; first += dags_of_a_world) {
    const uint64_t worker_count =
        workers != UINT64_MAX ? workers : first / dags_of_a_world % 4;
    World world(static_cast<int>(worker_count));
    for (uint64_t i = first; i < dags && i < first + dags_of_a_world; ++i) {
      Graph graph(world, seed + i);
      const bool is_right = graph.Run();
      graph.Count(&counts);
      if (is_right) continue;
      ++wrong;
      std::printf("wrong: --dags=1 --seed=%llu --workers=%llu\n",
                  static_cast<unsigned long long>(seed + i),
                  static_cast<unsigned long long>(worker_count));
    }
  }
  std::printf(
      "%llu graphs, %llu wrong; calls: %llu good, %llu failed, "
      "%llu cancelled\n",
      static_cast<unsigned long long>(dags),
      static_cast<unsigned long long>(wrong),
      static_cast<unsigned long long>(counts.good),
      static_cast<unsigned long long>(counts.failed),
      static_cast<unsigned long long>(counts.cancelled));
  // A run without any outcome of one kind has not tested that kind.
  const bool is_full =
      counts.good > 0 && counts.failed > 0 && counts.cancelled > 0;
  return wrong == 0 && (is_full || dags < 20) ? 0 : 1;
}
