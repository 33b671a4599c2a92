#include "vm/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/allocation_faults.h"
#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/byte_buffer.h"
#include "vm/list.h"
#include "vm/native_module.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Counts what is called, in all contexts.
struct Log {
  std::vector<int32_t> notes;
  int states = 0;  // Alive.
  Invocation* parked = nullptr;
  bool park = false;
};
class Recorder : public ModuleState {
 public:
  explicit Recorder(Log* log) : log_(*log) { ++log_.states; }
  ~Recorder() override { --log_.states; }
  absl::Status Note(NativeCall& call, int32_t value) {
    if (log_.park && !call.resumed()) {
      call.Park();
      log_.parked = &call.invocation();
      return absl::OkStatus();
    }
    log_.notes.push_back(value);
    return value < 0 ? absl::AbortedError("told to") : absl::OkStatus();
  }

 private:
  Log& log_;
};

Ref<Module> RecorderModule(Log* log, bool repeatable) {
  NativeModule::Builder builder("log", 1);
  builder.SetInitializersRepeatable(repeatable);
  builder.SetStateFactory(
      [log]() -> absl::StatusOr<std::unique_ptr<ModuleState>> {
        return std::make_unique<Recorder>(log);
      });
  builder.Export<&Recorder::Note>("note");
  return *std::move(builder).Build();
}

// Adds `name`, which notes `value` (yieldable) and stores 40 in global 0.
void AddSpecial(ModuleBuilder* builder, uint32_t note, const std::string& name,
                int32_t value) {
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(Op::kConstI32).U32(static_cast<uint32_t>(value)).U16(0);
  body.Emit(Op::kCallYieldable).U32(ImportOrdinal(note)).List({0});
  body.Target(next).List({});
  body.Block(next).Emit(Op::kConstI32).U32(40).U16(0);
  body.Emit(Op::kGlobalStoreI32).U32(0).U16(0);
  body.Emit(Op::kReturn).List({});
  builder->Export(
      name, static_cast<int32_t>(builder->AddFunction("0v_v", body, 1, 0)));
}

ModuleBuilder Special(const std::string& name, int32_t init, int32_t deinit) {
  ModuleBuilder builder(name);
  builder.global_bytes = 4;
  const uint32_t note = builder.AddImport("log.note", "0i_v");
  AddSpecial(&builder, note, "__init", init);
  AddSpecial(&builder, note, "__deinit", deinit);
  BodyBuilder notify;
  notify.Block();
  notify.Emit(Op::kConstI32).U32(static_cast<uint32_t>(init * 100)).U16(1);
  notify.Emit(Op::kAddI32).U16(0).U16(1).U16(1);
  notify.Emit(Op::kCall).U32(ImportOrdinal(note)).List({1}).List({});
  notify.Emit(Op::kReturn).List({});
  builder.Export("__notify", static_cast<int32_t>(
                                 builder.AddFunction("0i_v", notify, 2, 0)));
  BodyBuilder get;
  get.Block().Emit(Op::kGlobalLoadI32).U32(0).U16(0);
  get.Emit(Op::kReturn).List({0});
  builder.Export("get",
                 static_cast<int32_t>(builder.AddFunction("0v_i", get, 1, 0)));
  BodyBuilder set;
  set.Block().Emit(Op::kGlobalStoreI32).U32(0).U16(0);
  set.Emit(Op::kReturn).List({});
  builder.Export("set",
                 static_cast<int32_t>(builder.AddFunction("0i_v", set, 1, 0)));
  return builder;
}

TEST(ContextTest, InitializesInOrderAndEndsInReverse) {
  Log log;
  {
    auto context = Link({RecorderModule(&log, false), Load(Special("a", 1, 11)),
                         Load(Special("b", 2, 12))});
    ASSERT_NE(context, nullptr);
    EXPECT_THAT(log.notes, ElementsAre(1, 2));
    EXPECT_EQ((*Call(*context, "a.get", {}))[0].i32(), 40);
    EXPECT_EQ(log.states, 1);
  }
  EXPECT_THAT(log.notes, ElementsAre(1, 2, 12, 11));
  EXPECT_EQ(log.states, 0);
}

TEST(ContextTest, EndsWithoutMemory) {
  Log log;
  auto context = Link({RecorderModule(&log, false), Load(Special("a", 1, 11))});
  ASSERT_NE(context, nullptr);
  context->pool().Trim();
  {
    const AllocationFault armed(0, /*goes_on=*/true);
    context.reset();
  }
  EXPECT_TRUE(AllocationFault::is_hit());
  EXPECT_EQ(log.states, 0);
}

