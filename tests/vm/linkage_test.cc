#include "vm/linkage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/native_module.h"

namespace takt::vm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::Status Nothing(void*, NativeCall&) { return absl::OkStatus(); }
absl::Status Same(void*, NativeCall& call) {
  call.results()[0] = call.arguments()[0];
  return absl::OkStatus();
}

Ref<Module> Native(const std::string& name, uint32_t version,
                   bool repeatable = true) {
  NativeModule::Builder builder(name, version);
  builder.SetInitializersRepeatable(repeatable);
  builder.ExportRaw("nothing", "0v_v", Nothing, nullptr);
  builder.ExportRaw("same", "0i_i", Same, nullptr);
  builder.ExportRaw("device.same", "0i_i", Same, nullptr);
  return *std::move(builder).Build();
}

// A module whose f(x) is import number 0 of x.
ModuleBuilder Forwarder(const std::string& import, bool optional = false,
                        const std::string& convention = "0i_i") {
  ModuleBuilder builder("m");
  const uint32_t ordinal = builder.AddImport(import, convention, optional);
  BodyBuilder body;
  body.Block().Emit(Op::kCall).U32(ImportOrdinal(ordinal)).List({0}).List({0});
  body.Emit(Op::kReturn).List({0});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0i_i", body, 1, 0)));
  BodyBuilder resolved;
  resolved.Block().Emit(Op::kImportResolved).U32(ImportOrdinal(ordinal)).U16(0);
  resolved.Emit(Op::kReturn).List({0});
  builder.Export("resolved", static_cast<int32_t>(
                                 builder.AddFunction("0v_i", resolved, 1, 0)));
  return builder;
}

absl::Status LinkStatus(const std::vector<Ref<Module>>& modules) {
  return Linkage::Get(modules).status();
}

TEST(LinkageTest, BindsImportsToEarlierModules) {
  auto context = Link({Native("n", 1), Load(Forwarder("n.same"))});
  EXPECT_EQ((*Call(*context, "f", {i(6)}))[0].i32(), 6);
  // Later modules do not count.
  EXPECT_EQ(LinkStatus({Load(Forwarder("n.same")), Native("n", 1)}).code(),
            absl::StatusCode::kNotFound);
}

TEST(LinkageTest, SplitsImportNamesAtTheFirstDot) {
  auto context = Link({Native("n", 1), Load(Forwarder("n.device.same"))});
  EXPECT_EQ((*Call(*context, "f", {i(6)}))[0].i32(), 6);
}

TEST(LinkageTest, TheLastOfSeveralModulesOfANameCounts) {
  NativeModule::Builder empty("n", 1);
  EXPECT_EQ(LinkStatus({Native("n", 1), *std::move(empty).Build(),
                        Load(Forwarder("n.same"))})
                .code(),
            absl::StatusCode::kNotFound);
}

TEST(LinkageTest, ErrorsListEverythingThatIsMissing) {
  ModuleBuilder builder = Forwarder("n.absent");
  builder.AddImport("gone.function", "0v_v");
  builder.AddImport("n.nothing", "0i_v");
  builder.dependencies.push_back({"n", 7, 1});
  builder.dependencies.push_back({"missing", 2, 1});
  builder.dependencies.push_back({"optional", 2, 2});
  const absl::Status status = LinkStatus({Native("n", 6), Load(builder)});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("m needs module n version 7 or later, found "
                                 "version 6"));
  EXPECT_THAT(message, HasSubstr("m needs module missing version 2"));
  EXPECT_THAT(message, HasSubstr("n.absent"));
  EXPECT_THAT(message, HasSubstr("gone.function"));
  EXPECT_THAT(message, HasSubstr("m wants n.nothing to be (i32) -> () [0i_v], "
                                 "but n declares it as () -> () [0v_v]"));
  EXPECT_THAT(message, Not(HasSubstr("optional")));
}

TEST(LinkageTest, SignaturesMustBeEqualByteForByte) {
  EXPECT_EQ(
      LinkStatus({Native("n", 1), Load(Forwarder("n.same", false, "0i_f"))})
          .code(),
      absl::StatusCode::kInvalidArgument);
  // An optional import of another signature is no less wrong.
  EXPECT_EQ(
      LinkStatus({Native("n", 1), Load(Forwarder("n.same", true, "0i_f"))})
          .code(),
      absl::StatusCode::kInvalidArgument);
}

