// Each rule of docs/module_format.md, part 7, by a body that breaks it alone;
// bodies that break none must pass.
#include "vm/bytecode_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/vm/module_builder.h"

namespace takt::vm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A module with every kind of ordinal to name, and one function of 6 value
// and 3 ref registers that holds what a test gives it.
class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() {
    module_.types = {"i32", "!vm.buffer"};
    module_.AddImport("m.plain", "0iIr_Ir");
    module_.AddImport("m.spans", "0rCiIrDF_f");
    module_.AddImport("m.nothing", "0v_v");
    module_.AddRodata({1});
    module_.global_bytes = 12;
    module_.global_refs = 2;
    BodyBuilder callee;
    callee.Block().Emit(Op::kReturn).List({0});
    module_.AddFunction("0iF_i", callee, 4, 0);
  }

  // The verifier's error for function 1; "" if there is none.
  std::string Verify(const BodyBuilder& body,
                     const std::string& convention = "0v_v") {
    module_.AddFunction(convention, body, 6, 3);
    module_.Export("tested", 1);
    return VerifyModule();
  }
  // As Verify(), for the instructions between a block and an empty return.
  std::string VerifyInside(const std::function<void(BodyBuilder&)>& emit) {
    BodyBuilder body;
    body.Block();
    emit(body);
    body.Emit(Op::kReturn).List({});
    return Verify(body);
  }
  std::string VerifyModule() {
    const std::vector<uint8_t> bytes = module_.Build();
    const absl::StatusOr<BytecodeArchive> archive =
        BytecodeArchive::Parse(bytes);
    EXPECT_TRUE(archive.ok()) << archive.status();
    if (!archive.ok()) return "not parsed";
    const absl::Status status = VerifyArchive(*archive);
    EXPECT_TRUE(status.ok() ||
                status.code() == absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  }

  ModuleBuilder module_;
};

TEST_F(VerifierTest, AcceptsTheSmallestFunction) {
  EXPECT_EQ(VerifyInside([](BodyBuilder&) {}), "");
}

TEST_F(VerifierTest, AcceptsOneOfEverything) {
  EXPECT_EQ(VerifyInside([](BodyBuilder& body) {
              const uint32_t next = body.NewLabel();
              const uint32_t last = body.NewLabel();
              body.Emit(Op::kGlobalLoadI32).U32(8).U16(5);
              body.Emit(Op::kGlobalStoreI64).U32(4).U16(4);
              body.Emit(Op::kGlobalLoadRef).U32(1).U32(1).U16(R(2));
              body.Emit(Op::kConstRefRodata).U32(0).U16(R(0));
              body.Emit(Op::kListAlloc).U32(0).U16(0).U16(R(1));
              body.Emit(Op::kSwitchRef)
                  .U16(0)
                  .U32(1)
                  .U16(MoveR(0))
                  .List({R(1), MoveR(2)})
                  .U16(R(2));
              body.Emit(Op::kConstF32).F32(1).U16(1);
              body.Emit(Op::kExtF32F64).U16(1).U16(2);
              body.Emit(Op::kImportResolved).U32(ImportOrdinal(0)).U16(0);
              body.Emit(Op::kCall).U32(0).List({5, 2}).List({5});
              body.Emit(Op::kCall)
                  .U32(ImportOrdinal(0))
                  .List({0, 4, MoveR(1)})
                  .List({2, R(1)});
              body.Emit(Op::kCallVariadic)
                  .U32(ImportOrdinal(1))
                  .List({0xffff, 2, 0})
                  .List({R(0), 0, 2, R(0), 1, 4, R(1), 2})
                  .List({3});
              body.Emit(Op::kTrace).Text("t").List({1, MoveR(0)});
              body.Emit(Op::kDiscardRefs).List({R(0), MoveR(1)});
              body.Emit(Op::kCallYieldable)
                  .U32(ImportOrdinal(2))
                  .List({})
                  .Target(next)
                  .List({});
              body.Block(next)
                  .Emit(Op::kCondBr)
                  .U16(0)
                  .Branch(last, {{3, 1}, {MoveR(0), R(1)}})
                  .Branch(next);
              body.Block(last);
            }),
            "");
}

