// Takt as the back end of a graph runtime, on the CPU and on an NPU. The
// runtime's tensors lie in its own memory; Takt's calls read and write them
// there, without copies. Takt's memory comes from the runtime's allocator, and
// the runtime can cancel a call.
//
//   embed_runtime either_way.vmfb
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <takt/npu.hpp>
#include <takt/takt.hpp>
#include <thread>
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

// The runtime's allocator: it counts what is in use.
class Memory {
 public:
  void* Allocate(size_t byte_length, size_t alignment) {
    in_use_ += byte_length;
    return ::operator new(byte_length, std::align_val_t(alignment),
                          std::nothrow);
  }
  void Free(void* data, size_t byte_length, size_t alignment) {
    in_use_ -= byte_length;
    ::operator delete(data, std::align_val_t(alignment));
  }
  // Returns the bytes that are in use in the end. A call that is ending may
  // hold the last reference to the instance for a moment, so this waits a
  // second for all to come back.
  size_t Settle() const {
    for (int i = 0; i < 1000 && in_use_ != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return in_use_;
  }

  takt_allocator_t ForTakt() {
    return {
        .user_data = this,
        .allocate =
            [](void* self, size_t byte_length, size_t alignment) {
              return static_cast<Memory*>(self)->Allocate(byte_length,
                                                          alignment);
            },
        .free =
            [](void* self, void* data, size_t byte_length, size_t alignment) {
              static_cast<Memory*>(self)->Free(data, byte_length, alignment);
            }};
  }

 private:
  std::atomic<size_t> in_use_ = 0;  // Takt's threads allocate as well.
};

// A tensor of the runtime.
class Tensor {
 public:
  Tensor(Memory& memory, takt_element_type_t type, size_t element_bytes,
         std::vector<int64_t> shape)
      : memory_(memory), type_(type), shape_(std::move(shape)) {
    byte_length_ = element_bytes;
    for (const int64_t size : shape_) byte_length_ *= size_t(size);
    data_ = memory_.Allocate(byte_length_, TAKT_BUFFER_ALIGNMENT);
    if (data_ == nullptr) std::abort();
  }
  ~Tensor() { memory_.Free(data_, byte_length_, TAKT_BUFFER_ALIGNMENT); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  template <typename T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), byte_length_ / sizeof(T)};
  }
  // The same memory as Takt sees it.
  takt::BufferView ViewOn(const takt::Device& device) const {
    auto buffer = Take(takt::Buffer::Wrap(device, as<uint8_t>()));
    return Take(takt::BufferView::Create(buffer, type_, shape_));
  }

 private:
  Memory& memory_;
  takt_element_type_t type_;
  std::vector<int64_t> shape_;
  size_t byte_length_;
  void* data_;
};

// The graph: nodes in the order in which they run. A node is a function of the
// runtime or one of a back end.
using Graph = std::vector<std::function<void()>>;

// A compiled function as a node.
class TaktNode {
 public:
  TaktNode(takt::Instance instance, const std::string& path, bool with_npu)
      : instance_(std::move(instance)) {
    device_ = Take(takt::Device::Create(instance_, "local-task"));
    std::vector<takt::Device> devices = {device_};
    if (with_npu) {
      takt::NpuOptions options;
      options->may_route_to_cpu = false;
      npu_ =
          Take(takt::Npu::Create(instance_, takt_npu_host_driver(), options));
      devices.push_back(npu_);
    }
    auto module = Take(takt::Module::Load(instance_, path));
    context_ = Take(takt::Context::Create(instance_, {module}, devices));
    function_ = Take(context_.FindFunction("run"));
  }

  // The views are made once; then a call allocates no memory for its tensors.
  void Bind(std::initializer_list<const Tensor*> inputs, const Tensor& output) {
    for (const Tensor* input : inputs) {
      arguments_.emplace_back(input->ViewOn(device_));
    }
    output_ = output.ViewOn(device_);
  }
  void Run() {
    const takt_result_buffer_t result = {0, output_.get()};
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.result_buffer_count = 1;
    options.result_buffers = &result;
    Check(function_.Invoke(arguments_, results_, &options));
  }
  // A call that waits for a tensor which is not there yet.
  takt::Invocation Begin(takt::Fence ready) {
    return Take(takt::AsyncInvoke(function_, arguments_, {.wait = ready}));
  }
  takt_binding_statistics_t bindings() const {
    return function_.binding_statistics();
  }
  uint64_t npu_operation_count() const {
    takt_npu_statistics_t statistics = {};
    statistics.struct_size = sizeof(statistics);
    takt_npu_device_statistics(npu_.get(), &statistics);
    return statistics.operation_count;
  }

 private:
  takt::Instance instance_;
  takt::Device device_, npu_;
  takt::Context context_;
  takt::Function function_;
  takt::BufferView output_;
  std::vector<takt::Value> arguments_;
  std::vector<takt::Value> results_{1};
};

void RunOn(Memory& memory, const std::string& path, bool with_npu) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.allocator = memory.ForTakt();
  auto instance = Take(takt::Instance::Create(&options));
  Tensor x(memory, TAKT_ELEMENT_I8, 1, {64, 256});
  Tensor weights(memory, TAKT_ELEMENT_I8, 1, {256, 128});
  Tensor product(memory, TAKT_ELEMENT_I32, 4, {64, 128});
  std::ranges::fill(weights.as<int8_t>(), int8_t{3});
  TaktNode matmul(instance, path, with_npu);
  matmul.Bind({&x, &weights}, product);
  int32_t largest = 0;
  const Graph graph = {
      [&] { std::ranges::fill(x.as<int8_t>(), int8_t{2}); },
      [&] { matmul.Run(); },
      [&] { largest = std::ranges::max(product.as<int32_t>()); },
  };
  for (int run = 0; run < 3; ++run) {
    std::ranges::fill(product.as<int32_t>(), 0);
    for (const auto& node : graph) node();
  }
  // Takt learns in the first call which allocation the result is.
  const takt_binding_statistics_t bindings = matmul.bindings();
  std::printf("%s: %d, %s\n", with_npu ? "npu" : "cpu", largest,
              bindings.in_place_count == 2 ? "in place" : "copied");
  if (with_npu) {
    std::printf("the npu ran %s\n",
                matmul.npu_operation_count() > 0 ? "operations" : "nothing");
    return;
  }
  const takt::Fence never = Take(takt::Fence::Create());
  const takt::Invocation call = matmul.Begin(never);
  call.Cancel();
  std::printf("%s\n", call.Wait().code() == TAKT_STATUS_CANCELLED ? "cancelled"
                                                                  : "ran");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "either_way.vmfb";
  Memory memory;
  RunOn(memory, path, false);
  RunOn(memory, path, true);
  std::printf("in use at the end: %zu bytes\n", memory.Settle());
  return 0;
}