// A function of two conventions, each answering with its own number.
Ref<Module> TwoForms() {
  const auto form = [](void* self, NativeCall& call) {
    call.results()[0].i32 = *static_cast<const int32_t*>(self);
    return absl::OkStatus();
  };
  static const int32_t kForms[] = {1, 2};
  NativeModule::Builder builder("n", 7);
  builder.SetCompilers("iree-compile 3.0 to 3.9");
  builder.ExportRaw("form", "0I_i", form, const_cast<int32_t*>(&kForms[0]),
                    "iree-compile 3.5 to 3.9");
  builder.ExportRaw("form", "0i_i", form, const_cast<int32_t*>(&kForms[1]),
                    "iree-compile 3.0 to 3.4");
  builder.ExportRaw("same", "0i_i", Same, nullptr);
  return *std::move(builder).Build();
}

TEST(LinkageTest, ImportsFindTheExportOfTheirConvention) {
  auto context = Link({TwoForms(), Load(Forwarder("n.form"))});
  EXPECT_EQ((*Call(*context, "f", {i(6)}))[0].i32(), 2);
}

TEST(LinkageTest, ErrorsNameTheCompilersWhoseConventionsAreKnown) {
  ModuleBuilder builder = Forwarder("n.form", false, "0f_i");
  builder.AddImport("n.same", "0i_I");
  builder.AddImport("n.later", "0i_I");
  builder.dependencies.push_back({"n", 8, 1});
  const absl::Status status = LinkStatus({TwoForms(), Load(builder)});
  const std::string message(status.message());
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);  // The first one's.
  EXPECT_THAT(message,
              HasSubstr("m wants n.form to be (f32) -> (i32) [0f_i], but n "
                        "declares it as (i64) -> (i32) [0I_i] (iree-compile "
                        "3.5 to 3.9) or (i32) -> (i32) [0i_i] (iree-compile "
                        "3.0 to 3.4)"));
  EXPECT_THAT(message,
              HasSubstr("m wants n.same to be (i32) -> (i64) [0i_I], but n "
                        "declares it as (i32) -> (i32) [0i_i] (iree-compile "
                        "3.0 to 3.9)"));
  EXPECT_THAT(message, HasSubstr("m needs function n.later; module n has the "
                                 "functions of iree-compile 3.0 to 3.9"));
  EXPECT_THAT(message, HasSubstr("version 8 or later, found version 7 "
                                 "(iree-compile 3.0 to 3.9)"));
}

// import.resolved
TEST(LinkageTest, OptionalImportsMayStayUnbound) {
  for (const bool there : {false, true}) {
    auto context = Link(
        {Native("n", 1), Load(Forwarder(there ? "n.same" : "n.no", true))});
    EXPECT_EQ((*Call(*context, "resolved", {}))[0].i32(), there);
    const auto results = Call(*context, "f", {i(3)});
    EXPECT_EQ(results.ok(), there);
    if (there) continue;
    EXPECT_EQ(results.status().code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(results.status().message()), HasSubstr("n.no"));
  }
}

// Calls from one bytecode module into another, each with its own globals.
TEST(LinkageTest, ProgramsCallProgrammesWithTheirOwnState) {
  ModuleBuilder counter("counter");
  counter.global_bytes = 4;
  BodyBuilder body;  // global += x; return global
  body.Block().Emit(Op::kGlobalLoadI32).U32(0).U16(1);
  body.Emit(Op::kAddI32).U16(0).U16(1).U16(1);
  body.Emit(Op::kGlobalStoreI32).U32(0).U16(1).Emit(Op::kReturn).List({1});
  counter.Export("add",
                 static_cast<int32_t>(counter.AddFunction("0i_i", body, 2, 0)));
  ModuleBuilder user = Forwarder("counter.add");
  user.global_bytes = 4;
  std::vector<Ref<Module>> modules = {Load(counter), Load(user)};
  auto first = Link(modules);
  auto second = Link(modules);
  EXPECT_EQ((*Call(*first, "f", {i(3)}))[0].i32(), 3);
  EXPECT_EQ((*Call(*first, "f", {i(4)}))[0].i32(), 7);
  EXPECT_EQ((*Call(*first, "counter.add", {i(1)}))[0].i32(), 8);
  EXPECT_EQ((*Call(*second, "f", {i(5)}))[0].i32(), 5);
}

