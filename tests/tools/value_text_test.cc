#include "tools/common/value_text.h"

#include <gtest/gtest.h>

namespace takt::tools {
namespace {

class ValueTextTest : public testing::Test {
 protected:
  Instance instance_ = Instance::Create().value();
  Device device_ = Device::Create(instance_, "local-sync").value();
};

TEST_F(ValueTextTest, ScalarsByTheirKind) {
  EXPECT_EQ(*FormatValue(Value(-7), 9), "i32=-7");
  EXPECT_EQ(*FormatValue(Value(int64_t{9000000000}), 9), "i64=9000000000");
  EXPECT_EQ(*FormatValue(Value(1.5f), 9), "f32=1.5");
  EXPECT_EQ(*FormatValue(Value(123456789.0), 9), "f64=1.23457e+08");
}

TEST_F(ValueTextTest, NullIsNull) {
  EXPECT_EQ(*FormatValue(Value(), 9), "(null)");
  EXPECT_EQ(*FormatValue(Value(BufferView()), 9), "(null)");
  EXPECT_EQ(ValueTypeText(Value()), "(null)");
}

TEST_F(ValueTextTest, TensorsUpToSomeElements) {
  const float elements[4] = {1, 2, 3, 4};
  const Value value(BufferView::Copy<float>(device_, {4}, elements).value());
  EXPECT_EQ(*FormatValue(value, 9), "hal.buffer_view\n4xf32=1 2 3 4");
  EXPECT_EQ(*FormatValue(value, 2), "hal.buffer_view\n4xf32=1 2...");
}

TEST_F(ValueTextTest, OtherObjectsByTheirTypeOnly) {
  EXPECT_EQ(*FormatValue(Value(Buffer::Allocate(device_, 8).value()), 9),
            "hal.buffer\n(no printer)");
}

TEST_F(ValueTextTest, ListsWithinLists) {
  const List inner = List::Create().value();
  ASSERT_TRUE(inner.Append(Value(1)).ok());
  const List outer = List::Create().value();
  ASSERT_TRUE(outer.Append(Value(2.5f)).ok());
  ASSERT_TRUE(outer.Append(Value(inner)).ok());
  ASSERT_TRUE(outer.Append(Value()).ok());
  EXPECT_EQ(*FormatValue(Value(outer), 9),
            "vm.list\nchild_list[0]: f32=2.5\nchild_list[1]: vm.list\n"
            "child_list[0]: i32=1\n\nchild_list[2]: (null)\n");
}

TEST_F(ValueTextTest, ListsThatShareListsEndSomewhere) {
  List list = List::Create().value();
  for (int depth = 0; depth < 30; ++depth) {  // 2^30 leaves.
    const List outer = List::Create().value();
    ASSERT_TRUE(outer.Append(Value(list)).ok());
    ASSERT_TRUE(outer.Append(Value(list)).ok());
    list = outer;
  }
  const Result<std::string> text = FormatValue(Value(list), 1024);
  ASSERT_TRUE(text.ok());
  EXPECT_LT(text->size(), size_t{8} << 20);
  EXPECT_NE(text->find("...\n"), std::string::npos);
}

TEST_F(ValueTextTest, NoListHoldsItself) {
  const List list = List::Create().value();
  EXPECT_FALSE(list.Append(Value(list)).ok());
}

}  // namespace
}  // namespace takt::tools
