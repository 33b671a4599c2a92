#include "vm/bytecode_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "tests/vm/module_builder.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A module with one of everything.
ModuleBuilder SmallModule() {
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({0});
  ModuleBuilder module("small");
  module.version = 3;
  module.attributes = {{"a", "1"}};
  module.types = {"i32", "!vm.buffer"};
  module.dependencies = {{"hal", 7, 1}, {"extra", 0, 2}};
  module.AddImport("hal.device.count", "0v_i");
  module.AddImport("extra.trace", "0rCiIrD_v", /*optional=*/true);
  module.AddFunction("0i_i", body, 1, 0);
  module.functions[0].attributes = {{"iree.abi.model", "coarse-fences"}};
  module.Export("first", 0);
  module.Export("second", 0);
  module.AddRodata({1, 2, 3});
  module.AddRodata({4, 5}, /*external=*/true);
  module.AddRodata({6}, /*external=*/true);
  module.global_bytes = 24;
  module.global_refs = 2;
  return module;
}

TEST(BytecodeArchiveTest, ReadsEveryTable) {
  const std::vector<uint8_t> bytes = SmallModule().Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_EQ(archive->name, "small");
  EXPECT_EQ(archive->version, 3u);
  EXPECT_EQ(archive->bytecode_version->number, 0x00110000u);
  EXPECT_EQ(archive->requirements, 15u);
  ASSERT_EQ(archive->attributes.size(), 1u);
  EXPECT_EQ(archive->attributes[0].key, "a");
  EXPECT_EQ(archive->attributes[0].value, "1");
  EXPECT_THAT(archive->type_names, ElementsAre("i32", "!vm.buffer"));
  ASSERT_EQ(archive->dependencies.size(), 2u);
  EXPECT_EQ(archive->dependencies[0].module_name, "hal");
  EXPECT_EQ(archive->dependencies[0].minimum_version, 7u);
  EXPECT_FALSE(archive->dependencies[0].optional);
  EXPECT_TRUE(archive->dependencies[1].optional);
  ASSERT_EQ(archive->imports.size(), 2u);
  EXPECT_EQ(archive->imports[0].full_name, "hal.device.count");
  EXPECT_FALSE(archive->imports[0].optional);
  EXPECT_EQ(archive->imports[1].convention.text, "0rCiIrD_v");
  EXPECT_TRUE(archive->imports[1].optional);
  ASSERT_EQ(archive->exports.size(), 2u);
  EXPECT_EQ(archive->exports[1].local_name, "second");
  EXPECT_EQ(archive->exports[1].function, 0u);
  EXPECT_EQ(archive->global_bytes, 24u);
  EXPECT_EQ(archive->global_ref_count, 2u);
}

TEST(BytecodeArchiveTest, RodataLiesWhereTheFileHasIt) {
  const std::vector<uint8_t> bytes = SmallModule().Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  ASSERT_EQ(archive->rodata.size(), 3u);
  EXPECT_THAT(archive->rodata[0], ElementsAre(1, 2, 3));
  EXPECT_THAT(archive->rodata[1], ElementsAre(4, 5));
  EXPECT_THAT(archive->rodata[2], ElementsAre(6));
  for (const auto& segment : archive->rodata) {
    EXPECT_GE(segment.data(), bytes.data());
    EXPECT_LE(segment.data() + segment.size(), bytes.data() + bytes.size());
  }
}

