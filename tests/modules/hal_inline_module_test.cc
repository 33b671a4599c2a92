#include "modules/hal_inline_module.h"

#include <cstring>
#include <map>

#include "tests/modules/hal_calls.h"

namespace takt::modules {
namespace {

class HalInlineModuleTest : public testing::Test {
 protected:
  void SetUp() override { Link(calls_.options.devices); }

  void Link(const std::vector<Ref<hal::Device>>& devices) {
    HalInlineModuleOptions options;
    options.devices = devices;
    options.trace_sink = calls_.options.trace_sink;
    auto module = CreateHalInlineModule(calls_.types, options);
    TAKT_ASSERT_OK(module);
    TAKT_ASSERT_OK(calls_.Link("hal_inline", {*module}));
  }

  struct Pair {
    Ref<hal::Buffer> buffer;
    Ref<vm::ByteBuffer> storage;
  };
  template <typename... Args>
  absl::StatusOr<Pair> CallForPair(const std::string& import,
                                   const Args&... args) {
    TAKT_ASSIGN_OR_RETURN(std::vector<vm::Value> results,
                          calls_.Call(import, args...));
    Pair pair;
    pair.buffer =
        Ref<hal::Buffer>::Retain(DynCast<hal::Buffer>(results.at(0).ref()));
    pair.storage = Ref<vm::ByteBuffer>::Retain(
        DynCast<vm::ByteBuffer>(results.at(1).ref()));
    return pair;
  }
  absl::StatusOr<Pair> Allocate(int32_t alignment, uint64_t length) {
    return CallForPair("hal_inline.buffer.allocate", alignment, length);
  }
  absl::StatusOr<Ref<vm::ByteBuffer>> StorageOf(
      const Ref<hal::Buffer>& buffer) {
    return calls_.CallRef<vm::ByteBuffer>("hal_inline.buffer.storage", buffer);
  }
  absl::StatusOr<Ref<hal::Buffer>> Wrap(const Ref<vm::ByteBuffer>& source,
                                        uint64_t offset, uint64_t length) {
    return calls_.CallRef<hal::Buffer>("hal_inline.buffer.wrap", source, offset,
                                       length);
  }

