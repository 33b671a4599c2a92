#include "modules/io_parameters_module.h"

#include <map>

#include "modules/parameter_archive.h"
#include "tests/modules/archive_builder.h"
#include "tests/modules/hal_calls.h"
#include "vm/list.h"

namespace takt::modules {
namespace {

constexpr int32_t kPlainUsage = 3075;

// One row of a request.
struct Row {
  std::string key;
  uint64_t parameter_offset;
  uint64_t buffer_offset;
  uint64_t length;
};

// The tables that compiled code keeps in rodata.
struct Tables {
  explicit Tables(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      AppendBytes(&keys, static_cast<uint32_t>(key_data.size()));
      AppendBytes(&keys, static_cast<uint32_t>(row.key.size()));
      key_data += row.key;
      AppendBytes(&spans, row.parameter_offset);
      AppendBytes(&spans, row.buffer_offset);
      AppendBytes(&spans, row.length);
    }
  }
  std::string keys;
  std::string key_data;
  std::string spans;
};

class IoParametersTest : public testing::Test {
 protected:
  void SetUp() override {
    archive_ = MakeRef<ParameterIndex>();
    ArchiveBuilder builder;
    builder.AddData("weights", "0123456789abcdef");
    builder.AddSplat("ones", 8, std::string("\x00\x00\x80\x3f", 4), 4);
    builder.AddSplat("wide", 20, "ABCDEFGH", 8);
    builder.AddExternal("elsewhere");
    file_ = FileOf(builder.Build());
    TAKT_ASSERT_OK(ReadParameterArchive(file_, *archive_));

    writable_ = MakeRef<ParameterIndex>();
    Parameter state;
    state.key = "state";
    state.file = FileOf("........", hal::kAccessAll);
    state.byte_length = 8;
    TAKT_ASSERT_OK(writable_->Add(state));
    state.key = "secret";
    state.file = FileOf("********", hal::kAccessWrite);
    TAKT_ASSERT_OK(writable_->Add(state));

    auto module = CreateIoParametersModule(
        calls_.types,
        {{"model", archive_}, {"", writable_}, {"model", writable_}});
    TAKT_ASSERT_OK(module);
    TAKT_ASSERT_OK(calls_.Link("io_parameters", {*module}));
    signal_ = hal::Fence::Create();
  }

  // The buffers of a load that waits for `wait` (may be null).
  absl::StatusOr<std::vector<Ref<hal::Buffer>>> Load(
      const char* scope, const std::vector<Row>& rows, int32_t usage,
      const Ref<hal::Fence>& wait = nullptr) {
    const Tables tables(rows);
    TAKT_ASSIGN_OR_RETURN(
        std::vector<vm::Value> results,
        calls_.Call("io_parameters.load", calls_.device_ref(), kAnyQueue, wait,
                    signal_, scope, kAnyQueue, kDeviceLocal, usage,
                    ConstantBytes(tables.keys), ConstantBytes(tables.key_data),
                    ConstantBytes(tables.spans)));
    auto* list = DynCast<vm::List>(results[0].ref());
    EXPECT_NE(list, nullptr);
    std::vector<Ref<hal::Buffer>> buffers;
    for (size_t i = 0; i < list->size(); ++i) {
      auto* buffer = DynCast<hal::Buffer>((*list)[i].ref());
      EXPECT_NE(buffer, nullptr);
      buffers.push_back(Ref<hal::Buffer>::Retain(buffer));
    }
    return buffers;
  }
  HalCalls::Results Gather(const char* scope, const Ref<hal::Buffer>& target,
                           const std::vector<Row>& rows,
                           const Ref<hal::Fence>& wait = nullptr) {
    const Tables tables(rows);
    return calls_.Call("io_parameters.gather", calls_.device_ref(), kAnyQueue,
                       wait, signal_, scope, target, ConstantBytes(tables.keys),
                       ConstantBytes(tables.key_data),
                       ConstantBytes(tables.spans));
  }
  HalCalls::Results Scatter(const char* scope, const Ref<hal::Buffer>& source,
                            const std::vector<Row>& rows,
                            const Ref<hal::Fence>& wait = nullptr) {
    const Tables tables(rows);
    return calls_.Call("io_parameters.scatter", calls_.device_ref(), kAnyQueue,
                       wait, signal_, source, scope, ConstantBytes(tables.keys),
                       ConstantBytes(tables.key_data),
                       ConstantBytes(tables.spans));
  }
  bool IsSignaled() const {
    bool reached = false;
    EXPECT_TRUE(signal_->Query(&reached).ok());
    return reached;
  }