// `bytes` behind a local file header of a ZIP archive, as the compiler has it:
// the first entry's data begin at 64.
std::vector<uint8_t> ZipForm(const std::vector<uint8_t>& bytes) {
  const std::string name = "module.fb";
  std::vector<uint8_t> out(64, 0);
  std::memcpy(out.data(), "PK\3\4", 4);
  out[26] = static_cast<uint8_t>(name.size());
  out[28] = static_cast<uint8_t>(64 - 30 - name.size());
  std::memcpy(out.data() + 30, name.data(), name.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

// The error of Parse() for `bytes`; "" if there is none.
std::string ErrorOf(const std::vector<uint8_t>& bytes) {
  return std::string(BytecodeArchive::Parse(bytes).status().message());
}
std::string ErrorOf(const ModuleBuilder& module) {
  return ErrorOf(module.Build());
}

TEST(BytecodeArchiveTest, ReadsTheZipForm) {
  const std::vector<uint8_t> bytes = ZipForm(SmallModule().Build());
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_EQ(archive->name, "small");
  EXPECT_EQ(archive->flatbuffer.data(), bytes.data() + 64);
  EXPECT_EQ(archive->aligned_copy, nullptr);
  EXPECT_THAT(archive->rodata[1], ElementsAre(4, 5));
}

TEST(BytecodeArchiveTest, ReadsFromEveryAlignment) {
  const std::vector<uint8_t> bytes = SmallModule().Build();
  for (size_t shift = 0; shift < 16; ++shift) {
    std::vector<uint8_t> shifted(shift);
    shifted.insert(shifted.end(), bytes.begin(), bytes.end());
    absl::StatusOr<BytecodeArchive> parsed =
        BytecodeArchive::Parse(absl::MakeSpan(shifted).subspan(shift));
    ASSERT_TRUE(parsed.ok()) << shift << parsed.status();
    const BytecodeArchive archive = *std::move(parsed);
    EXPECT_EQ(archive.aligned_copy != nullptr, shift % 8 != 0);
    EXPECT_THAT(archive.rodata[0], ElementsAre(1, 2, 3));
    EXPECT_THAT(archive.rodata[1], ElementsAre(4, 5));
    EXPECT_EQ(archive.functions[0].body[0], 0x79);
  }
}

TEST(BytecodeArchiveTest, FunctionsHaveTheirDescriptorsAndAttributes) {
  const std::vector<uint8_t> bytes = SmallModule().Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  ASSERT_EQ(archive->functions.size(), 1u);
  const ArchiveFunction& function = archive->functions[0];
  EXPECT_THAT(function.body, ElementsAre(0x79, 0x5a, 1, 0, 0, 0));
  EXPECT_EQ(function.block_count, 1u);
  EXPECT_EQ(function.value_register_count, 1u);
  EXPECT_EQ(function.ref_register_count, 0u);
  EXPECT_EQ(function.convention.text, "0i_i");
  ASSERT_EQ(function.attributes.size(), 1u);
  EXPECT_EQ(function.attributes[0].key, "iree.abi.model");
  EXPECT_EQ(function.attributes[0].value, "coarse-fences");
}

// i at 0, F at 2 and 3: the hole counts.
TEST(BytecodeArchiveTest, FunctionsHaveRegistersForAllTheirArguments) {
  ModuleBuilder module = SmallModule();
  module.functions[0].convention = "0iFrr_i";
  std::vector<uint8_t> bytes = module.Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_EQ(archive->functions[0].value_register_count, 4u);
  EXPECT_EQ(archive->functions[0].ref_register_count, 2u);
  module.functions[0].convention = "0" + std::string(16384, 'r') + "_v";
  bytes = module.Build();
  EXPECT_THAT(std::string(BytecodeArchive::Parse(bytes).status().message()),
              HasSubstr("0 value and 16384 ref registers; at most"));
}

TEST(BytecodeArchiveTest, TablesMayBeMissing) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto name = fbb.CreateString("bare");
  wire::ModuleBuilder module(fbb);
  module.add_name(name);
  module.add_bytecode_version(17u << 16);
  fbb.FinishSizePrefixed(module.Finish(), wire::ModuleIdentifier());
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(),
                                   fbb.GetBufferPointer() + fbb.GetSize());
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok()) << archive.status();
  EXPECT_TRUE(archive->functions.empty());
  EXPECT_TRUE(archive->ReadSourceMaps().empty());
}

TEST(BytecodeArchiveTest, RefusesFilesTooSmallForAModule) {
  EXPECT_THAT(ErrorOf(std::vector<uint8_t>()), HasSubstr("the file has 0"));
  EXPECT_THAT(ErrorOf(std::vector<uint8_t>(15)), HasSubstr("the file has 15"));
}

TEST(BytecodeArchiveTest, RefusesAnotherIdentifier) {
  std::vector<uint8_t> bytes = SmallModule().Build();
  std::memcpy(bytes.data() + 8, "ELF\n", 4);
  EXPECT_EQ(ErrorOf(bytes),
            "offset 8: identifier \"IREE\" expected, found \"ELF\\n\"");
}

TEST(BytecodeArchiveTest, RefusesAPrefixLongerThanTheFile) {
  std::vector<uint8_t> bytes = SmallModule().Build();
  for (const uint32_t prefix :
       {static_cast<uint32_t>(bytes.size()), 0x7fffffffu, 0xffffffffu}) {
    std::memcpy(bytes.data(), &prefix, 4);
    EXPECT_THAT(ErrorOf(bytes), HasSubstr("bytes announced")) << prefix;
  }
}

