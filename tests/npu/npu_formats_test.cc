// What the device of a unit loads: programs, their container, imports. Whole
// modules are run by tests/api/npu_test.c.
#include "npu/npu_formats.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "npu/host_driver.h"
#include "npu/program_container.h"
#include "npu/request_executable.h"
#include "tests/npu/assembler.h"
#include "tests/support/allocation_faults.h"

namespace takt::npu {
namespace {

using testing::HasSubstr;

// What the imports of a driver are given.
int driver_contexts[2];

class NpuFormatsTest : public testing::Test {
 protected:
  void SetUp() override {
    NpuUnit::Options options;
    options.time = std::make_shared<VirtualTime>();
    auto unit = NpuUnit::Open(HostDriver(), options);
    ASSERT_TRUE(unit.ok()) << unit.status();
    formats_ = std::make_unique<NpuFormats>(*std::move(unit), false);
  }
  auto Load(const std::vector<uint8_t>& bytes) {
    return formats_->Load(NpuFormats::kFormat, bytes, nullptr, {});
  }
  std::unique_ptr<NpuFormats> formats_;
};

TEST_F(NpuFormatsTest, TakesItsFormatsOnly) {
  EXPECT_TRUE(formats_->Takes("npu-fb"));
  EXPECT_TRUE(formats_->Takes("vmvx-bytecode-fb"));
  EXPECT_FALSE(formats_->Takes("embedded-elf-x86_64"));
  EXPECT_TRUE(formats_->is_exclusive());
}

TEST_F(NpuFormatsTest, RunsAProgramOnceADispatch) {
  Assembler assembler;
  assembler.Function("add_one", 0, 1)
      .Add(Opcode::kLoad, {0, 0, 4, 1, 4, 0, 4})
      .Add(Opcode::kFill, {4, 1, 1})
      .Add(Opcode::kElementwise, {0, 0, 4, 0, 1})
      .Add(Opcode::kStore, {0, 0, 4, 1, 4, 0, 4});
  auto code = Load(assembler.Assemble());
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_EQ((*code)->functions().size(), 1u);
  EXPECT_EQ((*code)->functions()[0].name, "add_one");
  EXPECT_TRUE((*code)->functions()[0].is_sequential);

  alignas(64) uint32_t words[16] = {41};
  void* const bindings[] = {words};
  const size_t lengths[] = {sizeof(words)};
  cpu::DispatchArguments arguments;
  arguments.workgroup_count = {3, 1, 1};
  arguments.bindings = bindings;
  arguments.binding_lengths = lengths;
  arguments.binding_count = 1;
  exec::Worker worker;
  ASSERT_TRUE((*code)->RunWorkgroups(0, arguments, 0, 2, worker).ok());
  ASSERT_TRUE((*code)->RunWorkgroups(0, arguments, 2, 3, worker).ok());
  EXPECT_EQ(words[0], 42u);
}

// Executables of one import that are loaded over and over share what the device
// keeps of it.
TEST_F(NpuFormatsTest, ImportsAreKeptOnce) {
  takt_npu_driver_t driver = *HostDriver();
  driver.find_import = [](void*, const char* name, takt_npu_import_t* function,
                          void** context) {
    *function = [](void*, void*, void*) { return 0; };
    *context = name[0] == 'a' ? &driver_contexts[0] : &driver_contexts[1];
    return TAKT_NPU_RESULT_OK;
  };
  NpuUnit::Options options;
  options.time = std::make_shared<VirtualTime>();
  auto unit = NpuUnit::Open(&driver, options);
  ASSERT_TRUE(unit.ok()) << unit.status();
  NpuFormats formats(*std::move(unit), false);
  const auto first = formats.Resolve("a");
  const auto again = formats.Resolve("a");
  const auto other = formats.Resolve("b");
  ASSERT_TRUE(first.has_value() && again.has_value() && other.has_value());
  EXPECT_EQ(again->context, first->context);
  EXPECT_NE(other->context, first->context);
}

TEST(ScopedUrgencyTest, IsThatOfTheInnermostJob) {
  EXPECT_EQ(NpuRequestScope::Current().priority, Urgency().priority);
  exec::JobTraits traits;
  traits.lane = 6;
  traits.deadline_ns = 77;
  {
    const NpuRequestScope outer(UrgencyOf(&traits));
    EXPECT_EQ(NpuRequestScope::Current().priority, 6 * 32);
    EXPECT_EQ(NpuRequestScope::Current().deadline_ns, 77);
    {
      const NpuRequestScope inner(UrgencyOf(nullptr));
      EXPECT_EQ(NpuRequestScope::Current().priority, 128);
    }
    EXPECT_EQ(NpuRequestScope::Current().priority, 6 * 32);
  }
  EXPECT_EQ(NpuRequestScope::Current().deadline_ns, kInfiniteFuture);
}

// A program that was loaded, but could not be kept, is unloaded.
TEST_F(NpuFormatsTest, LosesNoProgramWithoutMemory) {
  static int loaded_count;
  loaded_count = 0;
  takt_npu_driver_t driver = *HostDriver();
  driver.load_program = [](void* unit, const uint8_t* data, size_t byte_length,
                           uint64_t* out_program) {
    const takt_npu_result_t result =
        HostDriver()->load_program(unit, data, byte_length, out_program);
    loaded_count += result == TAKT_NPU_RESULT_OK;
    return result;
  };
  driver.unload_program = [](void* unit, uint64_t program) {
    HostDriver()->unload_program(unit, program);
    --loaded_count;
  };
  NpuUnit::Options options;
  options.time = std::make_shared<VirtualTime>();
  auto unit = NpuUnit::Open(&driver, options);
  ASSERT_TRUE(unit.ok()) << unit.status();
  NpuFormats formats(*std::move(unit), false);
  Assembler assembler;
  assembler.Function("fill", 0, 1).Add(Opcode::kFill, {4, 1, 1});
  const std::vector<uint8_t> bytes = assembler.Assemble();
  bool is_hit = true;
  for (int64_t first = 0; is_hit; ++first) {
    try {
      const AllocationFault fault(first);
      formats.Load(NpuFormats::kFormat, bytes, nullptr, {}).IgnoreError();
    } catch (const std::bad_alloc&) {
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_EQ(loaded_count, 0) << "allocation " << first;
  }
  EXPECT_TRUE(formats.Load(NpuFormats::kFormat, bytes, nullptr, {}).ok());
}

TEST_F(NpuFormatsTest, ReportsTheFailure) {
  Assembler assembler;
  assembler.Function("outside", 0, 1)
      .Add(Opcode::kLoad, {0, 0, 64, 2, 64, 0, 64});
  auto code = Load(assembler.Assemble());
  ASSERT_TRUE(code.ok()) << code.status();
  alignas(64) uint32_t words[16] = {};
  void* const bindings[] = {words};
  const size_t lengths[] = {sizeof(words)};
  cpu::DispatchArguments arguments;
  arguments.bindings = bindings;
  arguments.binding_lengths = lengths;
  arguments.binding_count = 1;
  exec::Worker worker;
  const absl::Status status =
      (*code)->RunWorkgroups(0, arguments, 0, 1, worker);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("outside"));
}

TEST_F(NpuFormatsTest, RefusesBytesThatAreNoProgram) {
  const std::string text = "NPU-PROGRAM-BYTES-v1";
  auto code = Load({text.begin(), text.end()});
  EXPECT_EQ(code.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(code.status().message()),
              HasSubstr("20 bytes that are no program"));
  const uint32_t constants[] = {1};
  code = formats_->Load(NpuFormats::kFormat, {}, nullptr, constants);
  EXPECT_EQ(code.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(NpuFormatsTest, ResolvesTheDriversImports) {
  auto import = formats_->Resolve("npu_matmul_i8");
  ASSERT_TRUE(import.has_value());
  const int8_t left[] = {1, 2, 3, 4, 5, 6};    // 2x3
  const int8_t right[] = {1, -1, 2, 0, 3, 5};  // 3x2
  int32_t out[4] = {};
  struct {
    int32_t result = 7;
    const void* left;
    int64_t left_offset = 0;
    const void* right;
    int64_t right_offset = 0;
    void* out;
    int64_t out_offset = 0;
    int64_t m = 2, n = 2, k = 3;
  } parameters;
  parameters.left = left;
  parameters.right = right;
  parameters.out = out;
  EXPECT_EQ(import->function(&parameters, import->context, nullptr), 0);
  EXPECT_EQ(parameters.result, 0);
  EXPECT_THAT(out, testing::ElementsAre(14, 14, 32, 26));
  EXPECT_FALSE(formats_->Resolve("no_such").has_value());
}

// A container as the compiler makes it: a header, and a FlatBuffer with one
// object file in it.
std::vector<uint8_t> MakeContainer(const std::vector<uint8_t>& object) {
  std::vector<uint8_t> bytes(64);
  std::memcpy(bytes.data(), "CDA1", 4);
  const auto word = [&bytes](uint32_t value) {
    const auto* const from = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), from, from + 4);
  };
  word(16);           // 0: the root table
  word(0);            // 4
  word(8 | 8 << 16);  // 8: its fields' places: two, and one field
  word(0 | 4 << 16);  // 12: no field 0; field 1 at 4
  word(8);            // 16: root; the fields are 8 before
  word(4);            // 20: field 1: vector at 24
  word(1);            // 24: of one
  word(12);           // 28: table at 40
  word(6 | 8 << 16);  // 32: that one's fields
  word(4);            // 36: field 0 at 4
  word(8);            // 40: table
  word(4);            // 44: field 0: bytes at 48
  word(static_cast<uint32_t>(object.size()));  // 48
  bytes.insert(bytes.end(), object.begin(), object.end());
  const uint64_t length = bytes.size() - 64;
  std::memcpy(bytes.data() + 8, &length, 8);
  return bytes;
}

TEST(ProgramContainerTest, FindsTheObjectFile) {
  const std::vector<uint8_t> object = {1, 2, 3, 4, 5};
  const std::vector<uint8_t> bytes = MakeContainer(object);
  ASSERT_TRUE(IsProgramContainer(bytes));
  auto found = ReadProgramContainer(bytes);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(std::vector<uint8_t>(found->begin(), found->end()), object);
}

TEST(ProgramContainerTest, RefusesOneThatIsCutOff) {
  const std::vector<uint8_t> bytes = MakeContainer({1, 2, 3, 4, 5});
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(ReadProgramContainer({bytes.data(), length}).ok()) << length;
  }
}

TEST(ProgramContainerTest, SurvivesChangedBytes) {
  const std::vector<uint8_t> good = MakeContainer({1, 2, 3, 4, 5});
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    std::vector<uint8_t> bytes = good;
    bytes[random.Below(static_cast<uint32_t>(bytes.size()))] =
        static_cast<uint8_t>(random.Next());
    auto found = ReadProgramContainer(bytes);
    if (found.ok() && !found->empty()) {
      EXPECT_GE(found->data(), bytes.data());
      EXPECT_LE(found->data() + found->size(), bytes.data() + bytes.size());
    }
  }
}

}  // namespace
}  // namespace takt::npu
