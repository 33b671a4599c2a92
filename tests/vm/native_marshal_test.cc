#include "vm/native_marshal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "vm/byte_buffer.h"
#include "vm/list.h"
#include "vm/module.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;

// Every kind of parameter and result that native_module.h promises.
class MarshalProbe : public ModuleState {
 public:
  absl::StatusOr<int32_t> Sum(int32_t a, uint32_t b) {
    return a + static_cast<int32_t>(b);
  }
  absl::StatusOr<std::tuple<int64_t, double, float>> Mix(int64_t a, double b,
                                                         float c) const {
    return std::make_tuple(a + 1, b * 2, -c);
  }
  absl::Status Nothing() { return absl::OkStatus(); }
  absl::StatusOr<uint64_t> Length(ByteBuffer& buffer, ByteBuffer* optional) {
    return buffer.byte_length() +
           (optional != nullptr ? optional->byte_length() : 0);
  }
  absl::StatusOr<Ref<Object>> Same(Object* any) {
    return Ref<Object>::Retain(any);
  }
  absl::Status Dims(VarArgs<int64_t> dims, int32_t last) {
    for (size_t i = 0; i < dims.size(); ++i) seen.push_back(dims[i]);
    seen.push_back(last);
    return absl::OkStatus();
  }
  absl::Status Pairs(VarArgs<int32_t, ByteBuffer&> pairs) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      const auto& [index, buffer] = pairs[i];
      seen.push_back(index);
      seen.push_back(static_cast<int64_t>(buffer.byte_length()));
    }
    return absl::OkStatus();
  }
  absl::Status Last(VarArgs<ByteBuffer*, int32_t>, int64_t, ByteBuffer&,
                    Object*, ByteBuffer*) {
    return absl::OkStatus();
  }
  absl::StatusOr<int32_t> Wait(NativeCall& call, int32_t value) {
    if (!call.resumed()) {
      call.Park();
      return 0;
    }
    return value;
  }

  std::vector<int64_t> seen;
};

// Calls an exported method without an interpreter. The invocation is only
// passed on, so none is needed.
template <auto kMethod>
class Caller {
 public:
  Caller(MarshalProbe* probe, std::vector<Slot> arguments, bool resumed = false)
      : arguments_(std::move(arguments)),
        call_(*static_cast<Invocation*>(nullptr_), probe, arguments_.data(),
              results_, resumed) {}
  absl::Status Call() { return NativeMethod<kMethod>::Call(nullptr, call_); }
  const Slot* results() const { return results_; }
  bool parked() const { return call_.parked(); }

 private:
  alignas(16) char dummy_[16] = {};
  void* nullptr_ = dummy_;
  std::vector<Slot> arguments_;
  Slot results_[4] = {};
  NativeCall call_;
};

Slot I32(int32_t value) {
  Slot slot{.i64 = -1};  // What else is in the slot must not matter.
  slot.i32 = value;
  return slot;
}
Slot I64(int64_t value) { return Slot{.i64 = value}; }
Slot OfRef(Object* ref) { return Slot{.ref = ref}; }

TEST(NativeMethodTest, ConventionFollowsSignature) {
  EXPECT_EQ(NativeMethod<&MarshalProbe::Sum>::Convention(), "0ii_i");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Mix>::Convention(), "0IFf_IFf");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Nothing>::Convention(), "0v_v");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Length>::Convention(), "0rr_I");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Same>::Convention(), "0r_r");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Dims>::Convention(), "0CIDi_v");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Pairs>::Convention(), "0CirD_v");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Last>::Convention(), "0CriDIrrr_v");
  EXPECT_EQ(NativeMethod<&MarshalProbe::Wait>::Convention(), "0i_i");
}

TEST(NativeMethodTest, ConvertsScalars) {
  MarshalProbe probe;
  Caller<&MarshalProbe::Sum> sum(&probe, {I32(-5), I32(12)});
  ASSERT_TRUE(sum.Call().ok());
  EXPECT_EQ(sum.results()[0].i32, 7);
  Slot f64{.f64 = 1.5};
  Slot f32{.i64 = 0};
  f32.f32 = 0.25f;
  Caller<&MarshalProbe::Mix> mix(&probe, {I64(int64_t{1} << 40), f64, f32});
  ASSERT_TRUE(mix.Call().ok());
  EXPECT_EQ(mix.results()[0].i64, (int64_t{1} << 40) + 1);
  EXPECT_EQ(mix.results()[1].f64, 3.0);
  EXPECT_EQ(mix.results()[2].f32, -0.25f);
}