TEST(BytecodeArchiveTest, RefusesAZipEntryPastTheEnd) {
  std::vector<uint8_t> bytes = ZipForm(SmallModule().Build());
  bytes[28] = bytes[29] = 0xff;
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("a module of at least 16 bytes"));
}

TEST(BytecodeArchiveTest, NamesVersionsFoundAndSupported) {
  ModuleBuilder module = SmallModule();
  module.bytecode_version = 14u << 16;
  EXPECT_THAT(ErrorOf(module), HasSubstr("bytecode version 14.0"));
  module.bytecode_version = 17u << 16 | 1;
  EXPECT_THAT(ErrorOf(module),
              HasSubstr("supported: iree-compile 3.8 to 3.13 (bytecode 15.0, "
                        "16.0, 17.0)"));
}

TEST(BytecodeArchiveTest, ReadsEachSupportedVersion) {
  for (const uint32_t major : {15, 16, 17}) {
    ModuleBuilder module = SmallModule();
    module.bytecode_version = major << 16;
    const std::vector<uint8_t> bytes = module.Build();
    const absl::StatusOr<BytecodeArchive> archive =
        BytecodeArchive::Parse(bytes);
    ASSERT_TRUE(archive.ok()) << archive.status();
    EXPECT_EQ(archive->bytecode_version->number, major << 16);
  }
}

TEST(BytecodeArchiveTest, NamesTheVersionOfTablesItCannotRead) {
  // A table of another major: field 0, a string for us, is a number there.
  flatbuffers::FlatBufferBuilder fbb;
  const auto start = fbb.StartTable();
  fbb.AddElement<uint32_t>(wire::Module::VT_NAME, 12345, 0);
  fbb.AddElement<uint32_t>(wire::Module::VT_BYTECODE_VERSION, 18u << 16, 0);
  fbb.FinishSizePrefixed(flatbuffers::Offset<wire::Module>(fbb.EndTable(start)),
                         wire::ModuleIdentifier());
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(),
                                   fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("bytecode version 18.0"));
}

TEST(BytecodeArchiveTest, RefusesFeaturesItLacks) {
  ModuleBuilder module = SmallModule();
  module.requirements = 0x13;
  EXPECT_EQ(ErrorOf(module),
            "module: required features 13 (hex), of which Takt has 3");
  module = SmallModule();
  module.functions[0].requirements = 0x80000000;
  EXPECT_THAT(ErrorOf(module), HasSubstr("function 0: required features"));
}

TEST(BytecodeArchiveTest, RefusesEmptyNames) {
  ModuleBuilder module("");
  EXPECT_EQ(ErrorOf(module), "module name is empty");
  module = SmallModule();
  module.types[1] = "";
  EXPECT_EQ(ErrorOf(module), "type 1: name is empty");
  module = SmallModule();
  module.dependencies[0].name = "";
  EXPECT_EQ(ErrorOf(module), "dependency 0: name is empty");
  module = SmallModule();
  module.imports[1].full_name = "";
  EXPECT_EQ(ErrorOf(module), "import 1: name is empty");
  module = SmallModule();
  module.exports[1].first = "";
  EXPECT_EQ(ErrorOf(module), "export 1: name is empty");
  module = SmallModule();
  module.functions[0].attributes[0].first = "";
  EXPECT_EQ(ErrorOf(module), "function 0: attribute 0: key is empty");
}

TEST(BytecodeArchiveTest, RefusesImportsOfNoModule) {
  for (const char* name : {"abs", ".abs", "hal.", "."}) {
    ModuleBuilder module = SmallModule();
    module.imports[0].full_name = name;
    EXPECT_THAT(ErrorOf(module), HasSubstr("is not of the form")) << name;
  }
}

TEST(BytecodeArchiveTest, RefusesUnknownFlags) {
  ModuleBuilder module = SmallModule();
  module.imports[0].flags = 4;
  EXPECT_THAT(ErrorOf(module), HasSubstr("import 0: flags 4"));
  module = SmallModule();
  module.dependencies[1].flags = 0;
  EXPECT_THAT(ErrorOf(module), HasSubstr("dependency 1: flags 0"));
}

