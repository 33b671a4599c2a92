// channel.* and command_buffer.collective: resolved, but not implemented.
#include "modules/hal_state.h"

namespace takt::modules {
namespace {

absl::Status NoCollectives(absl::string_view import) {
  return absl::UnimplementedError(
      absl::StrCat(import, " is not supported: Takt has no collectives"));
}

}  // namespace

absl::StatusOr<Ref<Object>> HalState::ChannelCreate(
    hal::Device& device, uint64_t affinity, int64_t flags, vm::ByteBuffer* id,
    vm::ByteBuffer* group, int32_t rank, int32_t count) {
  return NoCollectives("channel.create");
}

absl::StatusOr<Ref<Object>> HalState::ChannelSplit(Object* channel,
                                                   int32_t color, int32_t key,
                                                   int64_t flags) {
  return NoCollectives("channel.split");
}

absl::StatusOr<std::tuple<int32_t, int32_t>> HalState::ChannelRankAndCount(
    Object* channel) {
  return NoCollectives("channel.rank_and_count");
}

absl::Status HalState::CommandBufferCollective(
    hal::CommandBuffer& command_buffer, Object* channel, int32_t op,
    int32_t param, uint32_t send_slot, uint32_t recv_slot,
    hal::Buffer* send_buffer, hal::Buffer* recv_buffer, uint64_t send_offset,
    uint64_t send_length, uint64_t recv_offset, uint64_t recv_length,
    uint64_t element_count) {
  return NoCollectives("command_buffer.collective");
}

}  // namespace takt::modules