  HalCalls calls_;
  Ref<hal::File> file_;
  Ref<ParameterIndex> archive_;   // Read-only, of scope "model".
  Ref<ParameterIndex> writable_;  // Of the scope without name, and "model".
  Ref<hal::Fence> signal_;
};

TEST_F(IoParametersTest, ExportsItsThreeFunctions) {
  auto module = CreateIoParametersModule(calls_.types, {});
  TAKT_ASSERT_OK(module);
  std::map<std::string, std::string> exported;
  for (const vm::ExportInfo& info : (*module)->exports()) {
    exported[info.name] = info.convention.text;
  }
  const std::map<std::string, std::string> expected = {
      {"load", "0rIrrrIiirrr_r"},
      {"gather", "0rIrrrrrrr_v"},
      {"scatter", "0rIrrrrrrr_v"}};
  EXPECT_EQ(exported, expected);
  EXPECT_EQ((*module)->version(), 0u);
}

TEST_F(IoParametersTest, RejectsAScopeWithoutProvider) {
  EXPECT_THAT(CreateIoParametersModule(calls_.types, {{"x", nullptr}}),
              FailsWith(kInvalid, "scope 'x' has no provider"));
}

TEST_F(IoParametersTest, LoadGivesABufferForEachRow) {
  auto buffers = Load("model",
                      {{"weights", 4, 0, 8},
                       {"ones", 0, 0, 8},
                       {"wide", 3, 0, 10},
                       {"weights", 16, 0, 0}},
                      kPlainUsage);
  TAKT_ASSERT_OK(buffers);
  TAKT_ASSERT_OK(signal_->Wait(INT64_MAX));
  ASSERT_EQ(buffers->size(), 4u);
  EXPECT_EQ(HalCalls::TextOf(*(*buffers)[0]), "456789ab");
  EXPECT_EQ(HalCalls::TextOf(*(*buffers)[1]),
            BytesOfValues<float>({1.0f, 1.0f}));
  EXPECT_EQ(HalCalls::TextOf(*(*buffers)[2]), "DEFGHABCDE");
  EXPECT_EQ((*buffers)[3]->byte_length(), 0u);
  // Copies: the program may write them.
  TAKT_ASSERT_OK((*buffers)[0]->Map(0, 1, hal::kAccessWrite));
}

TEST_F(IoParametersTest, LoadMapsAlignedImmutableParameters) {
  const Parameter* weights = archive_->Find("weights");
  ASSERT_EQ(weights->file_offset % 64, 0u);
  auto buffers = Load("model", {{"weights", 0, 0, 16}, {"weights", 1, 0, 15}},
                      kConstantUsage);
  TAKT_ASSERT_OK(buffers);
  TAKT_ASSERT_OK(signal_->Wait(INT64_MAX));
  const uint8_t* in_file = file_->data() + weights->file_offset;
  EXPECT_EQ((*buffers)[0]->data(), in_file);
  EXPECT_EQ((*buffers)[0]->access(), hal::kAccessRead);
  EXPECT_NE((*buffers)[1]->data(), in_file + 1);
  EXPECT_EQ(HalCalls::TextOf(*(*buffers)[1]), "123456789abcdef");
}

TEST_F(IoParametersTest, LoadedBuffersKeepTheFile) {
  auto buffers = Load("model", {{"weights", 0, 0, 16}}, kConstantUsage);
  TAKT_ASSERT_OK(buffers);
  calls_.context.reset();
  archive_.reset();
  file_.reset();
  EXPECT_EQ(HalCalls::TextOf(*(*buffers)[0]), "0123456789abcdef");
}

TEST_F(IoParametersTest, LoadSignalsOnlyAfterItsWait) {
  const auto wait = hal::Fence::Create();
  auto buffers = Load("model", {{"weights", 0, 0, 16}, {"ones", 0, 0, 8}},
                      kConstantUsage, wait);
  TAKT_ASSERT_OK(buffers);
  EXPECT_FALSE(IsSignaled());
  TAKT_ASSERT_OK(wait->Signal());
  TAKT_ASSERT_OK(signal_->Wait(INT64_MAX));
}

TEST_F(IoParametersTest, AFailedWaitFailsTheLoad) {
  const auto wait = hal::Fence::Create();
  TAKT_ASSERT_OK(Load("model", {{"weights", 0, 0, 16}}, kPlainUsage, wait));
  wait->Fail(absl::AbortedError("the cause"));
  EXPECT_THAT(signal_->Wait(INT64_MAX),
              FailsWith(absl::StatusCode::kAborted, "the cause"));
}

TEST_F(IoParametersTest, LoadOfNothingIsDoneAtOnce) {
  auto buffers = Load("model", {}, kPlainUsage);
  TAKT_ASSERT_OK(buffers);
  EXPECT_TRUE(buffers->empty());
  EXPECT_TRUE(IsSignaled());
}

TEST_F(IoParametersTest, TheNullScopeIsTheOneWithoutName) {
  const Tables tables({{"state", 0, 0, 8}});
  TAKT_ASSERT_OK(calls_.Call(
      "io_parameters.load", calls_.device_ref(), kAnyQueue, nullptr, signal_,
      nullptr, kAnyQueue, kDeviceLocal, kPlainUsage, ConstantBytes(tables.keys),
      ConstantBytes(tables.key_data), ConstantBytes(tables.spans)));
  TAKT_ASSERT_OK(Load("", {{"state", 0, 0, 8}}, kPlainUsage));
}

// "state" is in the second provider of that scope.
TEST_F(IoParametersTest, ProvidersOfOneScopeAreAskedInOrder) {
  TAKT_ASSERT_OK(Load("model", {{"state", 0, 0, 8}}, kPlainUsage));
}

TEST_F(IoParametersTest, ErrorsListTheExistingScopesAndKeys) {
  EXPECT_THAT(Load("other", {{"weights", 0, 0, 16}}, kPlainUsage),
              FailsWith(kNotFound, "scope 'other': known are '', 'model'"));
  EXPECT_THAT(
      Load("model", {{"weight", 0, 0, 16}}, kPlainUsage),
      FailsWith(kNotFound,
                "'model::weight': known are 'elsewhere', 'ones', 'secret', "
                "'state', 'weights', 'wide'"));
  EXPECT_FALSE(IsSignaled());
}

TEST_F(IoParametersTest, RangesBeyondAParameterAreRejected) {
  for (const Row& row :
       {Row{"weights", 0, 0, 17}, Row{"weights", 17, 0, 0},
        Row{"weights", ~uint64_t{0}, 0, 2}, Row{"ones", 4, 0, 5}}) {
    EXPECT_THAT(Load("model", {row}, kPlainUsage),
                FailsWith(kOutOfRange, "io_parameters.load"));
  }
  EXPECT_FALSE(IsSignaled());
}

TEST_F(IoParametersTest, ExternalEntriesAreRefusedByName) {
  EXPECT_THAT(Load("model", {{"elsewhere", 0, 0, 0}}, kPlainUsage),
              FailsWith(kUnimplemented, "'model::elsewhere': an external"));
}

TEST_F(IoParametersTest, UnreadableParametersAreDenied) {
  EXPECT_THAT(Load("", {{"secret", 0, 0, 8}}, kPlainUsage),
              FailsWith(kDenied, "'secret' cannot be read"));
  EXPECT_THAT(Gather("", calls_.BufferOf("........"), {{"secret", 0, 0, 8}}),
              FailsWith(kDenied, "io_parameters.gather"));
}

TEST_F(IoParametersTest, GatherFillsOneBuffer) {
  const auto target = calls_.BufferOf("..........................");
  const auto wait = hal::Fence::Create();
  TAKT_ASSERT_OK(Gather(
      "model", target,
      {{"weights", 2, 1, 4}, {"ones", 0, 8, 8}, {"wide", 7, 17, 9}}, wait));
  EXPECT_EQ(HalCalls::TextOf(*target), "..........................");
  EXPECT_FALSE(IsSignaled());
  TAKT_ASSERT_OK(wait->Signal());
  TAKT_ASSERT_OK(signal_->Wait(INT64_MAX));
  EXPECT_EQ(HalCalls::TextOf(*target),
            ".2345..." + BytesOfValues<float>({1, 1}) + "." + "HABCDEFGH");
}

TEST_F(IoParametersTest, GatherChecksEveryRowBeforeItStarts) {
  const auto target = calls_.BufferOf("........");
  EXPECT_THAT(
      Gather("model", target, {{"weights", 0, 0, 4}, {"weights", 0, 5, 4}}),
      FailsWith(kOutOfRange, "4 bytes at 5 are not within the buffer of 8"));
  EXPECT_THAT(Gather("model", target, {{"weights", 0, ~uint64_t{0}, 4}}),
              FailsWith(kOutOfRange, "io_parameters.gather"));
  EXPECT_EQ(HalCalls::TextOf(*target), "........");
  EXPECT_FALSE(IsSignaled());
}

TEST_F(IoParametersTest, ScatterWritesParameters) {
  const auto wait = hal::Fence::Create();
  TAKT_ASSERT_OK(Scatter("", calls_.BufferOf("abcdef"),
                         {{"state", 1, 2, 3}, {"state", 6, 0, 2}}, wait));
  const uint8_t* state = writable_->Find("state")->file->data();
  EXPECT_EQ(state[1], '.');
  TAKT_ASSERT_OK(wait->Signal());
  TAKT_ASSERT_OK(signal_->Wait(INT64_MAX));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(state), 8), ".cde..ab");
}