TEST_F(VerifierTest, AcceptsListsAndConstantsOfEachWidth) {
  EXPECT_EQ(VerifyInside([](BodyBuilder& body) {
              const uint32_t next = body.NewLabel();
              body.Emit(Op::kConstI64).U64(1).U16(0);
              body.Emit(Op::kConstF64).F64(1).U16(2);
              body.Emit(Op::kSwitchI32).U16(0).U16(1).List({2, 5}).U16(3);
              body.Emit(Op::kSwitchI64).U16(0).U16(2).List({2, 4}).U16(4);
              body.Emit(Op::kCallVariadicYieldable)
                  .U32(ImportOrdinal(1))
                  .List({0xffff, 0, 0xffff})
                  .List({R(0), 2})
                  .Target(next)
                  .List({3});
              body.Block(next);
            }),
            "");
}

TEST_F(VerifierTest, PairsEndWithinAnOddBank) {
  BodyBuilder body;
  body.Block().Emit(Op::kConstI64Zero).U16(4).Emit(Op::kReturn).List({});
  module_.AddFunction("0v_v", body, 5, 0);
  EXPECT_THAT(VerifyModule(), HasSubstr("64-bit value register 4 of 5"));
}

TEST_F(VerifierTest, NamesTheFunctionsOwnExport) {
  module_.Export("another", 0);
  BodyBuilder body;
  body.Block();
  EXPECT_THAT(Verify(body), StartsWith("function 1 (tested): "));
}

TEST_F(VerifierTest, MessagesNameFunctionPcInstructionOperandAndValue) {
  EXPECT_EQ(VerifyInside([](BodyBuilder& body) {
              body.Emit(Op::kAddI32).U16(0).U16(6).U16(1);
            }),
            "function 1 (tested): pc 1: add.i32: operand 1 at 4: value "
            "register 6 of 6");
}

TEST_F(VerifierTest, NamesUnexportedFunctionsByOrdinalAlone) {
  module_.functions[0].convention = "0CiD_i";
  EXPECT_THAT(VerifyModule(), StartsWith("function 0: "));
}

// Rule 9.

TEST_F(VerifierTest, RejectsSpansInAFunctionOfTheModule) {
  module_.functions[0].convention = "0CiD_i";
  EXPECT_THAT(VerifyModule(), HasSubstr("only imports may have spans"));
}

// i at 0, F at 2 and 3: the hole counts.
TEST_F(VerifierTest, ArgumentsHaveRegistersThatTheFunctionDoesNotDeclare) {
  module_.functions[0].value_registers = 1;
  EXPECT_EQ(VerifyModule(), "");
  module_.functions[0].convention = "0r_i";
  EXPECT_EQ(VerifyModule(), "");
}

// Rule 10.

TEST_F(VerifierTest, RejectsABodyThatEndsInsideAnInstruction) {
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({}).Emit(Op::kBlock).Emit(Op::kBr);
  EXPECT_THAT(Verify(body), HasSubstr("operand 0 (br) at 6 does not fit"));
}

TEST_F(VerifierTest, RejectsUnknownOpcodes) {
  EXPECT_THAT(VerifyInside([](BodyBuilder& body) { body.U8(0xff); }),
              HasSubstr("pc 1: unknown opcode ff"));
}

// Rule 11.

TEST_F(VerifierTest, RejectsFloatsThatTheFunctionDoesNotDeclare) {
  module_.requirements = 2;
  EXPECT_THAT(VerifyInside([](BodyBuilder& body) {
                body.Emit(Op::kConstF32Zero).U16(0);
              }),
              HasSubstr("does not declare the feature EXT_F32"));
  module_.functions.pop_back();
  module_.requirements = 1;
  EXPECT_THAT(VerifyInside([](BodyBuilder& body) {
                body.Emit(Op::kConstF64Zero).U16(0);
              }),
              HasSubstr("does not declare the feature EXT_F64"));
}

