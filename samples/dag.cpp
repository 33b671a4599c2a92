// The same as dag.c in C++20: issues five calls, ordered by three fences,
// before any of them can run.
//
//   dag_cpp dag.cpu.async.vmfb [order, such as 43210]
#include <cstdio>
#include <string>
#include <takt/takt.hpp>
#include <vector>

int main(int argc, char** argv) {
  auto instance = takt::Instance::Create().value();
  auto device = takt::Device::Create(instance, "local-task").value();
  auto module =
      takt::Module::Load(instance, argc > 1 ? argv[1] : "dag.cpu.async.vmfb")
          .value();
  auto context = takt::Context::Create(instance, {module}, {device}).value();

  const float data[4] = {1, 2, 3, 4};
  std::vector<takt::BufferView> tensors;  // p, q, u, v, w, x, y
  for (int i = 0; i < 7; ++i) {
    tensors.push_back(takt::BufferView::Copy<float>(device, {4}, data).value());
  }
  auto a = takt::Fence::Create().value();
  auto b = takt::Fence::Create().value();
  auto c = takt::Fence::CreateBarrier(4).value();  // fn1 to fn4 signal it.

  const struct {
    std::string name;
    int input, output;
    takt::Fence wait, signal;
  } calls[5] = {{"fn0", 0, 2, a, b},   // u = 2 p
                {"fn1", 2, 3, b, c},   // v = u + 1
                {"fn2", 2, 4, b, c},   // w = u u
                {"fn3", 1, 5, {}, c},  // x = -q, waits for nothing
                {"fn4", 0, 6, a, c}};  // y = p - 1
  for (char digit : std::string(argc > 2 ? argv[2] : "01234")) {
    const auto& call = calls[digit - '0'];
    auto function = context.FindFunction(call.name).value();
    takt::AsyncInvoke(function, {tensors[call.input], tensors[call.output]},
                      {.wait = call.wait, .signal = call.signal})
        .value();
  }
  if (!a.Signal().ok() || !c.Wait(instance).ok()) return 1;
  for (int i = 3; i < 7; ++i) {
    std::printf("%s\n", tensors[i].Format().c_str());
  }
  return 0;
}
