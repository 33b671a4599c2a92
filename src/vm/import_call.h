// The operand lists of a kCallImport: the registers of the arguments and of the
// results, in a form that is copied without a test of each entry.
//
//   unit 1, 2   the numbers of arguments, results, spans and moves
//   spans       a unit each: slot, repetitions
//   moves       addresses of the refs that the call moves from
//   arguments   the address for each slot, without the bit for a move; the
//               entry for the count of a span is ignored
//   results     addresses
#ifndef TAKT_VM_IMPORT_CALL_H_
#define TAKT_VM_IMPORT_CALL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/program.h"

namespace takt::vm {

class ImportCall {
 public:
  struct Span {
    uint32_t slot;
    uint32_t count;
  };

  explicit ImportCall(const Unit* pc)
      : counts_(pc[1].payload<Counts>()),
        more_(pc[2].payload<Counts>()),
        spans_(pc + 3) {}

  // Appends the lists after the instruction. In `arguments`, refs to move from
  // are odd.
  static void Append(const std::vector<int16_t>& arguments,
                     const std::vector<Span>& spans,
                     const std::vector<int16_t>& results,
                     std::vector<Unit>* code);

  uint32_t argument_count() const { return counts_.first; }
  uint32_t result_count() const { return counts_.second; }
  uint32_t span_count() const { return more_.first; }
  uint32_t move_count() const { return more_.second; }

  Span span(uint32_t i) const { return spans_[i].payload<Span>(); }
  const int16_t* moves() const { return (spans_ + span_count())->list(); }
  const int16_t* arguments() const { return ArgumentUnits()->list(); }
  const int16_t* results() const { return ResultUnits()->list(); }
  // The list of results, which the callee's return reads.
  const Unit* ResultUnits() const {
    return ArgumentUnits() + UnitsOfList(argument_count());
  }
  const Unit* End() const {
    return ResultUnits() + UnitsOfList(result_count());
  }

 private:
  struct Counts {
    uint32_t first;
    uint32_t second;
  };

  const Unit* ArgumentUnits() const {
    return spans_ + span_count() + UnitsOfList(move_count());
  }

  const Counts counts_;
  const Counts more_;
  const Unit* const spans_;
};

// Appends `list` in as many units as it takes.
void AppendList(const std::vector<int16_t>& list, std::vector<Unit>* code);

}  // namespace takt::vm

#endif  // TAKT_VM_IMPORT_CALL_H_