TEST(ContextTest, FailedInitializerFailsTheContext) {
  Log log;
  std::vector<Ref<Module>> modules = {
      RecorderModule(&log, false), Load(Special("a", 1, 11)),
      Load(Special("b", -2, 12)), Load(Special("c", 3, 13))};
  const absl::Status status = Context::Create(modules, nullptr).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("b.__init"));
  // Only those that had been initialized are ended.
  EXPECT_THAT(log.notes, ElementsAre(1, -2, 11));
  EXPECT_EQ(log.states, 0);
}

TEST(ContextTest, NotifiesInOrderOrInReverse) {
  Log log;
  auto context = Link({RecorderModule(&log, true), Load(Special("a", 1, 11)),
                       Load(Special("b", 2, 12))});
  log.notes.clear();
  TAKT_ASSERT_OK(context->Notify(Signal::kResume));
  TAKT_ASSERT_OK(context->Notify(Signal::kSuspend));
  TAKT_ASSERT_OK(context->Notify(Signal::kLowMemory));
  TAKT_ASSERT_OK(context->Notify(Signal::kFork));
  EXPECT_THAT(log.notes, ElementsAre(100, 200, 201, 101, 202, 102, 103, 203));
}

TEST(ContextTest, SpecialFunctionsOfAnotherSignatureAreRefused) {
  ModuleBuilder builder("m");
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({});
  builder.Export("__init",
                 static_cast<int32_t>(builder.AddFunction("0i_v", body, 1, 0)));
  std::vector<Ref<Module>> modules = {Load(builder)};
  EXPECT_EQ(Context::Create(modules, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ContextTest, ParkedInitializerIsWaitedFor) {
  class ThreadWaiter final : public Waiter {
   public:
    explicit ThreadWaiter(Log* log) : log_(*log) {}
    void WaitUntilWoken(Invocation& invocation) override {
      ++waits;
      std::thread other([this] { log_.parked->Wake(); });
      while (invocation.state() == Invocation::State::kParked) {
        std::this_thread::yield();
      }
      other.join();
    }
    void Woken(Invocation&) override { ++woken; }
    int waits = 0;
    std::atomic<int> woken{0};

   private:
    Log& log_;
  };
  Log log;
  log.park = true;
  ThreadWaiter waiter(&log);
  {
    auto context =
        Context::Create(std::vector<Ref<Module>>{RecorderModule(&log, false),
                                                 Load(Special("a", 1, 11))},
                        &waiter);
    ASSERT_TRUE(context.ok()) << context.status();
    EXPECT_EQ(waiter.waits, 1);
    EXPECT_EQ(waiter.woken, 1);
  }
  EXPECT_THAT(log.notes, ElementsAre(1, 11));
}

TEST(ContextTest, FindsFunctions) {
  Log log;
  auto context = Link({RecorderModule(&log, true), Load(Special("a", 1, 11))});
  EXPECT_EQ(context->info(*context->FindFunction("a.get")).name, "get");
  EXPECT_EQ(context->info(*context->FindFunction("get")).name, "get");
  EXPECT_EQ(context->info(*context->FindFunction("log.note")).name, "note");
  EXPECT_EQ(context->FindFunction("note").status().code(),
            absl::StatusCode::kNotFound);
  const absl::Status missing = context->FindFunction("b.get").status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("b.get"));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("a.get"));
  EXPECT_NE(context->FindModule("a"), nullptr);
  EXPECT_EQ(context->FindModule("b"), nullptr);
  EXPECT_GT(context->memory_bytes(), 0u);
}

// ---- Later contexts ----

TEST(ContextTest, RepeatableInitializersRunOnce) {
  for (const bool repeatable : {true, false}) {
    Log log;
    std::vector<Ref<Module>> modules = {RecorderModule(&log, repeatable),
                                        Load(Special("a", 1, 11))};
    auto first = Link(modules);
    // Later changes of the first one are not copied.
    TAKT_ASSERT_OK(Call(*first, "set", {i(5)}).status());
    auto second = Link(modules);
    EXPECT_EQ((*Call(*second, "get", {}))[0].i32(), 40);
    TAKT_ASSERT_OK(Call(*second, "set", {i(6)}).status());
    auto third = Link(modules);
    EXPECT_EQ((*Call(*third, "get", {}))[0].i32(), 40);
    EXPECT_EQ(log.notes.size(), repeatable ? 1u : 3u);
    EXPECT_EQ(log.states, 3);
  }
}

// A type that cannot say how it is copied.
class Opaque final : public Object {
 public:
  static constexpr ObjectType kType{"test.opaque"};
  Opaque() : Object(&kType) {}
};

