#include "vm/invocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/byte_buffer.h"
#include "vm/list.h"
#include "vm/native_module.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value OfRef(Ref<Object> ref) { return Value::FromRef(std::move(ref)); }

// A native module that counts, fails and waits on demand. What it does is
// shared by all of its states.
struct Script {
  std::atomic<int> calls{0};
  std::atomic<int> resumptions{0};
  int parks = 1;            // How often a waiting call parks.
  bool wake_early = false;  // Before the call has returned.
  Invocation* parked = nullptr;
  std::vector<int64_t> seen;
  int parked_states = 0;  // Alive.
};

class ScriptState : public ModuleState {
 public:
  explicit ScriptState(Script* script) : script_(*script) {}

  absl::StatusOr<int32_t> Increment(int32_t value) {
    ++script_.calls;
    return value + 1;
  }
  absl::Status Fail(int32_t code) {
    return absl::Status(static_cast<absl::StatusCode>(code), "as told");
  }
  absl::StatusOr<int32_t> Wait(NativeCall& call, int32_t value, Object*) {
    call.resumed() ? ++script_.resumptions : ++script_.calls;
    const int times = script_.resumptions - (call.resumed() ? 1 : 0);
    if (times < script_.parks && script_.resumptions < script_.parks) {
      call.Park();
      struct Alive final : Invocation::ParkedState {
        explicit Alive(int* count) : count_(count) { ++*count_; }
        ~Alive() override { --*count_; }
        int* const count_;
      };
      call.invocation().SetParkedState(
          std::make_unique<Alive>(&script_.parked_states));
      script_.parked = &call.invocation();
      if (script_.wake_early) call.invocation().Wake();
      return 0;
    }
    return value * 2;
  }
  absl::Status See(VarArgs<int64_t> values, int32_t last) {
    for (size_t n = 0; n < values.size(); ++n)
      script_.seen.push_back(values[n]);
    script_.seen.push_back(last);
    return absl::OkStatus();
  }
  absl::StatusOr<std::tuple<int32_t, Ref<Object>, int64_t>> Many(Object* ref,
                                                                 int64_t v) {
    return std::make_tuple(7, Ref<Object>::Retain(ref), v + 1);
  }
  absl::Status Cancel(NativeCall& call) {
    call.invocation().RequestCancel();
    return absl::OkStatus();
  }

 private:
  Script& script_;
};

Ref<Module> ScriptModule(Script* script) {
  NativeModule::Builder builder("script", 1);
  builder.SetStateFactory(
      [script]() -> absl::StatusOr<std::unique_ptr<ModuleState>> {
        return std::make_unique<ScriptState>(script);
      });
  builder.Export<&ScriptState::Increment>("increment");
  builder.Export<&ScriptState::Fail>("fail");
  builder.Export<&ScriptState::Wait>("wait");
  builder.Export<&ScriptState::See>("see");
  builder.Export<&ScriptState::Many>("many");
  builder.Export<&ScriptState::Cancel>("cancel");
  return *std::move(builder).Build();
}

Ref<Context> LinkScript(Script* script, const ModuleBuilder& builder) {
  return Link({ScriptModule(script), Load(builder)});
}

absl::StatusOr<Ref<Invocation>> Start(Context& context,
                                      const std::string& function,
                                      std::vector<Value> arguments) {
  return Invocation::Create(context, *context.FindFunction(function),
                            absl::MakeSpan(arguments));
}

// f(x) = script.wait(x, r) twice over, the first as `op`.
ModuleBuilder Waiting(Op op) {
  ModuleBuilder builder("m");
  const uint32_t wait = builder.AddImport("script.wait", "0ir_i");
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(op).U32(ImportOrdinal(wait)).List({0, R(0)});
  if (op == Op::kCallYieldable) {
    body.Target(next).List({1});
  } else {
    body.List({1}).Emit(Op::kBr).Branch(next);
  }
  body.Block(next).Emit(Op::kReturn).List({1});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0ir_i", body, 2, 1)));
  return builder;
}

// ---- Arguments and results ----

ModuleBuilder Identity(const std::string& letters, std::vector<uint16_t> list,
                       uint16_t values, uint16_t refs) {
  ModuleBuilder builder("m");
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List(list);
  builder.Export("f", static_cast<int32_t>(builder.AddFunction(
                          "0" + letters + "_" + letters, body, values, refs)));
  return builder;
}