// Rules 12 and 13.

TEST_F(VerifierTest, RejectsABodyThatDoesNotBeginWithABlock) {
  BodyBuilder body;
  body.Emit(Op::kReturn).List({});
  module_.AddFunction("0v_v", body, 6, 3);
  module_.functions[1].block_count = 1;
  EXPECT_THAT(VerifyModule(), HasSubstr("return: instruction outside a block"));
}

TEST_F(VerifierTest, RejectsInstructionsAfterATerminator) {
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({}).Emit(Op::kConstI32Zero).U16(0);
  EXPECT_THAT(Verify(body), HasSubstr("instruction outside a block"));
}

TEST_F(VerifierTest, RejectsFallingIntoTheNextBlock) {
  EXPECT_THAT(VerifyInside([](BodyBuilder& body) { body.Block(); }),
              HasSubstr("a block begins before the last one ended"));
}

TEST_F(VerifierTest, RejectsABodyWithoutATerminator) {
  BodyBuilder body;
  body.Block().Emit(Op::kConstI32Zero).U16(0);
  EXPECT_THAT(Verify(body), HasSubstr("a terminator expected"));
}

TEST_F(VerifierTest, RejectsAWrongNumberOfBlocks) {
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({});
  module_.AddFunction("0v_v", body, 6, 3);
  module_.functions[1].block_count = 2;
  EXPECT_THAT(VerifyModule(), HasSubstr("1 blocks, but the descriptor says 2"));
}

// Rule 14.

TEST_F(VerifierTest, RejectsBranchesThatReachNoBlock) {
  // 0 is the block; 1 is inside it, 2 inside the branch, 9 past the end.
  for (const uint32_t target : {1u, 2u, 9u, 0x80000000u, 0xffffffffu}) {
    BodyBuilder body;
    body.Block().Emit(Op::kBr).U32(target).Align().U16(0);
    module_.functions.resize(1);
    EXPECT_THAT(Verify(body),
                HasSubstr("pc 1: br: target " + std::to_string(target) +
                          " is no block"));
  }
}

TEST_F(VerifierTest, RejectsAMarkerByteInsideAnInstruction) {
  // The immediate holds 79 at pc 3; it is no block for all that.
  BodyBuilder body;
  body.Block().Emit(Op::kConstI32).U8(0).U8(0x79).U8(0).U8(0).U16(0);
  body.Emit(Op::kBr).U32(3).Align().U16(0);
  EXPECT_THAT(Verify(body), HasSubstr("br: target 3 is no block"));
}

TEST_F(VerifierTest, RejectsAYieldableCallThatContinuesNowhere) {
  BodyBuilder body;
  body.Block()
      .Emit(Op::kCallYieldable)
      .U32(ImportOrdinal(2))
      .List({})
      .U32(1)
      .List({});
  EXPECT_THAT(Verify(body), HasSubstr("call.yieldable: target 1 is no block"));
}

TEST_F(VerifierTest, RejectsATableCaseThatReachesNoBlock) {
  BodyBuilder body;
  const uint32_t start = body.NewLabel();
  body.Block(start).Emit(Op::kBrTable).U16(0).Branch(start);
  body.U16(2).Branch(start).U32(5).Align().U16(0);
  EXPECT_THAT(Verify(body), HasSubstr("br_table: target 5 is no block"));
}

// Rules 15 and 16: each register alone.

struct BadOperand {
  const char* name;
  std::function<void(BodyBuilder&)> emit;
  const char* message;
};

class BadOperandTest : public VerifierTest,
                       public ::testing::WithParamInterface<BadOperand> {};

TEST_P(BadOperandTest, IsRejected) {
  EXPECT_THAT(VerifyInside(GetParam().emit), HasSubstr(GetParam().message));
}

