#include "vm/block_graph.h"

#include <gtest/gtest.h>

#include "tests/vm/vm_test_util.h"

namespace takt::vm {
namespace {

TEST(BlockGraphTest, FindsScratchAndLiveWords) {
  // n at 0, i at 1 (not an argument), flag at 2, scratch at 3, 4 and 5 wide.
  ModuleBuilder builder("m");
  BodyBuilder body;
  const uint32_t loop = body.NewLabel();
  const uint32_t exit = body.NewLabel();
  body.Block().Emit(Op::kConstI32Zero).U16(1);
  body.Emit(Op::kConstI64Zero).U16(4);
  body.Emit(Op::kBr).Branch(loop, {{0, 3}, {1, 0}, {3, 1}});
  body.Block(loop).Emit(Op::kCmpLtI32S).U16(0).U16(1).U16(2);
  body.Emit(Op::kAddI64).U16(4).U16(4).U16(4);
  body.Emit(Op::kCondBr).U16(2).Branch(loop).Branch(exit);
  body.Block(exit).Emit(Op::kReturn).List({4});
  builder.Export("f",
                 static_cast<int32_t>(builder.AddFunction("0i_I", body, 6, 0)));
  auto module = TryLoad(builder);
  ASSERT_TRUE(module.ok()) << module.status();
  const BytecodeArchive& archive = (*module)->archive();
  auto graph = BlockGraph::Build(archive, archive.functions[0]);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->block_count(), 3u);
  for (const uint16_t word : {0, 1, 2, 4, 5}) {
    EXPECT_FALSE(graph->IsScratch(word)) << word;
  }
  EXPECT_TRUE(graph->IsScratch(3));
  EXPECT_FALSE(graph->IsLiveAtEnd(1, 2));  // The flag.
  EXPECT_TRUE(graph->IsLiveAtEnd(1, 5));   // The high half of the result.
  EXPECT_TRUE(graph->IsLiveAtEnd(1, 1));
  EXPECT_FALSE(graph->IsLiveAtEnd(2, 4));
  EXPECT_FALSE(graph->ReadsUnwrittenWords());
}

TEST(BlockGraphTest, SeesReadsOfWordsNeverWritten) {
  ModuleBuilder builder("m");
  BodyBuilder body;
  body.Block().Emit(Op::kReturn).List({1});
  builder.AddFunction("0i_i", body, 2, 0);
  auto module = TryLoad(builder);
  ASSERT_TRUE(module.ok()) << module.status();
  const BytecodeArchive& archive = (*module)->archive();
  auto graph = BlockGraph::Build(archive, archive.functions[0]);
  ASSERT_TRUE(graph.ok());
  EXPECT_TRUE(graph->ReadsUnwrittenWords());
}

}  // namespace
}  // namespace takt::vm