TEST(NativeMethodTest, ChecksRefs) {
  MarshalProbe probe;
  auto buffer = *ByteBuffer::Allocate(3, 0);
  auto list = List::Create({}, 0);
  Caller<&MarshalProbe::Length> good(&probe,
                                     {OfRef(buffer.get()), OfRef(nullptr)});
  ASSERT_TRUE(good.Call().ok());
  EXPECT_EQ(good.results()[0].i64, 3);

  Caller<&MarshalProbe::Length> null(&probe, {OfRef(nullptr), OfRef(nullptr)});
  const absl::Status null_status = null.Call();
  EXPECT_EQ(null_status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(null_status.message(), "operand 0: expected vm.buffer, got null");

  Caller<&MarshalProbe::Length> wrong(&probe,
                                      {OfRef(buffer.get()), OfRef(list.get())});
  EXPECT_EQ(wrong.Call().message(),
            "operand 1: expected vm.buffer, got vm.list");
}

TEST(NativeMethodTest, HandsOverResultRefs) {
  MarshalProbe probe;
  auto buffer = *ByteBuffer::Allocate(1, 0);
  Caller<&MarshalProbe::Same> same(&probe, {OfRef(buffer.get())});
  ASSERT_TRUE(same.Call().ok());
  EXPECT_EQ(buffer->reference_count(), 2);
  Ref<Object>::Adopt(same.results()[0].ref).reset();
  EXPECT_TRUE(buffer->IsUnique());
}

TEST(NativeMethodTest, WalksSpans) {
  MarshalProbe probe;
  Caller<&MarshalProbe::Dims> dims(&probe,
                                   {I32(3), I64(4), I64(5), I64(6), I32(7)});
  ASSERT_TRUE(dims.Call().ok());
  EXPECT_THAT(probe.seen, ElementsAre(4, 5, 6, 7));
  probe.seen.clear();
  Caller<&MarshalProbe::Dims> none(&probe, {I32(0), I32(7)});
  ASSERT_TRUE(none.Call().ok());
  EXPECT_THAT(probe.seen, ElementsAre(7));
}

TEST(NativeMethodTest, ChecksRefsOfEveryTuple) {
  MarshalProbe probe;
  auto buffer = *ByteBuffer::Allocate(2, 0);
  Caller<&MarshalProbe::Pairs> good(
      &probe,
      {I32(2), I32(8), OfRef(buffer.get()), I32(9), OfRef(buffer.get())});
  ASSERT_TRUE(good.Call().ok());
  EXPECT_THAT(probe.seen, ElementsAre(8, 2, 9, 2));
  Caller<&MarshalProbe::Pairs> bad(
      &probe, {I32(2), I32(8), OfRef(buffer.get()), I32(9), OfRef(nullptr)});
  EXPECT_EQ(bad.Call().message(), "operand 0: expected vm.buffer, got null");
}

TEST(NativeMethodTest, NamesTheOperandAtFault) {
  MarshalProbe probe;
  auto buffer = *ByteBuffer::Allocate(2, 0);
  auto list = List::Create({}, 0);
  const auto call = [&](std::vector<Object*> refs) {
    Caller<&MarshalProbe::Last> last(
        &probe, {I32(2), OfRef(refs[0]), I32(-1), OfRef(refs[1]), I32(-1),
                 I64(-1), OfRef(refs[2]), OfRef(refs[3]), OfRef(refs[4])});
    return last.Call();
  };
  Object* const good = buffer.get();
  Object* const bad = list.get();
  EXPECT_TRUE(call({good, nullptr, good, bad, nullptr}).ok());
  EXPECT_TRUE(call({nullptr, good, good, nullptr, good}).ok());
  EXPECT_EQ(call({good, bad, good, nullptr, nullptr}).message(),
            "operand 0: expected vm.buffer, got vm.list");
  EXPECT_EQ(call({good, good, nullptr, nullptr, nullptr}).message(),
            "operand 2: expected vm.buffer, got null");
  EXPECT_EQ(call({good, good, good, bad, bad}).message(),
            "operand 4: expected vm.buffer, got vm.list");
}

TEST(NativeMethodTest, ParkedCallStoresNoResult) {
  MarshalProbe probe;
  Caller<&MarshalProbe::Wait> first(&probe, {I32(6)});
  ASSERT_TRUE(first.Call().ok());
  EXPECT_TRUE(first.parked());
  Caller<&MarshalProbe::Wait> second(&probe, {I32(6)}, /*resumed=*/true);
  ASSERT_TRUE(second.Call().ok());
  EXPECT_FALSE(second.parked());
  EXPECT_EQ(second.results()[0].i32, 6);
}

}  // namespace
}  // namespace takt::vm
