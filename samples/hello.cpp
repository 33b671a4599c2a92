// The same as hello.c in C++20: destructors release the objects, and value()
// ends the program with the text of the error.
//
//   hello_cpp simple_mul.vmfb
#include <cstdio>
#include <takt/takt.hpp>

int main(int argc, char** argv) {
  auto instance = takt::Instance::Create().value();
  auto device = takt::Device::Create(instance, "local-task").value();
  auto module =
      takt::Module::Load(instance, argc > 1 ? argv[1] : "simple_mul.vmfb")
          .value();
  auto context = takt::Context::Create(instance, {module}, {device}).value();
  auto mul = context.FindFunction("simple.mul").value();

  const float data[4] = {1, 2, 3, 4};
  auto view = takt::BufferView::Copy<float>(device, {4}, data).value();
  auto output = mul.Invoke(view, view).value();
  for (float element : output[0].view().ToVector<float>().value()) {
    std::printf("%g ", element);  // 1 4 9 16
  }
  std::printf("\n");
  return 0;
}