TEST(InvocationTest, ArgumentsLandAndResultsReturnInOrder) {
  auto context =
      Link({Load(Identity("iIfrFir", {0, 2, 4, R(0), 6, 8, R(1)}, 10, 2))});
  Ref<ByteBuffer> a = *ByteBuffer::Allocate(1, 0);
  Ref<ByteBuffer> b = *ByteBuffer::Allocate(1, 0);
  const auto results = Call(*context, "m.f",
                            {i(-1), I(int64_t{1} << 40), Value::F32(2.5f),
                             OfRef(a), Value::F64(-3.5), i(9), OfRef(b)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), -1);
  EXPECT_EQ((*results)[1].i64(), int64_t{1} << 40);
  EXPECT_EQ((*results)[2].f32(), 2.5f);
  EXPECT_EQ((*results)[3].ref(), a.get());
  EXPECT_EQ((*results)[4].f64(), -3.5);
  EXPECT_EQ((*results)[5].i32(), 9);
  EXPECT_EQ((*results)[6].ref(), b.get());
}

TEST(InvocationTest, ArgumentsAreConvertedWithinTheirKind) {
  auto context = Link({Load(Identity("iIfF", {0, 2, 4, 6}, 8, 0))});
  const auto results =
      Call(*context, "f",
           {I(0x1ffffffff), i(-1), Value::F64(0.5), Value::F32(0.25f)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), -1);
  EXPECT_EQ((*results)[1].i64(), -1);
  EXPECT_EQ((*results)[2].f32(), 0.5f);
  EXPECT_EQ((*results)[3].f64(), 0.25);
}

TEST(InvocationTest, RejectsWrongArguments) {
  auto context = Link({Load(Identity("ir", {0, R(0)}, 1, 1))});
  EXPECT_EQ(Call(*context, "f", {i(1)}).status().message(),
            "m.f: expected 2 arguments, got 1");
  EXPECT_EQ(Call(*context, "f", {i(1), i(2)}).status().message(),
            "m.f: argument 1: expected ref, got i32");
  EXPECT_EQ(Call(*context, "f", {Null(), Null()}).status().message(),
            "m.f: argument 0: expected i32, got ref");
  EXPECT_EQ(Call(*context, "f", {Value::F32(1), Null()}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Call(*context, "f", {Value(), Null()}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Call(*context, "f", {i(1), Value()}).ok());  // A null ref.
}

TEST(InvocationTest, TakenArgumentsAreTheProgramsOwn) {
  auto context = Link({Load(Identity("r", {MoveR(0)}, 0, 1))});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  ByteBuffer* const raw = buffer.get();
  std::vector<Value> arguments{OfRef(std::move(buffer))};
  auto invocation = Invocation::Create(*context, *context->FindFunction("f"),
                                       absl::MakeSpan(arguments),
                                       Invocation::ArgumentRefs::kTake);
  ASSERT_TRUE(invocation.ok());
  EXPECT_EQ(arguments[0].ref(), nullptr);
  EXPECT_TRUE(raw->IsUnique());
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->results()[0].ref(), raw);
  EXPECT_TRUE(raw->IsUnique());
}

TEST(InvocationTest, UntakenResultsAreReleased) {
  auto context = Link({Load(Identity("r", {R(0)}, 0, 1))});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  {
    auto invocation = Start(*context, "f", {OfRef(buffer)});
    ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
    EXPECT_FALSE(buffer->IsUnique());
  }
  EXPECT_TRUE(buffer->IsUnique());
}

TEST(InvocationTest, NeverRunReleasesItsArguments) {
  auto context = Link({Load(Identity("r", {R(0)}, 0, 1))});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  { auto invocation = Start(*context, "f", {OfRef(buffer)}); }
  EXPECT_TRUE(buffer->IsUnique());
}

TEST(InvocationTest, KeepsItsContextAlive) {
  auto context = Link({Load(Identity("i", {0}, 1, 0))});
  auto invocation = Start(*context, "f", {i(3)});
  context.reset();
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->TakeResults()[0].i32(), 3);
}

// ---- Calls between functions ----

// call, return: f(a, b, r) = g(b, r, a) with g returning everything twice.
TEST(InvocationTest, InternalCallsPassValuesAndRefs) {
  ModuleBuilder builder("m");
  BodyBuilder g;
  g.Block().Emit(Op::kReturn).List({0, R(0), 2, MoveR(0), 0});
  const uint32_t callee = builder.AddFunction("0irI_irIri", g, 4, 1);
  BodyBuilder f;
  f.Block().Emit(Op::kCall).U32(callee).List({2, MoveR(0), 0});
  f.List({4, R(1), 6, R(2), 8})
      .Emit(Op::kReturn)
      .List({4, MoveR(1), 6, MoveR(2), 8});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0Iir_irIri", f, 10, 3)));
  auto context = Link({Load(builder)});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  auto results =
      Call(*context, "f", {I(int64_t{1} << 33), i(-2), OfRef(buffer)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), -2);
  EXPECT_EQ((*results)[1].ref(), buffer.get());
  EXPECT_EQ((*results)[2].i64(), int64_t{1} << 33);
  EXPECT_EQ((*results)[3].ref(), buffer.get());
  EXPECT_EQ((*results)[4].i32(), -2);
  results->clear();
  EXPECT_TRUE(buffer->IsUnique());
}

