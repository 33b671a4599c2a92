// The system's memory runs out while functions are active: at each allocation
// of a call, in turn. Every frame must let go of its refs, and a stack that has
// moved must not be looked for where it was.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/byte_buffer.h"
#include "vm/invocation.h"

// Sanitizers bring a malloc of their own.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define CAN_REFUSE 1
extern "C" void* __libc_malloc(size_t bytes);
// The calls until the one that finds no memory; negative: none.
static int calls_until_refusal = -1;
extern "C" void* malloc(size_t bytes) {
  const bool is_refused = calls_until_refusal == 0;
  calls_until_refusal -= calls_until_refusal >= 0 ? 1 : 0;
  if (!is_refused) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
#endif

namespace takt::vm {
namespace {

#ifdef CAN_REFUSE
// f(n, buffer) calls itself until n is 0, and allocates a buffer then.
ModuleBuilder Recursive() {
  ModuleBuilder builder("m");
  BodyBuilder body;
  const uint32_t more = body.NewLabel();
  const uint32_t end = body.NewLabel();
  body.Block().Emit(Op::kCondBr).U16(0).Branch(more).Branch(end);
  body.Block(more).Emit(Op::kConstI32).U32(1).U16(1);
  body.Emit(Op::kSubI32).U16(0).U16(1).U16(2);
  body.Emit(Op::kCall).U32(0).List({2, R(0)}).List({});
  body.Emit(Op::kReturn).List({});
  body.Block(end).Emit(Op::kConstI64).U64(64).U16(2);
  body.Emit(Op::kBufferAlloc).U16(2).U16(1).U16(R(1));
  body.Emit(Op::kReturn).List({});
  builder.Export(
      "f", static_cast<int32_t>(builder.AddFunction("0ir_v", body, 4, 2)));
  return builder;
}

// How many allocations of the call were refused in turn, before it succeeded.
int RefuseEach(int depth) {
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  for (int refusals = 0;; ++refusals) {
    auto context = Link({Load(Recursive())});
    Value arguments[] = {i(depth), Value::FromRef(buffer)};
    auto invocation = Invocation::Create(*context, *context->FindFunction("f"),
                                         absl::MakeSpan(arguments));
    EXPECT_TRUE(invocation.ok()) << invocation.status();
    calls_until_refusal = refusals;
    const absl::Status status = (*invocation)->RunToEnd();
    const bool was_refused = calls_until_refusal < 0;
    calls_until_refusal = -1;
    invocation->reset();
    for (Value& argument : arguments) argument = Value();
    EXPECT_TRUE(buffer->IsUnique()) << refusals;
    if (!was_refused) {
      EXPECT_TRUE(status.ok()) << status;
      return refusals;
    }
    // The pool does without spare blocks.
    EXPECT_TRUE(status.ok() ||
                status.code() == absl::StatusCode::kResourceExhausted)
        << status;
  }
}

TEST(InvocationMemoryTest, FramesLetGoWhereMemoryRunsOut) {
  EXPECT_GE(RefuseEach(1), 2);    // The buffer and its bytes.
  EXPECT_GE(RefuseEach(300), 4);  // And the stack, which grows.
}
#endif

}  // namespace
}  // namespace takt::vm
