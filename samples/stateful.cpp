// The same as stateful.c in C++20: calls of a program with state, issued
// without a fence, take effect in the order of issue.
//
//   stateful_cpp state.cpu.async.vmfb
#include <cstdio>
#include <takt/takt.hpp>
#include <vector>

int main(int argc, char** argv) {
  auto instance = takt::Instance::Create().value();
  auto device = takt::Device::Create(instance, "local-task").value();
  auto module =
      takt::Module::Load(instance, argc > 1 ? argv[1] : "state.cpu.async.vmfb")
          .value();
  const float data[4][4] = {
      {1, 2, 3, 4}, {0, 1, 1, 0}, {2, 0, 0, 1}, {1, 1, 0, 1}};
  std::vector<takt::BufferView> x;
  for (const auto& matrix : data) {
    x.push_back(takt::BufferView::Copy<float>(device, {2, 2}, matrix).value());
  }
  std::vector<takt::Invocation> gets;
  for (int i = 0; i < 2; ++i) {  // Two contexts have a state each.
    auto context = takt::Context::Create(instance, {module}, {device}).value();
    auto matmul = context.FindFunction("matmul").value();
    takt::AsyncInvoke(context.FindFunction("set").value(), {x[0]}).value();
    for (int j = 1; j < 4; ++j) {
      takt::AsyncInvoke(matmul, {x[i ? 4 - j : j]}).value();
    }
    gets.push_back(
        takt::AsyncInvoke(context.FindFunction("get").value(), {}).value());
  }
  for (const takt::Invocation& get : gets) {  // x a b c, then x c b a
    std::printf("%s\n", get.Get().value()[0].view().Format().c_str());
  }
  return 0;
}