const BadOperand kBadOperands[] = {
    {"WordPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kNotI32).U16(6).U16(0); },
     "operand 0 at 2: value register 6 of 6"},
    {"ResultPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kNotI32).U16(0).U16(0x7fff); },
     "operand 1 at 4: value register 32767 of 6"},
    {"RefWhereAWordIsDue",
     [](BodyBuilder& b) { b.Emit(Op::kNotI32).U16(R(0)).U16(0); },
     "a value register expected, found ref 0"},
    {"OddPair", [](BodyBuilder& b) { b.Emit(Op::kNotI64).U16(1).U16(0); },
     "64-bit value register 1 is not even"},
    {"PairPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kNotI64).U16(6).U16(0); },
     "value register 6 of 6"},
    {"FloatPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kAbsF32).U16(0).U16(6); },
     "value register 6 of 6"},
    {"OddDoublePair", [](BodyBuilder& b) { b.Emit(Op::kAbsF64).U16(0).U16(3); },
     "64-bit value register 3 is not even"},
    {"ValueWhereARefIsDue",
     [](BodyBuilder& b) { b.Emit(Op::kCmpNzRef).U16(0).U16(0); },
     "a ref register expected, found value 0"},
    {"RefPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kCmpNzRef).U16(R(3)).U16(0); },
     "ref register 3 of 3"},
    {"MoveOfAPlainRef",
     [](BodyBuilder& b) { b.Emit(Op::kCmpNzRef).U16(MoveR(1)).U16(0); },
     "ref register 1 is marked moved where it cannot be"},
    {"MoveOfAResult",
     [](BodyBuilder& b) { b.Emit(Op::kAssignRef).U16(R(0)).U16(MoveR(1)); },
     "ref register 1 is marked moved where it cannot be"},
    {"MovedRefPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kAssignRef).U16(MoveR(3)).U16(R(1)); },
     "ref register 3 of 3"},
    {"WordInAList",
     [](BodyBuilder& b) {
       b.Emit(Op::kSwitchI32).U16(0).U16(0).List({0, 6}).U16(0);
     },
     "operand 2 at 6: value register 6 of 6"},
    {"OddPairInAList",
     [](BodyBuilder& b) {
       b.Emit(Op::kSwitchI64).U16(0).U16(0).List({0, 1}).U16(0);
     },
     "64-bit value register 1 is not even"},
    {"WordInAFloatList",
     [](BodyBuilder& b) {
       b.Emit(Op::kSwitchF32).U16(0).U16(0).List({R(0)}).U16(0);
     },
     "a value register expected, found ref 0"},
    {"OddPairInADoubleList",
     [](BodyBuilder& b) {
       b.Emit(Op::kSwitchF64).U16(0).U16(0).List({5}).U16(0);
     },
     "64-bit value register 5 is not even"},
    {"ValueInARefList",
     [](BodyBuilder& b) {
       b.Emit(Op::kDiscardRefs).List({R(0), 1});
     },
     "a ref register expected, found value 1"},
    {"RefPastTheBankInAnAnyList",
     [](BodyBuilder& b) {
       b.Emit(Op::kPrint).Text("").List({0, R(3)});
     },
     "ref register 3 of 3"},
    {"WordPastTheBankInAnAnyList",
     [](BodyBuilder& b) { b.Emit(Op::kTrace).Text("").List({6}); },
     "value register 6 of 6"},
    // Rule 18.
    {"GlobalPastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kGlobalLoadI32).U32(9).U16(0); },
     "4 bytes at 9 of 12 bytes of globals"},
    {"WideGlobalPastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kGlobalLoadI64).U32(5).U16(0); },
     "8 bytes at 5 of 12 bytes of globals"},
    {"GlobalThatWraps",
     [](BodyBuilder& b) { b.Emit(Op::kGlobalStoreF64).U32(0xfffffffc).U16(0); },
     "8 bytes at 4294967292 of 12 bytes of globals"},
    {"RefGlobalPastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kGlobalLoadRef).U32(2).U32(1).U16(R(0)); },
     "ref global 2 of 2"},
    {"TypePastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kListAlloc).U32(2).U16(0).U16(R(0)); },
     "type 2 of 2"},
    {"ValueTypeWhereARefTypeIsDue",
     [](BodyBuilder& b) { b.Emit(Op::kCastAnyRef).U16(R(0)).U32(0).U16(R(1)); },
     "a ref type expected, found type 0 (i32)"},
    {"RodataPastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kConstRefRodata).U32(1).U16(R(0)); },
     "rodata 1 of 1"},
    // Rule 19.
    {"FunctionPastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kCall).U32(2).List({}).List({}); },
     "function 2 of 2"},
    {"ImportPastTheEnd",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(ImportOrdinal(3)).List({}).List({});
     },
     "import 3 of 3"},
    {"FunctionWhereAnImportIsDue",
     [](BodyBuilder& b) { b.Emit(Op::kImportResolved).U32(0).U16(0); },
     "an import expected, found function 0"},
    {"ResolvedImportPastTheEnd",
     [](BodyBuilder& b) { b.Emit(Op::kImportResolved).U32(0xffffffff).U16(0); },
     "import 2147483647 of 3"},
    {"VariadicCallOfAFunction",
     [](BodyBuilder& b) {
       b.Emit(Op::kCallVariadic).U32(0).List({0, 0}).List({0, 2}).List({0});
     },
     "only imports take segments, found function 0"},
    // Rule 20.
    {"TooFewOperands",
     [](BodyBuilder& b) { b.Emit(Op::kCall).U32(0).List({0}).List({0}); },
     "1 registers do not suffice for argument 1 of 0iF_i"},
    {"TooManyOperands",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(0).List({0, 2, 4}).List({0});
     },
     "3 registers for the 2 values that 0iF_i takes"},
    {"OddOperandOf64Bits",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(0).List({0, 1}).List({0});
     },
     "64-bit value register 1 is not even"},
    {"RefOperandForAValue",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(0).List({R(0), 2}).List({0});
     },
     "a value register expected, found ref 0"},
    {"ValueOperandForARef",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(ImportOrdinal(0)).List({0, 2, 4}).List({0, R(0)});
     },
     "a ref register expected, found value 4"},
    {"TooFewResults",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(0).List({0, 2}).List({});
     },
     "1 registers expected, found 0"},
    {"TooManyResults",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(0).List({0, 2}).List({0, 1});
     },
     "1 registers expected, found 2"},
    {"OddResultOf64Bits",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall)
           .U32(ImportOrdinal(0))
           .List({0, 2, R(0)})
           .List({1, R(0)});
     },
     "64-bit value register 1 is not even"},
    {"MovedResultOfACall",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall)
           .U32(ImportOrdinal(0))
           .List({0, 2, R(0)})
           .List({0, MoveR(0)});
     },
     "ref register 0 is marked moved where it cannot be"},
    {"SpansWithoutSegments",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(ImportOrdinal(1)).List({R(0), 2}).List({0});
     },
     "0rCiIrDF_f has a span and needs a call with segments"},
    {"TooFewSegments",
     [](BodyBuilder& b) {
       b.Emit(Op::kCallVariadic)
           .U32(ImportOrdinal(1))
           .List({0xffff, 0})
           .List({R(0), 2})
           .List({0});
     },
     "2 segments for the 3 arguments of 0rCiIrDF_f"},
    {"SegmentLargerThanTheOperands",
     [](BodyBuilder& b) {
       b.Emit(Op::kCallVariadic)
           .U32(ImportOrdinal(1))
           .List({0xffff, 0xffff, 0xffff})
           .List({R(0), 0, 2, R(0), 2})
           .List({0});
     },
     "5 registers do not suffice for argument 1 of 0rCiIrDF_f"},
    {"SegmentSmallerThanTheOperands",
     [](BodyBuilder& b) {
       b.Emit(Op::kCallVariadic)
           .U32(ImportOrdinal(1))
           .List({0xffff, 0, 0xffff})
           .List({R(0), 2, 2, R(0), 2})
           .List({0});
     },
     "5 registers for the 2 values"},
};