  HalCalls calls_;
};

TEST_F(HalInlineModuleTest, ExportsEveryImportWithItsConvention) {
  const std::map<std::string, std::string> expected = {
      {"buffer.allocate", "0iI_rr"},
      {"buffer.allocate.initialized", "0irII_rr"},
      {"buffer.wrap", "0rII_r"},
      {"buffer.subspan", "0rII_r"},
      {"buffer.length", "0r_I"},
      {"buffer.storage", "0r_r"},
      {"buffer_view.create", "0rIIiiCID_r"},
      {"buffer_view.assert", "0rriiCID_v"},
      {"buffer_view.buffer", "0r_r"},
      {"buffer_view.element_type", "0r_i"},
      {"buffer_view.encoding_type", "0r_i"},
      {"buffer_view.rank", "0r_i"},
      {"buffer_view.dim", "0ri_I"},
      {"buffer_view.trace", "0rCrD_v"},
      {"device.query.i64", "0rr_iI"},
  };
  auto module = CreateHalInlineModule(calls_.types, {});
  TAKT_ASSERT_OK(module);
  EXPECT_EQ((*module)->name(), "hal_inline");
  EXPECT_EQ((*module)->version(), 0u);
  std::map<std::string, std::string> exported;
  for (const vm::ExportInfo& info : (*module)->exports()) {
    exported[info.name] = info.convention.text;
  }
  EXPECT_EQ(exported, expected);
}

TEST_F(HalInlineModuleTest, RejectsANullDevice) {
  HalInlineModuleOptions options;
  options.devices = {nullptr};
  EXPECT_THAT(CreateHalInlineModule(calls_.types, options),
              FailsWith(kInvalid, "hal_inline: device 0 is null"));
}

TEST_F(HalInlineModuleTest, AllocateGivesABufferAndItsBytes) {
  auto pair = Allocate(64, 100);
  TAKT_ASSERT_OK(pair);
  EXPECT_EQ(pair->buffer->byte_length(), 100u);
  EXPECT_EQ(pair->storage->byte_length(), 100u);
  EXPECT_EQ(pair->storage->data(), pair->buffer->data());
  EXPECT_TRUE(pair->storage->is_mutable());
  EXPECT_EQ(pair->buffer->access(), hal::kAccessAll);
  EXPECT_EQ(*calls_.CallI64("hal_inline.buffer.length", pair->buffer), 100);
  TAKT_ASSERT_OK(Allocate(64, 0));
}

TEST_F(HalInlineModuleTest, AllocateTakesItsMemoryFromTheDevice) {
  const uint64_t before =
      calls_.device().allocation_statistics().bytes_reserved;
  auto pair = Allocate(64, 1000);
  TAKT_ASSERT_OK(pair);
  EXPECT_GE(calls_.device().allocation_statistics().bytes_reserved,
            before + 1000);
}

TEST_F(HalInlineModuleTest, AllocateKeepsToTheAlignment) {
  for (int32_t alignment : {0, 1, 16, 64, 128, 4096}) {
    auto pair = Allocate(alignment, 10);
    TAKT_ASSERT_OK(pair);
    const auto address = reinterpret_cast<uintptr_t>(pair->buffer->data());
    EXPECT_EQ(address % 64, 0u);
    if (alignment != 0) {
      EXPECT_EQ(address % static_cast<uintptr_t>(alignment), 0u) << alignment;
    }
    EXPECT_EQ(pair->buffer->byte_length(), 10u);
  }
  for (int32_t alignment : {3, 96, 8192, -64}) {
    EXPECT_THAT(Allocate(alignment, 10),
                FailsWith(kInvalid, "minimum_alignment: expected a power"));
  }
}

TEST_F(HalInlineModuleTest, AllocateRefusesAbsurdSizes) {
  for (uint64_t size : {kRest, kRest - 100, uint64_t{1} << 62}) {
    for (int32_t alignment : {64, 4096}) {
      EXPECT_THAT(Allocate(alignment, size),
                  FailsWith(absl::StatusCode::kResourceExhausted, ""));
    }
  }
}

TEST_F(HalInlineModuleTest, AllocateInitializedCopiesTheRange) {
  auto pair =
      CallForPair("hal_inline.buffer.allocate.initialized", int32_t{64},
                  ConstantBytes("0123456789"), uint64_t{2}, uint64_t{5});
  TAKT_ASSERT_OK(pair);
  EXPECT_EQ(pair->storage->text(), "23456");
  EXPECT_TRUE(pair->storage->is_mutable());
  for (uint64_t length : {uint64_t{9}, kRest - 1}) {
    EXPECT_THAT(
        CallForPair("hal_inline.buffer.allocate.initialized", int32_t{64},
                    ConstantBytes("0123456789"), uint64_t{2}, length),
        FailsWith(kOutOfRange, "within its 10 bytes"));
  }
}

TEST_F(HalInlineModuleTest, WrapSharesTheBytes) {
  const auto source = MutableBytes("0123456789");
  auto buffer = Wrap(source, 2, 5);
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ((*buffer)->data(), source->data() + 2);
  EXPECT_EQ((*buffer)->byte_length(), 5u);
  EXPECT_EQ((*buffer)->access(), hal::kAccessAll);
  EXPECT_THAT(Wrap(source, 2, 9), FailsWith(kOutOfRange, "within its 10"));
}

TEST_F(HalInlineModuleTest, WrapOfConstantsIsReadOnly) {
  auto buffer = Wrap(ConstantBytes("0123456789"), 0, 10);
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ((*buffer)->access(), hal::kAccessRead);
  auto storage = StorageOf(*buffer);
  TAKT_ASSERT_OK(storage);
  EXPECT_FALSE((*storage)->is_mutable());
  EXPECT_EQ((*storage)->text(), "0123456789");
}

// Kernels need aligned bytes, so that only constants can be had from anywhere.
TEST_F(HalInlineModuleTest, WrapCopiesConstantsThatAreNotAligned) {
  const auto view = [](const Ref<vm::ByteBuffer>& bytes, bool is_mutable) {
    return vm::ByteBuffer::Wrap(bytes, bytes->data() + 1, 9, is_mutable);
  };
  auto buffer = Wrap(view(ConstantBytes("0123456789"), false), 1, 3);
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ(calls_.TextOf(**buffer), "234");
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % 64, 0u);
  EXPECT_THAT(Wrap(view(MutableBytes("0123456789"), true), 1, 3),
              FailsWith(kInvalid, "1 bytes past one"));
}

TEST_F(HalInlineModuleTest, StorageIsTheRangeOfTheBuffer) {
  auto part = calls_.CallRef<hal::Buffer>("hal_inline.buffer.subspan",
                                          calls_.BufferOf("0123456789"),
                                          uint64_t{3}, uint64_t{4});
  TAKT_ASSERT_OK(part);
  auto storage = StorageOf(*part);
  TAKT_ASSERT_OK(storage);
  EXPECT_EQ((*storage)->text(), "3456");
  EXPECT_TRUE((*storage)->is_mutable());
}

TEST_F(HalInlineModuleTest, StorageOfAReadOnlyBufferIsReadOnly) {
  auto storage = StorageOf(calls_.BufferOf("text", hal::kAccessRead));
  TAKT_ASSERT_OK(storage);
  EXPECT_FALSE((*storage)->is_mutable());
  EXPECT_THAT(StorageOf(calls_.BufferOf("text", hal::kAccessWrite)),
              FailsWith(kDenied, "hal_inline.buffer.storage"));
}

TEST_F(HalInlineModuleTest, StorageKeepsMemoryThatIsDiscarded) {
  auto pair = Allocate(64, 100);
  TAKT_ASSERT_OK(pair);
  std::memset(pair->storage->data(), 'x', 100);
  EXPECT_TRUE(pair->buffer->storage()->Discard());
  auto other = Allocate(64, 100);
  TAKT_ASSERT_OK(other);
  EXPECT_NE(other->storage->data(), pair->storage->data());
  EXPECT_EQ(pair->storage->text(), std::string(100, 'x'));
  EXPECT_THAT(StorageOf(pair->buffer), FailsWith(kPrecondition, "no memory"));
}

TEST_F(HalInlineModuleTest, ViewsAreThoseOfHal) {
  auto pair = Allocate(64, 24);
  TAKT_ASSERT_OK(pair);
  auto view = calls_.CallRef<hal::BufferView>(
      "hal_inline.buffer_view.create/2", pair->buffer, uint64_t{0},
      uint64_t{24}, kF32, kDense, int64_t{2}, int64_t{3});
  TAKT_ASSERT_OK(view);
  EXPECT_EQ(*calls_.CallI32("hal_inline.buffer_view.rank", *view), 2);
  EXPECT_EQ(*calls_.CallI64("hal_inline.buffer_view.dim", *view, int32_t{1}),
            3);
  EXPECT_EQ(*calls_.CallI32("hal_inline.buffer_view.element_type", *view),
            kF32);
  EXPECT_EQ(*calls_.CallI32("hal_inline.buffer_view.encoding_type", *view),
            kDense);
  auto buffer =
      calls_.CallRef<hal::Buffer>("hal_inline.buffer_view.buffer", *view);
  TAKT_ASSERT_OK(buffer);
  EXPECT_EQ(buffer->get(), pair->buffer.get());
  TAKT_ASSERT_OK(calls_.Call("hal_inline.buffer_view.assert/2", *view, "x",
                             kF32, kDense, int64_t{2}, int64_t{3}));
  EXPECT_THAT(calls_.Call("hal_inline.buffer_view.assert/2", *view, "x", kF32,
                          kDense, int64_t{2}, int64_t{4}),
              FailsWith(kInvalid, "x: dimension 1"));
  std::memset(pair->buffer->data(), 0, 24);
  TAKT_ASSERT_OK(calls_.Call("hal_inline.buffer_view.trace/1", "key", *view));
  EXPECT_EQ(calls_.trace, "=== key ===\n2x3xf32=[0 0 0][0 0 0]\n\n");
}

TEST_F(HalInlineModuleTest, QueriesGoToTheFirstDevice) {
  const auto query = [&](const char* category, const char* key) {
    auto results = calls_.Call("hal_inline.device.query.i64", category, key);
    EXPECT_TRUE(results.ok()) << results.status();
    return std::make_pair(results->at(0).i32(), results->at(1).i64());
  };
  EXPECT_EQ(query("hal.device.id", "local*"), std::make_pair(1, int64_t{1}));
  EXPECT_EQ(query("hal.device.id", "npu*"), std::make_pair(1, int64_t{0}));
  EXPECT_EQ(query("hal.executable.format", "vmvx-bytecode-fb"),
            std::make_pair(1, int64_t{1}));
  EXPECT_EQ(query("no", "such"), std::make_pair(0, int64_t{0}));
  Link({});
  EXPECT_EQ(query("hal.device.id", "local*"), std::make_pair(0, int64_t{0}));
}

TEST_F(HalInlineModuleTest, WorksWithoutDevices) {
  Link({});
  auto pair = Allocate(128, 100);
  TAKT_ASSERT_OK(pair);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pair->storage->data()) % 128, 0u);
  EXPECT_EQ(pair->storage->text(), std::string(100, '\0'));
  TAKT_ASSERT_OK(Wrap(pair->storage, 0, 100));
}

TEST_F(HalInlineModuleTest, NeedsItsOperands) {
  EXPECT_THAT(StorageOf(nullptr), FailsWith(kInvalid, "hal.buffer"));
  EXPECT_THAT(Wrap(nullptr, 0, 0), FailsWith(kInvalid, "vm.buffer"));
  EXPECT_THAT(calls_.Call("hal_inline.buffer.allocate.initialized", int32_t{0},
                          nullptr, uint64_t{0}, uint64_t{0}),
              FailsWith(kInvalid, "vm.buffer"));
}

}  // namespace
}  // namespace takt::modules