// Registers beyond the arguments are zero and null on every entry.
TEST(InvocationTest, RegistersStartAtZero) {
  ModuleBuilder builder("m");
  BodyBuilder g;
  g.Block().Emit(Op::kCmpNzRef).U16(R(1)).U16(3);
  g.Emit(Op::kReturn).List({1, 2, 3});
  const uint32_t callee = builder.AddFunction("0i_iii", g, 4, 2);
  BodyBuilder f;  // Leaves something where g's frame will be, first.
  f.Block();
  f.Emit(Op::kCall).U32(1).List({0, R(0)}).List({});
  f.Emit(Op::kCall).U32(callee).List({0}).List({0, 1, 2});
  f.Emit(Op::kReturn).List({0, 1, 2});
  BodyBuilder h;
  h.Block();
  for (uint16_t n = 0; n < 16; ++n) {
    h.Emit(Op::kConstI32).U32(0xdeadbeef).U16(n);
  }
  h.Emit(Op::kAssignRef).U16(R(0)).U16(R(3)).Emit(Op::kReturn).List({});
  builder.AddFunction("0ir_v", h, 16, 4);
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0ir_iii", f, 3, 1)));
  auto context = Link({Load(builder)});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  const auto results = Call(*context, "f", {i(-1), OfRef(buffer)});
  ASSERT_TRUE(results.ok()) << results.status();
  for (const Value& result : *results) EXPECT_EQ(result.i32(), 0);
}

// f(n) = n == 0 ? 0 : 1 + f(n - 1)
ModuleBuilder Recursive() {
  ModuleBuilder builder("m");
  BodyBuilder body;
  const uint32_t more = body.NewLabel();
  const uint32_t end = body.NewLabel();
  body.Block().Emit(Op::kCondBr).U16(0).Branch(more).Branch(end);
  body.Block(more).Emit(Op::kConstI32).U32(1).U16(1);
  body.Emit(Op::kSubI32).U16(0).U16(1).U16(2);
  body.Emit(Op::kCall).U32(0).List({2, R(0)}).List({2});
  body.Emit(Op::kAddI32).U16(2).U16(1).U16(2);
  body.Emit(Op::kReturn).List({2});
  body.Block(end).Emit(Op::kReturn).List({0});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0ir_i", body, 3, 1)));
  return builder;
}

TEST(InvocationTest, RecursionGrowsTheStackUpToItsBound) {
  auto context = Link({Load(Recursive())});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  for (const int depth : {0, 1, 10, 100, 5000}) {
    const auto results = Call(*context, "f", {i(depth), OfRef(buffer)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].i32(), depth);
  }
  const auto too_deep = Call(*context, "f", {i(1 << 20), OfRef(buffer)});
  EXPECT_EQ(too_deep.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(too_deep.status().message()),
              HasSubstr("nested too deep"));
  EXPECT_TRUE(buffer->IsUnique());  // Every frame let go of it.
}

