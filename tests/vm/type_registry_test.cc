#include "vm/type_registry.h"

#include <gtest/gtest.h>

#include "vm/byte_buffer.h"
#include "vm/list.h"

namespace takt::vm {
namespace {

TEST(TypeRegistryTest, KnowsItsOwnTypesAndThoseRegistered) {
  static constexpr ObjectType kThing{"test.thing"};
  static constexpr ObjectType kOther{"test.thing"};
  TypeRegistry types;
  EXPECT_EQ(types.Find("vm.buffer"), &ByteBuffer::kType);
  EXPECT_EQ(types.Find("vm.list"), &List::kType);
  EXPECT_EQ(types.Find("test.thing"), nullptr);
  EXPECT_TRUE(types.Register(&kThing).ok());
  EXPECT_TRUE(types.Register(&kThing).ok());
  EXPECT_EQ(types.Find("test.thing"), &kThing);
  EXPECT_EQ(types.Register(&kOther).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(types.Find("test.thing"), &kThing);
}

}  // namespace
}  // namespace takt::vm