TEST(LinkageTest, IsMadeOncePerListOfModules) {
  const Ref<Module> a = Native("a", 1);
  const Ref<Module> b = Native("b", 1);
  const Ref<Module> last = Load(Forwarder("a.same"));
  auto one = Linkage::Get(std::vector<Ref<Module>>{a, last});
  auto two = Linkage::Get(std::vector<Ref<Module>>{a, last});
  auto other = Linkage::Get(std::vector<Ref<Module>>{a, b, last});
  ASSERT_TRUE(one.ok() && two.ok() && other.ok());
  EXPECT_EQ(one->get(), two->get());
  EXPECT_NE(one->get(), other->get());
  EXPECT_EQ(a->reference_count(), 3);  // Here, and in two linkages.
}

TEST(LinkageTest, IsDestroyedWithItsLastModule) {
  const Ref<Module> a = Native("a", 1);
  Ref<Module> last = Load(Forwarder("a.same"));
  ASSERT_TRUE(Linkage::Get(std::vector<Ref<Module>>{a, last}).ok());
  EXPECT_FALSE(a->IsUnique());
  EXPECT_TRUE(last->IsUnique());
  last.reset();
  EXPECT_TRUE(a->IsUnique());
}

TEST(LinkageTest, NoModulesAreAnError) {
  EXPECT_EQ(LinkStatus({}).code(), absl::StatusCode::kInvalidArgument);
}

// An __init that calls `import` by way of another function and module.
ModuleBuilder Initialized(const std::string& import) {
  ModuleBuilder builder("last");
  const uint32_t ordinal = builder.AddImport(import, "0v_v");
  BodyBuilder inner;
  inner.Block().Emit(Op::kCall).U32(ImportOrdinal(ordinal)).List({}).List({});
  inner.Emit(Op::kReturn).List({});
  const uint32_t callee = builder.AddFunction("0v_v", inner, 0, 0);
  BodyBuilder init;
  init.Block().Emit(Op::kCall).U32(callee).List({}).List({});
  init.Emit(Op::kReturn).List({});
  builder.Export("__init",
                 static_cast<int32_t>(builder.AddFunction("0v_v", init, 0, 0)));
  return builder;
}

TEST(LinkageTest, InitializersRepeatOnlyIfAllTheyReachDoes) {
  ModuleBuilder middle("middle");
  const uint32_t ordinal = middle.AddImport("n.nothing", "0v_v");
  BodyBuilder body;
  body.Block().Emit(Op::kCall).U32(ImportOrdinal(ordinal)).List({}).List({});
  body.Emit(Op::kReturn).List({});
  middle.Export("f",
                static_cast<int32_t>(middle.AddFunction("0v_v", body, 0, 0)));
  for (const bool repeatable : {true, false}) {
    auto direct = Linkage::Get(std::vector<Ref<Module>>{
        Native("n", 1, repeatable), Load(Initialized("n.nothing"))});
    ASSERT_TRUE(direct.ok());
    EXPECT_EQ((*direct)->initializers_repeatable(), repeatable);
    auto across = Linkage::Get(
        std::vector<Ref<Module>>{Native("n", 1, repeatable), Load(middle),
                                 Load(Initialized("middle.f"))});
    ASSERT_TRUE(across.ok());
    EXPECT_EQ((*across)->initializers_repeatable(), repeatable);
  }
  // Functions that no initializer reaches do not matter.
  auto unused = Linkage::Get(std::vector<Ref<Module>>{
      Native("n", 1, false), Load(Forwarder("n.same"))});
  ASSERT_TRUE(unused.ok());
  EXPECT_TRUE((*unused)->initializers_repeatable());
}

}  // namespace
}  // namespace takt::vm
