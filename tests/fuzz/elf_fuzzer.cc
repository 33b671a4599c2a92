// Loads the input as an ELF image and reads the tables of its executable
// library; never calls into it. The query function would return the address of
// the library's description. Here the last four bytes of the input are its
// distance from that function.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cpu/elf_image.h"
#include "cpu/library_executable.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using takt::cpu::ElfImage;
  using takt::cpu::LibraryExecutable;
  namespace library_abi = takt::cpu::library_abi;

  auto image = ElfImage::Load({data, size});
  if (!image.ok()) return 0;
  const auto query = (*image)->FindFunction(library_abi::kQuerySymbol);
  if (!query.ok()) return 0;
  int32_t distance = 0;
  std::memcpy(&distance, data + size - sizeof(distance), sizeof(distance));
  const auto address = reinterpret_cast<uintptr_t>(*query) +
                       static_cast<uintptr_t>(intptr_t{distance});
  (void)LibraryExecutable::Create(
      *std::move(image), reinterpret_cast<const library_abi::Library*>(address),
      {}, nullptr, {});
  return 0;
}
