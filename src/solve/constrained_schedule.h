// A ConstrainedSchedule is a schedule of a problem with side constraints, in
// the form that local search uses: the alternative of each operation and the
// order of the operations on each machine. Evaluate() finds the earliest starts
// that they allow. Chains of no-wait pairs start as a whole, so the starts are
// longest paths between chains.
//
// Longest paths of operations alone are what a DisjunctiveGraph has, which is
// faster. Here, all is computed anew after each move.
//
// Thread-safety: none; each searching thread has its own.
#ifndef TAKT_SOLVE_CONSTRAINED_SCHEDULE_H_
#define TAKT_SOLVE_CONSTRAINED_SCHEDULE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "solve/chains.h"
#include "solve/problem.h"
#include "solve/setup_table.h"

namespace takt::solve {

class ConstrainedSchedule {
 public:
  // `problem` is valid and outlives this.
  explicit ConstrainedSchedule(const Problem& problem);

  // Both times are of the same schedule.
  struct Value {
    int64_t makespan = 0;
    int64_t tardiness = 0;  // Weighted.
  };

  uint32_t operation_count() const {
    return static_cast<uint32_t>(choice_.size());
  }
  const Chains& chains() const { return chains_; }
  const Alternative& chosen(uint32_t v) const {
    return problem_.operations[v].alternatives[choice_[v]];
  }
  absl::Span<const uint32_t> sequence(uint32_t machine) const {
    return sequences_[machine];
  }
  bool HasSetups(uint32_t machine) const {
    return !setups_.OfMachine(machine).empty();
  }

  // Places all operations, one chain after the other, each as early as it can
  // be behind what is there: by precedence, then by the least slack.
  void LoadSerial();
  // The choices and orders of a feasible schedule.
  void LoadSchedule(const Schedule& schedule);
  // Of the starts that are kept.
  Schedule ToSchedule() const;

  // An operation that is taken out, and where it was on each machine.
  struct Removed {
    uint32_t operation = 0;
    uint32_t alternative = 0;
    std::vector<uint32_t> positions;
  };
  // Takes `v` out. Evaluate() counts on all operations.
  Removed Remove(uint32_t v);
  void Insert(const Removed& removed);

  // Computes the starts. False if the orders contradict each other. They count
  // once they are kept; start() and what follows from it are of those.
  bool Evaluate(Value* value);
  void Keep();
  int64_t start(uint32_t v) const { return kept_[v]; }
  int64_t end(uint32_t v) const { return kept_[v] + chosen(v).duration; }
  // Operations of a longest path to the end of `v`, from there on.
  void PathTo(uint32_t v, std::vector<uint32_t>* path) const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // What follows an operation on one of its machines.
  struct Next {
    uint32_t operation;
    int64_t setup;
  };

  void ComputeOffsets();
  // Links the sequences, and begins the starts of chains with releases and
  // first setups. False if a chain is out of order on a machine.
  bool Link();
  // Raises the start of w's chain, so that `w` starts no earlier than `time`.
  bool Raise(uint32_t w, int64_t time, uint32_t cause);
  // Raises what follows a chain; `visit(chain)` for each arc to another one.
  template <typename Visit>
  bool RaiseFollowers(uint32_t chain, Visit&& visit);
  // Chains that wait for each other in part: sweeps until no start rises.
  bool Settle(std::vector<uint32_t> chains);
  void Place(uint32_t chain, std::vector<int64_t>* free_at,
             std::vector<uint32_t>* families);

  const Problem& problem_;
  const Chains chains_;
  const SetupTable setups_;
  const Successors successors_;
  std::vector<uint32_t> predecessor_count_;  // By chain: arcs of others.
  bool may_interlock_ = false;  // Whether a cycle of chains can be feasible.
  int64_t horizon_ = 0;         // No feasible start is beyond.
  uint32_t width_ = 1;

  std::vector<uint32_t> taken_by_;  // By machine: the chain placed last.

  std::vector<uint32_t> choice_;
  std::vector<std::vector<uint32_t>> sequences_;  // By machine.

  // Of Evaluate().
  std::vector<int64_t> offsets_;  // From the start of the chain.
  std::vector<uint32_t> place_in_chain_;
  std::vector<Next> next_;  // width_ for each operation.
  std::vector<uint32_t> missing_, ready_;
  std::vector<int64_t> chain_start_;
  std::vector<uint32_t> cause_;  // By chain: what its start waits for.

  std::vector<int64_t> kept_;  // By operation.
  std::vector<uint32_t> kept_cause_;
};

}  // namespace takt::solve

#endif  // TAKT_SOLVE_CONSTRAINED_SCHEDULE_H_