class Maker : public ModuleState {
 public:
  absl::StatusOr<Ref<Object>> Make() {
    ++made;
    if (what == "opaque") return Ref<Object>(MakeRef<Opaque>());
    Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(2, 0);
    if (what == "buffer") return Ref<Object>(buffer);
    // A list that holds the same buffer twice, and a list.
    Ref<List> list = List::Create({}, 0);
    Ref<List> inner = List::Create({}, 0);
    inner->Append(Value::FromRef(buffer)).IgnoreError();
    list->Append(Value::FromRef(buffer)).IgnoreError();
    list->Append(Value::FromRef(inner)).IgnoreError();
    list->Append(Value::I64(7)).IgnoreError();
    return Ref<Object>(list);
  }
  static std::string what;
  static int made;
};
std::string Maker::what;
int Maker::made;

// __init: global ref 0 = maker.make(); get returns it.
std::vector<Ref<Module>> MakerModules() {
  NativeModule::Builder native("maker", 1);
  native.SetInitializersRepeatable(true);
  native.SetStateFactory([]() -> absl::StatusOr<std::unique_ptr<ModuleState>> {
    return std::make_unique<Maker>();
  });
  native.Export<&Maker::Make>("make");
  ModuleBuilder builder("m");
  builder.global_refs = 2;
  builder.AddType("!vm.opaque");
  builder.AddRodata({1, 2, 3});
  const uint32_t make = builder.AddImport("maker.make", "0v_r");
  BodyBuilder init;
  init.Block().Emit(Op::kCall).U32(ImportOrdinal(make)).List({}).List({R(0)});
  init.Emit(Op::kGlobalStoreRef).U32(0).U32(0).U16(MoveR(0));
  init.Emit(Op::kConstRefRodata).U32(0).U16(R(0));
  init.Emit(Op::kGlobalStoreRef).U32(1).U32(0).U16(MoveR(0));
  init.Emit(Op::kReturn).List({});
  builder.Export("__init",
                 static_cast<int32_t>(builder.AddFunction("0v_v", init, 0, 1)));
  BodyBuilder get;
  get.Block().Emit(Op::kGlobalLoadRef).U32(0).U32(0).U16(R(0));
  get.Emit(Op::kGlobalLoadRef).U32(1).U32(0).U16(R(1));
  get.Emit(Op::kReturn).List({R(0), R(1)});
  builder.Export("get",
                 static_cast<int32_t>(builder.AddFunction("0v_rr", get, 0, 2)));
  return {*std::move(native).Build(), Load(builder)};
}

Ref<Object> GetRef(Context& context, size_t index) {
  return (*Call(context, "get", {}))[index].TakeRef();
}

TEST(ContextTest, MutableBuffersAreCopiedAndRodataShared) {
  Maker::what = "buffer";
  Maker::made = 0;
  const auto modules = MakerModules();
  auto first = Link(modules);
  auto* buffer = DynCast<ByteBuffer>(GetRef(*first, 0).get());
  buffer->data()[0] = 9;  // After the snapshot was taken.
  auto second = Link(modules);
  EXPECT_EQ(Maker::made, 1);
  auto* copy = DynCast<ByteBuffer>(GetRef(*second, 0).get());
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy, buffer);
  EXPECT_EQ(copy->data()[0], 0);
  EXPECT_EQ(GetRef(*first, 1), GetRef(*second, 1));
}

TEST(ContextTest, ListsAreCopiedWithTheirSharedElements) {
  Maker::what = "list";
  Maker::made = 0;
  const auto modules = MakerModules();
  auto first = Link(modules);
  auto second = Link(modules);
  EXPECT_EQ(Maker::made, 1);
  auto* original = DynCast<List>(GetRef(*first, 0).get());
  auto* copy = DynCast<List>(GetRef(*second, 0).get());
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy, original);
  ASSERT_EQ(copy->size(), 3u);
  EXPECT_EQ((*copy)[2].i64(), 7);
  auto* inner = DynCast<List>((*copy)[1].ref());
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ((*inner)[0].ref(), (*copy)[0].ref());
  EXPECT_NE((*copy)[0].ref(), (*original)[0].ref());
}

TEST(ContextTest, ObjectsThatCannotBeCopiedAreMadeAgain) {
  Maker::what = "opaque";
  Maker::made = 0;
  const auto modules = MakerModules();
  auto first = Link(modules);
  auto second = Link(modules);
  EXPECT_EQ(Maker::made, 2);
  EXPECT_NE(GetRef(*first, 0), GetRef(*second, 0));
}

TEST(ContextTest, ContextsMayBeMadeOnSeveralThreads) {
  Maker::what = "buffer";
  const auto modules = MakerModules();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&modules, &good] {
      for (int round = 0; round < 20; ++round) {
        auto context = Context::Create(modules, nullptr);
        if (context.ok() && GetRef(**context, 0) != nullptr) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 80);
}

}  // namespace
}  // namespace takt::vm