TEST_F(IoParametersTest, ScatterWritesNothingThatIsReadOnly) {
  const auto source = calls_.BufferOf("abcdefgh");
  for (const char* key : {"weights", "ones"}) {
    EXPECT_THAT(Scatter("model", source, {{key, 0, 0, 8}}),
                FailsWith(kDenied, "cannot be written"));
  }
  EXPECT_THAT(Scatter("", source, {{"state", 0, 4, 8}}),
              FailsWith(kOutOfRange, "io_parameters.scatter"));
  EXPECT_FALSE(IsSignaled());
}

TEST_F(IoParametersTest, MalformedTablesAreRejected) {
  const Tables good({{"weights", 0, 0, 16}});
  auto call = [&](const std::string& keys, const std::string& key_data,
                  const std::string& spans) {
    return calls_.Call(
        "io_parameters.gather", calls_.device_ref(), kAnyQueue, nullptr,
        signal_, "model", calls_.BufferOf(std::string(16, '.')),
        ConstantBytes(keys), ConstantBytes(key_data), ConstantBytes(spans));
  };
  TAKT_ASSERT_OK(call(good.keys, good.key_data, good.spans));
  EXPECT_THAT(call(good.keys + "x", good.key_data, good.spans),
              FailsWith(kInvalid, "got 9 and 24 bytes"));
  EXPECT_THAT(call(good.keys, good.key_data, good.spans + good.spans),
              FailsWith(kInvalid, "got 8 and 48 bytes"));
  EXPECT_THAT(call(good.keys, good.key_data, good.spans.substr(1)),
              FailsWith(kInvalid, ""));
  EXPECT_THAT(call(good.keys, good.key_data.substr(1), good.spans),
              FailsWith(kOutOfRange, "key 0"));
  EXPECT_THAT(
      call(BytesOfValues<uint32_t>({~0u, 2}), good.key_data, good.spans),
      FailsWith(kOutOfRange, "key 0"));
}

}  // namespace
}  // namespace takt::modules
