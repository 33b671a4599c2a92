#include "vm/import_call.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "vm/frame.h"

namespace takt::vm {
namespace {

using Numbers = std::vector<int16_t>;

// The instruction itself, and what follows it.
std::vector<Unit> MakeCode(const Numbers& arguments,
                           const std::vector<ImportCall::Span>& spans,
                           const Numbers& results) {
  std::vector<Unit> code(1);
  ImportCall::Append(arguments, spans, results, &code);
  return code;
}

Numbers ListOf(const int16_t* first, uint32_t count) {
  return {first, first + count};
}

TEST(ImportCallTest, ReadsWhatWasAppended) {
  const auto moved = static_cast<int16_t>(RefAddress(0) + 1);
  const Numbers arguments{4, RefAddress(1), 0, moved, 6, 0, 8};
  const std::vector<Unit> code =
      MakeCode(arguments, {{2, 1}, {5, 70'000}}, {10, RefAddress(2)});
  const ImportCall call(code.data());
  EXPECT_EQ(ListOf(call.arguments(), call.argument_count()),
            (Numbers{4, RefAddress(1), 0, RefAddress(0), 6, 0, 8}));
  EXPECT_EQ(ListOf(call.results(), call.result_count()),
            (Numbers{10, RefAddress(2)}));
  EXPECT_EQ(ListOf(call.moves(), call.move_count()), Numbers{moved});
  ASSERT_EQ(call.span_count(), 2u);
  EXPECT_EQ(call.span(0).slot, 2u);
  EXPECT_EQ(call.span(0).count, 1u);
  EXPECT_EQ(call.span(1).slot, 5u);
  EXPECT_EQ(call.span(1).count, 70'000u);
  EXPECT_EQ(call.End(), code.data() + code.size());
  EXPECT_EQ(call.ResultUnits()->list(), call.results());
}

TEST(ImportCallTest, MayHaveNothing) {
  const std::vector<Unit> code = MakeCode({}, {}, {});
  const ImportCall call(code.data());
  EXPECT_EQ(call.argument_count(), 0u);
  EXPECT_EQ(call.result_count(), 0u);
  EXPECT_EQ(call.span_count(), 0u);
  EXPECT_EQ(call.move_count(), 0u);
  EXPECT_EQ(call.End(), code.data() + code.size());
}

}  // namespace
}  // namespace takt::vm
