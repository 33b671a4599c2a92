#include "vm/disassembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/vm/module_builder.h"

namespace takt::vm {
namespace {

using ::testing::HasSubstr;

class DisassemblerTest : public ::testing::Test {
 protected:
  // The text of `body` as function 0, exported as "tested".
  std::string TextOf(const BodyBuilder& body) {
    module_.AddFunction("0v_v", body, 16, 4);
    module_.Export("tested", 0);
    const std::vector<uint8_t> bytes = module_.Build();
    const absl::StatusOr<BytecodeArchive> archive =
        BytecodeArchive::Parse(bytes);
    EXPECT_TRUE(archive.ok()) << archive.status();
    if (!archive.ok()) return "";
    const absl::StatusOr<std::string> text = DisassembleFunction(*archive, 0);
    return text.ok() ? *text : std::string(text.status().message());
  }

  ModuleBuilder module_;
};

TEST_F(DisassemblerTest, PrintsBlocksBranchesAndImmediates) {
  BodyBuilder body;
  const uint32_t loop = body.NewLabel();
  const uint32_t end = body.NewLabel();
  body.Block().Emit(Op::kConstI32).U32(0xffffffff).U16(0);
  body.Emit(Op::kConstI64).U64(7).U16(2);
  body.Emit(Op::kConstF32).F32(0.1f).U16(1);
  body.Emit(Op::kConstF64).F64(0.1).U16(4);
  body.Emit(Op::kBr).Branch(loop, {{1, 5}, {MoveR(0), R(1)}});
  body.Block(loop).Emit(Op::kCondBr).U16(0).Branch(loop).Branch(end);
  body.Block(end).Emit(Op::kReturn).List({});
  EXPECT_EQ(TextOf(body),
            "^0:\n"
            "     1: %i0 = const.i32 -1\n"
            "     8: %i2:3 = const.i64 7\n"
            "    19: %i1 = const.f32 0.100000001\n"
            "    27: %i4:5 = const.f64 0.10000000000000001\n"
            "    39: br ^54(%i1 -> %i5, %r0! -> %r1)\n"
            "^54:\n"
            "    55: cond_br %i0, ^54, ^70\n"
            "^70:\n"
            "    71: return ()\n");
}

TEST_F(DisassemblerTest, PrintsTheNamesOfOrdinals) {
  module_.types = {"!vm.buffer"};
  module_.AddImport("m.f", "0rCIrD_iI");
  module_.AddRodata({'k', 'e', 'y'});
  module_.AddRodata({0, 1});
  BodyBuilder body;
  body.Block();
  body.Emit(Op::kConstRefRodata).U32(0).U16(R(0));
  body.Emit(Op::kConstRefRodata).U32(1).U16(R(1));
  body.Emit(Op::kCastAnyRef).U16(MoveR(0)).U32(0).U16(R(2));
  body.Emit(Op::kGlobalLoadI64).U32(8).U16(2);
  body.Emit(Op::kGlobalStoreRef).U32(3).U32(0).U16(R(2));
  body.Emit(Op::kCallVariadic)
      .U32(ImportOrdinal(0))
      .List({0xffff, 2})
      .List({R(0), 2, R(1), 4, R(1)})
      .List({0, 6});
  body.Emit(Op::kCall).U32(0).List({}).List({});
  body.Emit(Op::kFail).U16(0).Text("it\n");
  const std::string text = TextOf(body);
  EXPECT_THAT(text, HasSubstr("%r0 = const.ref.rodata @rodata0[3] \"key\"\n"));
  EXPECT_THAT(text, HasSubstr("%r1 = const.ref.rodata @rodata1[2]\n"));
  EXPECT_THAT(text, HasSubstr("%r2 = cast.any.ref %r0!, !vm.buffer\n"));
  EXPECT_THAT(text, HasSubstr("%i2:3 = global.load.i64 @global+8\n"));
  EXPECT_THAT(text, HasSubstr("global.store.ref @ref3, !vm.buffer, %r2\n"));
  EXPECT_THAT(text,
              HasSubstr("(%i0, %i6:7) = call.variadic @m.f, [-, 2], (%r0, "
                        "%i2:3, %r1, %i4:5, %r1)\n"));
  EXPECT_THAT(text, HasSubstr("() = call @tested, ()\n"));
  EXPECT_THAT(text, HasSubstr("fail %i0, \"it\\n\"\n"));
}

TEST_F(DisassemblerTest, PrintsTables) {
  BodyBuilder body;
  const uint32_t a = body.NewLabel();
  body.Block(a).Emit(Op::kBrTable).U16(1).Branch(a);
  body.U16(2).Branch(a, {{2, 3}}).Branch(a);
  EXPECT_THAT(TextOf(body),
              HasSubstr("br_table %i1, ^0, [^0(%i2 -> %i3), ^0]\n"));
}

// It is used to look at modules that the verifier refused.
TEST_F(DisassemblerTest, OrdinalsOutOfRangeAreNumbers) {
  BodyBuilder body;
  body.Block();
  body.Emit(Op::kConstRefRodata).U32(9).U16(R(0));
  body.Emit(Op::kListAlloc).U32(8).U16(0).U16(R(0));
  body.Emit(Op::kCall).U32(7).List({0}).List({0});
  body.Emit(Op::kCallVariadic)
      .U32(ImportOrdinal(6))
      .List({5})
      .List({0})
      .List({});
  const std::string text = TextOf(body);
  EXPECT_THAT(text, HasSubstr("@rodata9\n"));
  EXPECT_THAT(text, HasSubstr("list.alloc type 8, %i0\n"));
  EXPECT_THAT(text, HasSubstr("(%i0) = call @function7, (%i0)\n"));
  EXPECT_THAT(text, HasSubstr("call.variadic @import6, [5], (%i0)\n"));
}

TEST_F(DisassemblerTest, HugeSegmentsCostNothing) {
  module_.AddImport("m.f", "0CiCID_v");
  module_.imports[0].convention = "0CiDCID_v";
  BodyBuilder body;
  body.Block()
      .Emit(Op::kCallVariadic)
      .U32(ImportOrdinal(0))
      .List({0xfffe, 0xfffe})
      .List({0, 1})
      .List({});
  EXPECT_THAT(TextOf(body), HasSubstr("[65534, 65534], (%i0, %i1)"));
}

TEST_F(DisassemblerTest, BytecodeThatDoesNotDecodeIsAnError) {
  BodyBuilder body;
  body.Block().U8(0xfe);
  EXPECT_EQ(TextOf(body),
            "function 0 (tested): pc 1: unknown opcode fe in bytecode 17.0");
}

TEST_F(DisassemblerTest, NoSuchFunction) {
  const std::vector<uint8_t> bytes = module_.Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok());
  EXPECT_EQ(DisassembleFunction(*archive, 0).status().message(),
            "function 0 of 0");
}

}  // namespace
}  // namespace takt::vm