INSTANTIATE_TEST_SUITE_P(Operands, BadOperandTest,
                         ::testing::ValuesIn(kBadOperands),
                         [](const auto& test) { return test.param.name; });

TEST_F(VerifierTest, RejectsReturnsThatDoNotMatchTheConvention) {
  const struct {
    const char* convention;
    std::vector<uint16_t> returned;
    const char* message;
  } kBad[] = {
      {"0v_v", {0}, "0 registers expected, found 1"},
      {"0v_i", {}, "1 registers expected, found 0"},
      {"0v_I", {1}, "64-bit value register 1 is not even"},
      {"0v_r", {0}, "a ref register expected, found value 0"},
      {"0v_f", {R(0)}, "a value register expected, found ref 0"},
      {"0v_ir", {0, MoveR(3)}, "ref register 3 of 3"},
  };
  for (const auto& [convention, returned, message] : kBad) {
    BodyBuilder body;
    body.Block().Emit(Op::kReturn).List(returned);
    module_.functions.resize(1);
    EXPECT_THAT(Verify(body, convention), HasSubstr(message)) << convention;
  }
}

TEST_F(VerifierTest, AcceptsReturnsThatMoveRefs) {
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({4, MoveR(2), R(2), 5});
  EXPECT_EQ(Verify(body, "0v_Frri"), "");
}