TEST(BytecodeArchiveTest, RefusesMalformedConventions) {
  ModuleBuilder module = SmallModule();
  module.functions[0].convention = "0q";
  EXPECT_THAT(ErrorOf(module), HasSubstr("function 0: calling convention"));
  module = SmallModule();
  module.imports[1].convention = "0Ci";
  EXPECT_THAT(ErrorOf(module), HasSubstr("import 1: calling convention"));
}

TEST(BytecodeArchiveTest, RefusesFunctionsWithoutSignatures) {
  ModuleBuilder module = SmallModule();
  module.signatures_dropped = 1;
  EXPECT_EQ(ErrorOf(module), "1 functions, but 0 signatures");
}

TEST(BytecodeArchiveTest, RefusesExportsOfNoFunction) {
  for (const int32_t function : {1, -1, 0x7fffffff}) {
    ModuleBuilder module = SmallModule();
    module.exports[0].second = function;
    EXPECT_THAT(ErrorOf(module), HasSubstr("export 0 (first): function "))
        << function;
  }
}

TEST(BytecodeArchiveTest, RefusesBodiesOutsideTheBytecode) {
  const struct {
    int32_t offset;
    int32_t length;
  } kBad[] = {
      {-8, 6}, {0, 0},          {0, -5},         {0, 9},
      {8, 1},  {0x7fffffff, 1}, {4, 0x7fffffff}, {0x7fffffff, 0x7fffffff}};
  for (const auto& [offset, length] : kBad) {
    ModuleBuilder module = SmallModule();
    module.functions[0].offset = offset;
    module.functions[0].length = length;
    EXPECT_THAT(ErrorOf(module), HasSubstr("function 0: body at "))
        << offset << " " << length;
  }
}

TEST(BytecodeArchiveTest, RefusesDescriptorsOutOfBounds) {
  ModuleBuilder module = SmallModule();
  module.functions[0].reserved = 1;
  EXPECT_THAT(ErrorOf(module), HasSubstr("reserved field 1"));
  module = SmallModule();
  module.functions[0].block_count = 0;
  EXPECT_THAT(ErrorOf(module), HasSubstr("0 blocks"));
  module = SmallModule();
  module.functions[0].value_registers = 32768;
  EXPECT_THAT(ErrorOf(module), HasSubstr("32768 value and 0 ref registers"));
  module = SmallModule();
  module.functions[0].ref_registers = 16384;
  EXPECT_THAT(ErrorOf(module), HasSubstr("1 value and 16384 ref registers"));
}

TEST(BytecodeArchiveTest, RefusesGlobalsOutOfBounds) {
  for (const int32_t bytes : {-1, (1 << 24) + 1, 0x7fffffff}) {
    ModuleBuilder module = SmallModule();
    module.global_bytes = bytes;
    EXPECT_THAT(ErrorOf(module), HasSubstr("globals: ")) << bytes;
  }
  for (const int32_t refs : {-1, (1 << 20) + 1, 0x7fffffff}) {
    ModuleBuilder module = SmallModule();
    module.global_refs = refs;
    EXPECT_THAT(ErrorOf(module), HasSubstr("globals: ")) << refs;
  }
}

TEST(BytecodeArchiveTest, RefusesRodataOutsideTheFile) {
  const struct {
    uint64_t offset_added;
    uint64_t length_added;
  } kBad[] = {{1, 0},          {0, 1},          {1ull << 40, 0},
              {0, ~0ull - 1},  {~0ull - 16, 0}, {~0ull - 16, ~0ull - 1},
              {~0ull - 80, 64}};
  for (const auto& [offset_added, length_added] : kBad) {
    ModuleBuilder module = SmallModule();
    module.rodata[2].offset_added = offset_added;
    module.rodata[2].length_added = length_added;
    EXPECT_THAT(ErrorOf(module), HasSubstr("rodata 2: "))
        << offset_added << " " << length_added;
  }
}

TEST(BytecodeArchiveTest, RefusesTooManyEntries) {
  ModuleBuilder module = SmallModule();
  module.types.assign(65536, "i32");
  EXPECT_EQ(ErrorOf(module), "65536 types; at most 65535 are allowed");
}