TEST(InvocationTest, ErrorsUnwindEveryFrame) {
  ModuleBuilder builder("m");
  BodyBuilder g;
  g.Block().Emit(Op::kAssignRef).U16(R(0)).U16(R(1));
  g.Emit(Op::kFail).U16(0).Text("inside");
  const uint32_t callee = builder.AddFunction("0ir_v", g, 1, 2);
  BodyBuilder f;
  f.Block().Emit(Op::kAssignRef).U16(R(0)).U16(R(1));
  f.Emit(Op::kCall).U32(callee).List({0, R(1)}).List({});
  f.Emit(Op::kReturn).List({});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0ir_v", f, 1, 2)));
  auto context = Link({Load(builder)});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  const absl::Status status =
      Call(*context, "f", {i(5), OfRef(buffer)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("m.#0+"));
  EXPECT_TRUE(buffer->IsUnique());
}

// ---- Native calls ----

TEST(InvocationTest, NativeFunctionsAreCalledFromHostAndProgram) {
  Script script;
  ModuleBuilder builder("m");
  const uint32_t increment = builder.AddImport("script.increment", "0i_i");
  BodyBuilder body;
  body.Block()
      .Emit(Op::kCall)
      .U32(ImportOrdinal(increment))
      .List({0})
      .List({0});
  body.Emit(Op::kReturn).List({0});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0i_i", body, 1, 0)));
  auto context = LinkScript(&script, builder);
  EXPECT_EQ((*Call(*context, "f", {i(4)}))[0].i32(), 5);
  EXPECT_EQ((*Call(*context, "script.increment", {i(8)}))[0].i32(), 9);
  EXPECT_EQ(script.calls, 2);
}

TEST(InvocationTest, NativeErrorsNameTheFunction) {
  Script script;
  ModuleBuilder builder("m");
  const uint32_t fail = builder.AddImport("script.fail", "0i_v");
  BodyBuilder body;
  body.Block().Emit(Op::kCall).U32(ImportOrdinal(fail)).List({0}).List({});
  body.Emit(Op::kReturn).List({});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0i_v", body, 1, 0)));
  auto context = LinkScript(&script, builder);
  const absl::Status status = Call(*context, "f", {i(9)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "m.f+1: script.fail: as told");
  EXPECT_EQ(Call(*context, "script.fail", {i(9)}).status().message(),
            "script.fail: as told");
}

// call.variadic
TEST(InvocationTest, VariadicCallsPassSpans) {
  Script script;
  ModuleBuilder builder("m");
  const uint32_t see = builder.AddImport("script.see", "0CIDi_v");
  BodyBuilder body;
  body.Block();
  for (const std::vector<uint16_t>& dims :
       {std::vector<uint16_t>{0, 2, 0}, std::vector<uint16_t>{}}) {
    std::vector<uint16_t> operands = dims;
    operands.push_back(4);
    body.Emit(Op::kCallVariadic).U32(ImportOrdinal(see));
    body.List({static_cast<uint16_t>(dims.size()), 0xffff});
    body.List(operands).List({});
  }
  body.Emit(Op::kReturn).List({});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0IIi_v", body, 5, 0)));
  auto context = LinkScript(&script, builder);
  TAKT_ASSERT_OK(
      Call(*context, "f", {I(int64_t{1} << 40), I(6), i(7)}).status());
  EXPECT_THAT(script.seen,
              ElementsAre(int64_t{1} << 40, 6, int64_t{1} << 40, 7, 7));
}

// call.variadic.yieldable, with more slots than fit on the stack.
TEST(InvocationTest, LongSpansArePassedToo) {
  Script script;
  ModuleBuilder builder("m");
  const uint32_t see = builder.AddImport("script.see", "0CIDi_v");
  constexpr uint16_t kCount = 300;
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  std::vector<uint16_t> operands(kCount, 0);
  operands.push_back(2);
  body.Block().Emit(Op::kCallVariadicYieldable).U32(ImportOrdinal(see));
  body.List({kCount, 0xffff}).List(operands).Target(next).List({});
  body.Block(next).Emit(Op::kReturn).List({});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0Ii_v", body, 3, 0)));
  auto context = LinkScript(&script, builder);
  TAKT_ASSERT_OK(Call(*context, "f", {I(3), i(4)}).status());
  EXPECT_EQ(script.seen.size(), kCount + 1u);
  EXPECT_EQ(script.seen.back(), 4);
}

TEST(InvocationTest, HostCannotCallFunctionsWithSpans) {
  Script script;
  auto context = Link({ScriptModule(&script)});
  EXPECT_EQ(Call(*context, "see", {}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(InvocationTest, NativeResultsReplaceRegisters) {
  Script script;
  ModuleBuilder builder("m");
  const uint32_t many = builder.AddImport("script.many", "0rI_irI");
  BodyBuilder body;
  // The moved argument's register receives a result.
  body.Block().Emit(Op::kCall).U32(ImportOrdinal(many));
  body.List({MoveR(0), 0}).List({2, R(0), 0});
  body.Emit(Op::kReturn).List({2, MoveR(0), 0});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0rI_irI", body, 3, 1)));
  auto context = LinkScript(&script, builder);
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  auto results = Call(*context, "f", {OfRef(buffer), I(41)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), 7);
  EXPECT_EQ((*results)[1].ref(), buffer.get());
  EXPECT_EQ((*results)[2].i64(), 42);
  results->clear();
  EXPECT_TRUE(buffer->IsUnique());
}

// ---- Parking ----

// call.yieldable
TEST(InvocationTest, ParksAndResumesWhenWoken) {
  for (const int parks : {1, 3}) {
    Script script;
    script.parks = parks;
    auto context = LinkScript(&script, Waiting(Op::kCallYieldable));
    Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
    auto invocation = Start(*context, "f", {i(21), OfRef(buffer)});
    ASSERT_TRUE(invocation.ok());
    int woken = 0;
    (*invocation)
        ->SetOnWoken(
            [](void* count, Invocation&) { ++*static_cast<int*>(count); },
            &woken);
    for (int n = 0; n < parks; ++n) {
      ASSERT_EQ((*invocation)->Run(), Invocation::State::kParked);
      EXPECT_EQ((*invocation)->state(), Invocation::State::kParked);
      EXPECT_EQ((*invocation)->Run(), Invocation::State::kParked);  // Still.
      EXPECT_EQ(script.parked_states, 1);
      EXPECT_LT((*invocation)->memory_bytes(), 2048u);
      script.parked->Wake();
      EXPECT_EQ((*invocation)->state(), Invocation::State::kReady);
    }
    EXPECT_EQ((*invocation)->Run(), Invocation::State::kDone);
    TAKT_ASSERT_OK((*invocation)->status());
    EXPECT_EQ((*invocation)->TakeResults()[0].i32(), 42);
    EXPECT_EQ(script.calls, 1);
    EXPECT_EQ(script.resumptions, parks);
    EXPECT_EQ(woken, parks);
    EXPECT_EQ(script.parked_states, 0);
  }
}

TEST(InvocationTest, ResumesAtOnceIfWokenBeforeParking) {
  Script script;
  script.parks = 2;
  script.wake_early = true;
  auto context = LinkScript(&script, Waiting(Op::kCallYieldable));
  auto invocation = Start(*context, "f", {i(3), Null()});
  (*invocation)->SetOnWoken([](void*, Invocation&) { FAIL(); }, nullptr);
  EXPECT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->TakeResults()[0].i32(), 6);
  EXPECT_EQ(script.resumptions, 2);
}

TEST(InvocationTest, HostCallsOfNativeFunctionsPark) {
  Script script;
  auto context = Link({ScriptModule(&script)});
  auto invocation = Start(*context, "wait", {i(5), Null()});
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kParked);
  script.parked->Wake();
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->TakeResults()[0].i32(), 10);
}

// Bytecode 15 and 16 have no other calls.
TEST(InvocationTest, PlainCallsOfOlderBytecodePark) {
  for (const uint32_t major : {15, 16}) {
    Script script;
    script.parks = 2;
    ModuleBuilder builder = Waiting(Op::kCall);
    builder.bytecode_version = major << 16;
    auto context = LinkScript(&script, builder);
    Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
    auto invocation = Start(*context, "f", {i(21), OfRef(buffer)});
    for (int n = 0; n < 2; ++n) {
      ASSERT_EQ((*invocation)->Run(), Invocation::State::kParked);
      EXPECT_EQ(script.parked_states, 1);
      script.parked->Wake();
    }
    ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
    EXPECT_EQ((*invocation)->TakeResults()[0].i32(), 42);
    EXPECT_EQ(script.calls, 1);
    EXPECT_EQ(script.resumptions, 2);
  }
}

// f(r) = (r after script.many took it with a move, what many returned).
TEST(InvocationTest, ImportsOfBytecode15BorrowRefsMarkedAsMoved) {
  for (const uint32_t major : {15, 16, 17}) {
    Script script;
    ModuleBuilder builder("m");
    builder.bytecode_version = major << 16;
    const uint32_t many = builder.AddImport("script.many", "0rI_irI");
    BodyBuilder body;
    body.Block().Emit(Op::kCall).U32(ImportOrdinal(many));
    body.List({MoveR(0), 0}).List({2, R(1), 0});
    body.Emit(Op::kReturn).List({MoveR(0), MoveR(1)});
    builder.Export(
        "f", static_cast<int32_t>(builder.AddFunction("0rI_rr", body, 3, 2)));
    auto context = LinkScript(&script, builder);
    Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
    auto results = Call(*context, "f", {OfRef(buffer), I(0)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].ref(), major == 15 ? buffer.get() : nullptr);
    EXPECT_EQ((*results)[1].ref(), buffer.get());
    results->clear();
    EXPECT_TRUE(buffer->IsUnique());
  }
}

TEST(InvocationTest, PlainCallsMayNotPark) {
  Script script;
  auto context = LinkScript(&script, Waiting(Op::kCall));
  const absl::Status status = Call(*context, "f", {i(1), Null()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("script.wait"));
  EXPECT_EQ(script.parked_states, 0);
}

TEST(InvocationTest, DroppedWhileParkedReleasesEverything) {
  Script script;
  auto context = LinkScript(&script, Waiting(Op::kCallYieldable));
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  {
    auto invocation = Start(*context, "f", {i(1), OfRef(buffer)});
    ASSERT_EQ((*invocation)->Run(), Invocation::State::kParked);
    EXPECT_EQ(script.parked_states, 1);
  }
  EXPECT_EQ(script.parked_states, 0);
  EXPECT_TRUE(buffer->IsUnique());
}

// Goal: no interleaving of Run(), Wake() and the hand-over between threads
// loses a wake. Method: one thread runs, another wakes as soon as it sees the
// call parked; the invocation changes threads each time.
TEST(InvocationTest, WakesFromOtherThreadsAreNeverLost) {
  constexpr int kRounds = 200;
  class Racer : public ModuleState {
   public:
    explicit Racer(std::atomic<Invocation*>* box) : box_(*box) {}
    absl::StatusOr<int32_t> Wait(NativeCall& call, int32_t value) {
      if (call.resumed()) return value + 1;
      call.Park();
      box_.store(&call.invocation(), std::memory_order_release);
      return 0;
    }

   private:
    std::atomic<Invocation*>& box_;
  };
  std::atomic<Invocation*> box{nullptr};
  NativeModule::Builder native("racer", 1);
  native.SetStateFactory(
      [&box]() -> absl::StatusOr<std::unique_ptr<ModuleState>> {
        return std::make_unique<Racer>(&box);
      });
  native.Export<&Racer::Wait>("wait");
  ModuleBuilder builder("m");
  const uint32_t wait = builder.AddImport("racer.wait", "0i_i");
  BodyBuilder body;  // while (x < n) x = wait(x)
  const uint32_t loop = body.NewLabel();
  const uint32_t test = body.NewLabel();
  const uint32_t end = body.NewLabel();
  body.Block().Emit(Op::kBr).Branch(loop);
  body.Block(loop).Emit(Op::kCallYieldable).U32(ImportOrdinal(wait)).List({1});
  body.Target(test).List({1});
  body.Block(test).Emit(Op::kCmpLtI32S).U16(1).U16(0).U16(2);
  body.Emit(Op::kCondBr).U16(2).Branch(loop).Branch(end);
  body.Block(end).Emit(Op::kReturn).List({1});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0i_i", body, 3, 0)));
  auto context = Link({*std::move(native).Build(), Load(builder)});
  auto invocation = Start(*context, "f", {i(kRounds)});
  std::atomic<bool> stop{false};
  std::thread waker([&] {
    while (!stop.load()) {
      if (Invocation* parked = box.exchange(nullptr)) parked->Wake();
    }
  });
  TAKT_ASSERT_OK((*invocation)->RunToEnd());
  stop.store(true);
  waker.join();
  EXPECT_EQ((*invocation)->TakeResults()[0].i32(), kRounds);
}

// ---- Stopping ----

// f loops for ever, calling `op` each time round (kBr: nothing).
ModuleBuilder Endless(Op op) {
  ModuleBuilder builder("m");
  BodyBuilder body;
  const uint32_t loop = body.NewLabel();
  body.Block().Emit(Op::kBr).Branch(loop);
  body.Block(loop).Emit(op).Branch(loop);
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0r_v", body, 0, 1)));
  return builder;
}

TEST(InvocationTest, StepLimitEndsEndlessLoops) {
  for (const Op op : {Op::kBr, Op::kYield, Op::kBreak}) {
    auto context = Link({Load(Endless(op))});
    Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
    auto invocation = Start(*context, "f", {OfRef(buffer)});
    (*invocation)->SetStepLimit(1000);
    ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
    EXPECT_EQ((*invocation)->status().code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(buffer->IsUnique());
  }
}

TEST(InvocationTest, StepLimitCountsExactly) {
  auto context = Link({Load(Recursive())});
  for (const auto& [limit, ok] : std::vector<std::pair<uint64_t, bool>>{
           {0, true}, {11, true}, {12, true}, {10, false}}) {
    auto invocation = Start(*context, "f", {i(10), Null()});
    (*invocation)->SetStepLimit(limit);
    ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
    EXPECT_EQ((*invocation)->status().ok(), ok) << limit;
  }
}

TEST(InvocationTest, StepLimitBoundsMemory) {
  ModuleBuilder builder("m");
  BodyBuilder body;
  body.Block().Emit(Op::kBufferAlloc).U16(0).U16(2).U16(R(0));
  body.Emit(Op::kReturn).List({});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0Ii_v", body, 3, 1)));
  auto context = Link({Load(builder)});
  for (const auto& [bytes, code] :
       std::vector<std::pair<int64_t, absl::StatusCode>>{
           {6400, absl::StatusCode::kOk},
           {1 << 20, absl::StatusCode::kResourceExhausted}}) {
    auto invocation = Start(*context, "f", {I(bytes), i(0)});
    (*invocation)->SetStepLimit(200);
    ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
    EXPECT_EQ((*invocation)->status().code(), code);
  }
}

// f(n) returns the sum of 1 to n, of which each call adds one number.
ModuleBuilder SumOfCalls() {
  ModuleBuilder builder("m");
  BodyBuilder add;
  add.Block().Emit(Op::kAddI32).U16(0).U16(1).U16(0);
  add.Emit(Op::kReturn).List({0});
  const uint32_t callee = builder.AddFunction("0ii_i", add, 2, 0);
  BodyBuilder body;
  const uint32_t loop = body.NewLabel();
  const uint32_t test = body.NewLabel();
  const uint32_t end = body.NewLabel();
  body.Block().Emit(Op::kConstI32Zero).U16(1);
  body.Emit(Op::kConstI32Zero).U16(2);
  body.Emit(Op::kConstI32).U32(1).U16(4);
  body.Emit(Op::kBr).Branch(test);
  body.Block(test).Emit(Op::kCmpLtI32S).U16(1).U16(0).U16(3);
  body.Emit(Op::kCondBr).U16(3).Branch(loop).Branch(end);
  body.Block(loop).Emit(Op::kAddI32).U16(1).U16(4).U16(1);
  body.Emit(Op::kCall).U32(callee).List({2, 1}).List({2});
  body.Emit(Op::kBr).Branch(test);
  body.Block(end).Emit(Op::kReturn).List({2});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0i_i", body, 5, 0)));
  return builder;
}

bool Always(void*) { return true; }

TEST(InvocationTest, AnInterruptedProgramGoesOnWhereItStopped) {
  constexpr int32_t kCount = 20'000;
  auto context = Link({Load(SumOfCalls())});
  auto invocation = Start(*context, "f", {i(kCount)});
  (*invocation)->SetInterrupter(&Always, nullptr);
  int interrupted = 0;
  while ((*invocation)->Run() == Invocation::State::kReady) ++interrupted;
  ASSERT_EQ((*invocation)->state(), Invocation::State::kDone);
  TAKT_ASSERT_OK((*invocation)->status());
  EXPECT_EQ((*invocation)->TakeResults()[0].i32(), kCount / 2 * (kCount + 1));
  // Each time round has a call and a branch back.
  EXPECT_EQ(interrupted, 2 * kCount / int{RunGuard::kPollsPerQuestion});
}

TEST(InvocationTest, AnInterruptedProgramMayBeCancelled) {
  auto context = Link({Load(Endless(Op::kBr))});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  auto invocation = Start(*context, "f", {OfRef(buffer)});
  (*invocation)->SetInterrupter(&Always, nullptr);
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kReady);
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kReady);
  (*invocation)->RequestCancel();
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(buffer->IsUnique());
}

absl::Status RunWithMemoryLimit(Context& context, const std::string& name,
                                std::vector<Value> arguments, uint64_t limit) {
  auto invocation = Start(context, name, std::move(arguments));
  JobAttributes job;
  job.memory_limit = limit;
  (*invocation)->SetJob(job);
  EXPECT_EQ((*invocation)->Run(), Invocation::State::kDone);
  return (*invocation)->status();
}

TEST(InvocationTest, MemoryLimitCountsBuffersUntilTheyAreReleased) {
  ModuleBuilder builder("m");
  BodyBuilder both;  // Two buffers at a time.
  both.Block().Emit(Op::kBufferAlloc).U16(0).U16(2).U16(R(0));
  both.Emit(Op::kBufferAlloc).U16(0).U16(2).U16(R(1));
  both.Emit(Op::kReturn).List({});
  BodyBuilder one;  // The second takes the place of the first.
  one.Block().Emit(Op::kBufferAlloc).U16(0).U16(2).U16(R(0));
  one.Emit(Op::kDiscardRefs).List({R(0)});
  one.Emit(Op::kBufferAlloc).U16(0).U16(2).U16(R(0));
  one.Emit(Op::kReturn).List({});
  builder.Export(
      "both", static_cast<int32_t>(builder.AddFunction("0Ii_v", both, 3, 2)));
  builder.Export("one",
                 static_cast<int32_t>(builder.AddFunction("0Ii_v", one, 3, 1)));
  auto context = Link({Load(builder)});
  constexpr uint64_t kLimit = 10000;
  TAKT_ASSERT_OK(RunWithMemoryLimit(*context, "both", {I(4000), i(0)}, kLimit));
  TAKT_ASSERT_OK(RunWithMemoryLimit(*context, "one", {I(8000), i(0)}, kLimit));
  const absl::Status status =
      RunWithMemoryLimit(*context, "both", {I(8000), i(0)}, kLimit);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("m.both"), HasSubstr("memory limit"),
                             HasSubstr("of 10000 are left")));
  TAKT_ASSERT_OK(RunWithMemoryLimit(*context, "both", {I(8000), i(0)},
                                    MemoryAccount::kUnlimited));
}