// Rule 17.

TEST_F(VerifierTest, AcceptsOddScratchPairsInRemapLists) {
  BodyBuilder body;
  const uint32_t start = body.NewLabel();
  body.Block(start).Emit(Op::kBr).Branch(
      start, {{0, 3}, {1, 4}, {3, 0}, {4, 1}, {R(0), R(1)}, {MoveR(2), R(0)}});
  EXPECT_EQ(Verify(body), "");
}

TEST_F(VerifierTest, RejectsBadRemapPairs) {
  const struct {
    std::pair<uint16_t, uint16_t> pair;
    const char* message;
  } kBad[] = {
      {{6, 0}, "value register 6 of 6"},
      {{0, 6}, "value register 6 of 6"},
      {{R(3), R(0)}, "ref register 3 of 3"},
      {{R(0), R(3)}, "ref register 3 of 3"},
      {{R(0), MoveR(1)}, "marked moved where it cannot be"},
      {{R(0), 0}, "one is a ref register, one is not"},
      {{0, R(0)}, "one is a ref register, one is not"},
      {{0x4000, 0}, "value register 16384 of 6"},
  };
  for (const auto& [pair, message] : kBad) {
    BodyBuilder body;
    const uint32_t start = body.NewLabel();
    body.Block(start).Emit(Op::kYield).Branch(start, {{0, 1}, pair});
    module_.functions.resize(1);
    EXPECT_THAT(Verify(body), HasSubstr(message)) << message;
  }
}

TEST_F(VerifierTest, RejectsBadRemapPairsInTables) {
  BodyBuilder body;
  const uint32_t start = body.NewLabel();
  body.Block(start).Emit(Op::kBrTable).U16(0).Branch(start);
  body.U16(2).Branch(start).Branch(start, {{0, 7}});
  EXPECT_THAT(Verify(body), HasSubstr("br_table: operand 2"));
}

// Rules 11 and 16 as the older versions have them.
struct VersionCase {
  const char* name;
  void (*emit)(BodyBuilder&);
  const char* errors[3];  // Of bytecode 15, 16 and 17; "" if there is none.
};
constexpr char kMovedLook[] =
    "ref register 1 is marked moved where it cannot be";