// A small file must not make Takt copy one string for each of many tables.
TEST(BytecodeArchiveTest, RefusesSharedStringsThatAddUp) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto text = fbb.CreateString(std::string(1 << 18, 'x'));
  std::vector<flatbuffers::Offset<wire::Type>> types;
  for (int i = 0; i < 60000; ++i) types.push_back(wire::CreateType(fbb, text));
  const auto types_offset = fbb.CreateVector(types);
  const auto name = fbb.CreateString("shared");
  wire::ModuleBuilder module(fbb);
  module.add_name(name);
  module.add_types(types_offset);
  module.add_bytecode_version(17u << 16);
  fbb.FinishSizePrefixed(module.Finish(), wire::ModuleIdentifier());
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(),
                                   fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("adds up to more than"));
}

TEST(BytecodeArchiveTest, RefusesSharedAttributesThatAddUp) {
  ModuleBuilder module = SmallModule();
  module.functions[0].attributes = {{"key", std::string(200000, 'v')}};
  EXPECT_EQ(ErrorOf(module), "");
  for (int i = 0; i < 1000; ++i) module.Export("e" + std::to_string(i), 0);
  EXPECT_THAT(ErrorOf(module), HasSubstr("adds up to more than 32 times"));
}

TEST(BytecodeArchiveTest, RefusesConventionsThatAddUp) {
  ModuleBuilder module = SmallModule();
  const auto convention = "0" + std::string(2000, 'i') + "_v";
  module.AddImport("a.b", convention);
  EXPECT_EQ(ErrorOf(module), "");
  for (int i = 0; i < 1000; ++i) module.AddImport("a.b", convention);
  EXPECT_THAT(ErrorOf(module), HasSubstr("adds up to more than 32 times"));
}

TEST(BytecodeArchiveTest, RefusesALongNameForManyFunctions) {
  ModuleBuilder module = SmallModule();
  module.name = std::string(100000, 'n');
  EXPECT_EQ(ErrorOf(module), "");
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({});
  for (int i = 0; i < 1000; ++i) module.AddFunction("0v_v", body, 0, 0);
  EXPECT_THAT(ErrorOf(module), HasSubstr("adds up to more than 32 times"));
}

TEST(BytecodeArchiveTest, RefusesALongNameForManyExports) {
  ModuleBuilder module = SmallModule();
  module.name = std::string(100000, 'n');
  EXPECT_EQ(ErrorOf(module), "");
  for (int i = 0; i < 1000; ++i) module.Export("e" + std::to_string(i), 0);
  EXPECT_THAT(ErrorOf(module), HasSubstr("adds up to more than 32 times"));
}

// Verifying and translating take time and memory for each function's body.
TEST(BytecodeArchiveTest, RefusesBodiesThatOverlap) {
  ModuleBuilder module = SmallModule();
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({});
  module.AddFunction("0v_v", body, 0, 0);
  module.AddFunction("0v_v", body, 0, 0);
  EXPECT_EQ(ErrorOf(module), "");
  int32_t length = 0;
  for (const auto& function : module.functions) {
    length += static_cast<int32_t>(function.body.size());
  }
  for (auto& function : module.functions) {
    function.offset = 0;
    function.length = length;
  }
  EXPECT_THAT(ErrorOf(module), HasSubstr("overlaps another"));
  for (auto& function : module.functions) function.length = 1 << 10;
  EXPECT_THAT(ErrorOf(module), HasSubstr("is not within the"));
}

TEST(BytecodeArchiveTest, RefusesMoreRodataThanItsLimit) {
  ModuleBuilder module = SmallModule();
  while (module.rodata.size() < 65535) module.AddRodata({1});
  EXPECT_EQ(ErrorOf(module), "");
  module.AddRodata({1});
  EXPECT_THAT(ErrorOf(module), HasSubstr("65536 rodata segments; at most"));
}

// The verifier of the tables must not visit one table once for each of the many
// entries that point to it.
TEST(BytecodeArchiveTest, RefusesSharedTablesThatAddUp) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto key = fbb.CreateString("k");
  const auto attribute = wire::CreateAttribute(fbb, key, key);
  const std::vector<flatbuffers::Offset<wire::Attribute>> entries(2000,
                                                                  attribute);
  const auto attributes = fbb.CreateVector(entries);
  const auto convention = fbb.CreateString("0v_v");
  const auto signature = wire::CreateSignature(fbb, convention, attributes);
  const std::vector<flatbuffers::Offset<wire::Signature>> repeated(2000,
                                                                   signature);
  const auto signatures = fbb.CreateVector(repeated);
  const auto name = fbb.CreateString("shared");
  wire::ModuleBuilder module(fbb);
  module.add_name(name);
  module.add_signatures(signatures);
  module.add_bytecode_version(17u << 16);
  fbb.FinishSizePrefixed(module.Finish(), wire::ModuleIdentifier());
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(),
                                   fbb.GetBufferPointer() + fbb.GetSize());
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("damaged module"));
}