TEST(InvocationTest, MemoryLimitCountsListsAsTheyGrow) {
  ModuleBuilder builder("m");
  const uint32_t type = builder.AddType("i32");
  BodyBuilder body;
  body.Block().Emit(Op::kListAlloc).U32(type).U16(1).U16(R(0));
  body.Emit(Op::kListResize).U16(R(0)).U16(0);
  body.Emit(Op::kReturn).List({});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0ii_v", body, 2, 1)));
  auto context = Link({Load(builder)});
  TAKT_ASSERT_OK(RunWithMemoryLimit(*context, "f", {i(500), i(0)}, 10000));
  EXPECT_EQ(RunWithMemoryLimit(*context, "f", {i(1 << 20), i(0)}, 10000).code(),
            absl::StatusCode::kResourceExhausted);
  // What is reserved counts, too.
  EXPECT_EQ(RunWithMemoryLimit(*context, "f", {i(0), i(4096)}, 10000).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(InvocationTest, CancelledBeforeItRuns) {
  auto context = Link({Load(Endless(Op::kBr))});
  auto invocation = Start(*context, "f", {Null()});
  (*invocation)->RequestCancel();
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->status().code(), absl::StatusCode::kCancelled);
}

TEST(InvocationTest, CancelledWhileItLoops) {
  auto context = Link({Load(Endless(Op::kBr))});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  auto invocation = Start(*context, "f", {OfRef(buffer)});
  std::thread canceller([&] { (*invocation)->RequestCancel(); });
  EXPECT_EQ((*invocation)->Run(), Invocation::State::kDone);
  canceller.join();
  EXPECT_EQ((*invocation)->status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(buffer->IsUnique());
}

TEST(InvocationTest, CancelledByANativeCallEndsWhenItReturns) {
  Script script;
  auto context = Link({ScriptModule(&script)});
  EXPECT_EQ(Call(*context, "cancel", {}).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(InvocationTest, CancelledWhileParkedIsWokenAndNotResumed) {
  Script script;
  auto context = LinkScript(&script, Waiting(Op::kCallYieldable));
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  auto invocation = Start(*context, "f", {i(1), OfRef(buffer)});
  int woken = 0;
  (*invocation)
      ->SetOnWoken(
          [](void* count, Invocation&) { ++*static_cast<int*>(count); },
          &woken);
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kParked);
  (*invocation)->RequestCancel();
  EXPECT_EQ(woken, 1);
  (*invocation)->Wake();  // The real one comes late, and is ignored.
  EXPECT_EQ(woken, 1);
  ASSERT_EQ((*invocation)->Run(), Invocation::State::kDone);
  EXPECT_EQ((*invocation)->status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(script.resumptions, 0);
  EXPECT_EQ(script.parked_states, 0);
  EXPECT_TRUE(buffer->IsUnique());
  (*invocation)->Wake();
  EXPECT_EQ((*invocation)->state(), Invocation::State::kDone);
}

// ---- DirectCaller ----

TEST(DirectCallerTest, CallsAgainWithArgumentsThatStay) {
  ModuleBuilder builder("m");
  BodyBuilder body;  // r[x] += x; returns the sum of two arguments.
  body.Block();
  body.Emit(Op::kExtI32I64U).U16(0).U16(2);
  body.Emit(Op::kBufferStoreI8).U16(R(0)).U16(2).U16(1);
  body.Emit(Op::kAddI32).U16(0).U16(1).U16(4);
  body.Emit(Op::kReturn).List({4, R(0)});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0iir_ir", body, 5, 1)));
  auto context = Link({Load(builder)});
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(4, 0);
  {
    DirectCaller caller(*context, *context->FindFunction("f"));
    caller.SetArgument(2, Slot{.ref = buffer.get()});
    caller.SetArgument(1, Slot{.i64 = 5});
    for (int n = 0; n < 4; ++n) {
      caller.SetArgument(0, Slot{.i64 = n});
      TAKT_ASSERT_OK(caller.Call());
      EXPECT_EQ(caller.TakeResult(0).i32, n + 5);
    }
    Ref<Object> result = Ref<Object>::Adopt(caller.TakeResult(1).ref);
    EXPECT_EQ(result.get(), buffer.get());
    caller.SetArgument(0, Slot{.i64 = 4});
    EXPECT_EQ(caller.Call().code(), absl::StatusCode::kOutOfRange);
    caller.SetArgument(0, Slot{.i64 = 3});
    TAKT_ASSERT_OK(caller.Call());
    // Null from now on.
    caller.SetArgument(2, Slot{.ref = nullptr});
    EXPECT_EQ(caller.Call().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(buffer->IsUnique());
  for (uint8_t byte : buffer->bytes()) EXPECT_EQ(byte, 5);
}

TEST(DirectCallerTest, MayNotPark) {
  Script script;
  auto context = Link({ScriptModule(&script)});
  DirectCaller caller(*context, *context->FindFunction("wait"));
  caller.SetArgument(0, Slot{.i64 = 5});
  EXPECT_EQ(caller.Call().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(script.parked_states, 0);
  script.parks = 0;
  TAKT_ASSERT_OK(caller.Call());
  EXPECT_EQ(caller.TakeResult(0).i32, 10);
}

}  // namespace
}  // namespace takt::vm
