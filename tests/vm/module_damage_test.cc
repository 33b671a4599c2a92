// Goal: whatever happens to a module file, the reader and the verifier answer
// with a status, and what they let pass can be walked from end to end. Method:
// modules of the fuzzer's corpus and of past compilers, cut at every length,
// with every bit flipped and with every word replaced by numbers that overflow.
// Each damaged copy is a heap block of its own size, so that ASan sees a byte
// read too far.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "vm/bytecode_archive.h"
#include "vm/bytecode_verifier.h"
#include "vm/disassembler.h"

namespace takt::vm {
namespace {

using Bytes = std::vector<uint8_t>;

struct Damaged {
  const char* name;
  const char* path;        // In tests/.
  bool is_kernel = false;  // The first module in the file's rodata is meant.
};
void PrintTo(const Damaged& damaged, std::ostream* out) {
  *out << damaged.name;
}

Bytes ReadModule(const Damaged& module) {
  // The fixtures may be those of another architecture.
  const std::string_view fixtures = "testdata/";
  const std::string name = module.path;
  const std::string path =
      name.starts_with(fixtures)
          ? TAKT_TESTDATA_DIR "/" + name.substr(fixtures.size())
          : TAKT_SOURCE_DIR "/tests/" + name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  const Bytes bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  if (!module.is_kernel) return bytes;
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  EXPECT_TRUE(archive.ok()) << archive.status();
  for (const absl::Span<const uint8_t> segment : archive->rodata) {
    const Bytes kernel(segment.begin(), segment.end());
    if (BytecodeArchive::Parse(kernel).ok()) return kernel;
  }
  ADD_FAILURE() << path << ": no kernel module";
  return bytes;
}

// Reads `bytes` as loading does, and with every other reader of modules. True
// if the module would be loaded. What is accepted must also disassemble.
bool Accepts(const Bytes& bytes) {
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  if (!archive.ok()) {
    EXPECT_FALSE(archive.status().message().empty());
    return false;
  }
  archive->ReadSourceMaps();
  size_t rodata_bytes = 0;
  for (const auto& segment : archive->rodata) {
    for (uint8_t byte : segment) rodata_bytes += byte != 0;
  }
  EXPECT_LE(rodata_bytes, bytes.size() * archive->rodata.size());
  const absl::Status verified = VerifyArchive(*archive);
  for (size_t i = 0; i < archive->functions.size(); ++i) {
    const bool decodes = DisassembleFunction(*archive, i).ok();
    EXPECT_TRUE(decodes || !verified.ok());
  }
  return verified.ok();
}

// The step that samples about a thousand of `count` cases. It shares no divisor
// with bits, words and the lists of values below, so the sample has every
// combination of them.
size_t StepFor(size_t count) {
  constexpr size_t kCases = 1000;
  size_t step = count / kCases + 1;
  while (std::gcd(step, size_t{2 * 3 * 5}) != 1) ++step;
  return step;
}

class ModuleDamageTest : public ::testing::TestWithParam<Damaged> {};

TEST_P(ModuleDamageTest, UndamagedIsAccepted) {
  EXPECT_TRUE(Accepts(ReadModule(GetParam())));
}

TEST_P(ModuleDamageTest, NoTruncationOfTheTablesIsAccepted) {
  const Bytes bytes = ReadModule(GetParam());
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  const size_t tables_end =
      archive->flatbuffer.data() + archive->flatbuffer.size() - bytes.data();
  for (size_t size = 0; size < bytes.size(); size += StepFor(bytes.size())) {
    const bool accepted = Accepts(Bytes(bytes.begin(), bytes.begin() + size));
    EXPECT_FALSE(accepted && size < tables_end) << size;
  }
}

TEST_P(ModuleDamageTest, SomeFlippedBitsAreRefused) {
  const Bytes bytes = ReadModule(GetParam());
  size_t refused = 0;
  const size_t bits = bytes.size() * 8;
  for (size_t bit = 0; bit < bits; bit += StepFor(bits)) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= 1u << bit % 8;
    refused += Accepts(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, 0u);
}

TEST_P(ModuleDamageTest, SomeHostileWordsAreRefused) {
  constexpr uint32_t kValues[] = {0,          1,          0x7fffffff,
                                  0x80000000, 0xfffffffc, 0xffffffff};
  const Bytes bytes = ReadModule(GetParam());
  const size_t cases = bytes.size() / 4 * std::size(kValues);
  size_t refused = 0;
  for (size_t i = 0; i < cases; i += StepFor(cases)) {
    Bytes damaged = bytes;
    std::memcpy(damaged.data() + i / std::size(kValues) * 4,
                &kValues[i % std::size(kValues)], sizeof(uint32_t));
    refused += Accepts(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, 0u);
}

// The tables stay intact, so that the verifier decides.
TEST_P(ModuleDamageTest, SomeHostileBytecodeIsRefused) {
  constexpr uint8_t kDeltas[] = {1, 2, 0x40, 0x80, 0xff};
  const Bytes bytes = ReadModule(GetParam());
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  size_t refused = 0;
  for (const ArchiveFunction& function : archive->functions) {
    const size_t begin = function.body.data() - bytes.data();
    const size_t cases = function.body.size() * std::size(kDeltas);
    for (size_t i = 0; i < cases;
         i += StepFor(cases * archive->functions.size())) {
      Bytes damaged = bytes;
      damaged[begin + i / std::size(kDeltas)] +=
          kDeltas[i % std::size(kDeltas)];
      refused += Accepts(damaged) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 0u);
}

constexpr Damaged kModules[] = {
    {"control", "fuzz/corpus/module/control.vmfb"},
    {"refs", "fuzz/corpus/module/refs.vmfb"},
    {"kernel_matmul", "fuzz/corpus/module/kernel_matmul.vmfb"},
    {"host_async", "fuzz/corpus/module/host_async.vmfb"},
    {"host_v38", "testdata/releases/state.v38.vmvx.async.vmfb"},
    {"kernel_v38", "testdata/releases/state.v38.vmvx.async.vmfb", true},
    {"host_v310", "testdata/releases/state.v310.vmvx.async.vmfb"},
    {"kernel_v310", "testdata/releases/state.v310.vmvx.async.vmfb", true},
    {"await_v38", "testdata/releases/await.v38.vmfb"},
    {"host_v311", "testdata/releases/state.v311.cpu.vmfb"},
};
INSTANTIATE_TEST_SUITE_P(Modules, ModuleDamageTest,
                         ::testing::ValuesIn(kModules),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace takt::vm