// A module with a debug database of `locations`, by kind and table.
class SourceMapTest : public ::testing::Test {
 protected:
  void Add(wire::Location kind, flatbuffers::Offset<void> table) {
    kinds_.push_back(kind);
    tables_.push_back(table);
  }
  int32_t AddFile(const char* file, int32_t line, int32_t column) {
    const auto filename = fbb_.CreateString(file);
    Add(wire::Location::FileLineColumn,
        wire::CreateFileLineColumn(fbb_, filename, line, column).Union());
    return static_cast<int32_t>(kinds_.size() - 1);
  }
  // The text of a map that has location `index` at pc 5.
  std::string TextOf(int32_t index) {
    const std::vector<wire::BytecodeLocation> entries = {{5, index}};
    const auto locations = fbb_.CreateVectorOfStructs(entries);
    const auto local_name = fbb_.CreateString("main");
    const auto map = wire::CreateSourceMap(fbb_, local_name, locations);
    const auto maps = fbb_.CreateVector(&map, 1);
    const auto kinds = fbb_.CreateVector(
        reinterpret_cast<const uint8_t*>(kinds_.data()), kinds_.size());
    const auto tables = fbb_.CreateVector(tables_);
    const auto name = fbb_.CreateString("mapped");
    wire::DebugDatabaseBuilder debug(fbb_);
    debug.add_location_table_type(kinds.o);
    debug.add_location_table(tables);
    debug.add_functions(maps);
    const auto debug_offset = debug.Finish();
    wire::ModuleBuilder module(fbb_);
    module.add_name(name);
    module.add_bytecode_version(17u << 16);
    module.add_debug_database(debug_offset);
    fbb_.FinishSizePrefixed(module.Finish(), wire::ModuleIdentifier());
    const absl::StatusOr<BytecodeArchive> archive =
        BytecodeArchive::Parse({fbb_.GetBufferPointer(), fbb_.GetSize()});
    EXPECT_TRUE(archive.ok()) << archive.status();
    if (!archive.ok()) return "";
    const std::vector<ArchiveSourceMap> read = archive->ReadSourceMaps();
    EXPECT_EQ(read.size(), 1u);
    EXPECT_EQ(read[0].local_name, "main");
    EXPECT_EQ(read[0].locations[0].pc, 5u);
    return read[0].locations[0].text;
  }

  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<wire::Location> kinds_;
  std::vector<flatbuffers::Offset<void>> tables_;
};

TEST_F(SourceMapTest, PrintsFilesLinesAndColumns) {
  EXPECT_EQ(TextOf(AddFile("a.mlir", 3, 7)), "a.mlir:3:7");
}

TEST_F(SourceMapTest, PrintsNestedLocations) {
  AddFile("a.mlir", 1, 2);
  AddFile("b.mlir", 3, 4);
  Add(wire::Location::CallSite, wire::CreateCallSite(fbb_, 0, 1).Union());
  const auto name = fbb_.CreateString("layer");
  Add(wire::Location::Name, wire::CreateName(fbb_, name, 2).Union());
  const auto both = fbb_.CreateVector(std::vector<int32_t>{3, 0});
  Add(wire::Location::Fused, wire::CreateFused(fbb_, 0, both).Union());
  EXPECT_EQ(TextOf(4),
            "layer at a.mlir:1:2 called from b.mlir:3:4 and a.mlir:1:2");
}

TEST_F(SourceMapTest, CirclesEnd) {
  const auto twice = fbb_.CreateVector(std::vector<int32_t>(100, 0));
  Add(wire::Location::Fused, wire::CreateFused(fbb_, 0, twice).Union());
  EXPECT_LT(TextOf(0).size(), 2000u);
}

TEST_F(SourceMapTest, IndicesOutOfRangeAreQuestionMarks) {
  Add(wire::Location::CallSite, wire::CreateCallSite(fbb_, -1, 99).Union());
  EXPECT_EQ(TextOf(0), "? called from ?");
}

}  // namespace
}  // namespace takt::vm
