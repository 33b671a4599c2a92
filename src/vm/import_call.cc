#include "vm/import_call.h"

#include <algorithm>
#include <array>

#include "base/narrow.h"
#include "vm/frame.h"

namespace takt::vm {

void AppendList(const std::vector<int16_t>& list, std::vector<Unit>* code) {
  for (size_t i = 0; i < list.size(); i += 4) {
    std::array<int16_t, 4> entries{};
    std::copy_n(list.begin() + Narrow<ptrdiff_t>(i),
                std::min<size_t>(4, list.size() - i), entries.begin());
    code->push_back(Unit::FromPayload(entries));
  }
}

void ImportCall::Append(const std::vector<int16_t>& arguments,
                        const std::vector<Span>& spans,
                        const std::vector<int16_t>& results,
                        std::vector<Unit>* code) {
  std::vector<int16_t> moves;
  std::vector<int16_t> addresses = arguments;
  for (int16_t& address : addresses) {
    if (address >= 0 || !IsMove(address)) continue;
    moves.push_back(address);
    --address;
  }
  code->push_back(Unit::FromPayload(Counts{Narrow<uint32_t>(arguments.size()),
                                           Narrow<uint32_t>(results.size())}));
  code->push_back(Unit::FromPayload(
      Counts{Narrow<uint32_t>(spans.size()), Narrow<uint32_t>(moves.size())}));
  for (const Span& span : spans) code->push_back(Unit::FromPayload(span));
  AppendList(moves, code);
  AppendList(addresses, code);
  AppendList(results, code);
}

}  // namespace takt::vm