const VersionCase kVersionCases[] = {
    {"MoveWhereTheInstructionLooks",
     [](BodyBuilder& b) { b.Emit(Op::kCmpNzRef).U16(MoveR(1)).U16(0); },
     {"", kMovedLook, kMovedLook}},
    {"MoveOfTheListThatIsRead",
     [](BodyBuilder& b) {
       b.Emit(Op::kListGetRef).U16(MoveR(1)).U16(0).U32(1).U16(R(0));
     },
     {"", kMovedLook, kMovedLook}},
    {"MoveOfTheBufferThatIsRead",
     [](BodyBuilder& b) {
       b.Emit(Op::kBufferLoadI32).U16(MoveR(1)).U16(2).U16(0);
     },
     {"", kMovedLook, kMovedLook}},
    {"MoveOfWhatIsStored",
     [](BodyBuilder& b) {
       b.Emit(Op::kGlobalStoreRef).U32(0).U32(1).U16(MoveR(1));
     },
     {"", "", ""}},
    {"MoveOfAResult",
     [](BodyBuilder& b) { b.Emit(Op::kConstRefZero).U16(MoveR(1)); },
     {kMovedLook, kMovedLook, kMovedLook}},
    {"MovedRefPastTheBank",
     [](BodyBuilder& b) { b.Emit(Op::kCmpNzRef).U16(MoveR(3)).U16(0); },
     {"ref register 3 of 3", "ref register 3 of 3", "ref register 3 of 3"}},
    {"AssignRef",
     [](BodyBuilder& b) { b.Emit(Op::kAssignRef).U16(R(1)).U16(R(0)); },
     {"unknown opcode 86 in bytecode 15.0", "", ""}},
    {"DiscardRefs",
     [](BodyBuilder& b) { b.Emit(Op::kDiscardRefs).List({R(1)}); },
     {"unknown opcode 85 in bytecode 15.0", "", ""}},
    {"CallYieldable",
     [](BodyBuilder& b) {
       const uint32_t next = b.NewLabel();
       b.Emit(Op::kCallYieldable).U32(ImportOrdinal(2)).List({});
       b.Target(next).List({}).Block(next);
     },
     {"unknown opcode 87 in bytecode 15.0",
      "unknown opcode 87 in bytecode 16.0", ""}},
    {"MovedOperandOfAnImport",
     [](BodyBuilder& b) {
       b.Emit(Op::kCall).U32(ImportOrdinal(0)).List({0, 2, MoveR(1)});
       b.List({2, R(0)});
     },
     {"", "", ""}},
};

class VerifierVersionTest : public VerifierTest,
                            public ::testing::WithParamInterface<VersionCase> {
};

TEST_P(VerifierVersionTest, KeepsTheRulesOfEachMajor) {
  const ModuleBuilder empty = module_;
  for (uint32_t i = 0; i < 3; ++i) {
    module_ = empty;
    module_.bytecode_version = (15 + i) << 16;
    const std::string error = VerifyInside(GetParam().emit);
    const std::string expected = GetParam().errors[i];
    if (expected.empty()) {
      EXPECT_EQ(error, "") << 15 + i;
    } else {
      EXPECT_THAT(error, HasSubstr(expected)) << 15 + i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Cases, VerifierVersionTest,
                         ::testing::ValuesIn(kVersionCases),
                         [](const auto& test) { return test.param.name; });

TEST_F(VerifierTest, RegistersAreCountedExactly) {
  // The peer rounds counts up to a power of two; 6 is 6 here, and 0 is none.
  BodyBuilder body;
  body.Block().Emit(Op::kConstI32Zero).U16(0).Emit(Op::kReturn).List({});
  module_.AddFunction("0v_v", body, 0, 0);
  EXPECT_THAT(VerifyModule(), HasSubstr("value register 0 of 0"));
}

TEST_F(VerifierTest, EveryFunctionIsChecked) {
  BodyBuilder good;
  good.Block().Emit(Op::kReturn).List({});
  BodyBuilder bad;
  bad.Block().Emit(Op::kReturn).List({9});
  module_.AddFunction("0v_v", good, 0, 0);
  module_.AddFunction("0v_i", bad, 1, 0);
  EXPECT_THAT(VerifyModule(), StartsWith("function 2: pc 1: return"));
}

TEST_F(VerifierTest, NoSuchFunction) {
  const std::vector<uint8_t> bytes = module_.Build();
  const absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  ASSERT_TRUE(archive.ok());
  EXPECT_EQ(VerifyFunction(*archive, 1).message(), "function 1 of 1");
}

}  // namespace
}  // namespace takt::vm
