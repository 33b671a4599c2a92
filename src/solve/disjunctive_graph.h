// A DisjunctiveGraph is a schedule in the form that local search uses: the
// alternative of each operation, the order of the operations on each machine,
// and the longest paths that follow from them (Roy and Sussmann 1964).
//
//   head(v)  longest path to the start of v: its start time
//   tail(v)  longest path from the end of v to the end of the schedule
//
// An operation is critical if head + duration + tail is the makespan. A move
// takes one operation out and puts it back elsewhere; for a single-machine
// alternative the places worth trying lie between two sets that its heads and
// tails bound (Mastrolilli and Gambardella, "Effective neighbourhood functions
// for the flexible job shop problem", J. Scheduling 3, 2000).
//
// Thread-safety: none; each searching thread has its own.
#ifndef TAKT_SOLVE_DISJUNCTIVE_GRAPH_H_
#define TAKT_SOLVE_DISJUNCTIVE_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "solve/problem.h"

namespace takt::solve {

class DisjunctiveGraph {
 public:
  // `problem` is valid and outlives the graph.
  explicit DisjunctiveGraph(const Problem& problem);

  // The part that local search saves and restores.
  struct State {
    std::vector<uint32_t> choice;                  // By operation.
    std::vector<std::vector<uint32_t>> sequences;  // By machine.
    int64_t makespan = 0;
    double path_sum = 0;  // PathSum() of the schedule.

    // Of schedules that are as long, one with a lower sum is better.
    bool IsBetterThan(const State& other) const {
      if (makespan != other.makespan) return makespan < other.makespan;
      return path_sum < other.path_sum;
    }
  };

  // The length of the longest path that joins what is before v on its machines
  // with what is after it, v taken out. No move of v makes the schedule
  // shorter than that.
  int64_t LengthWithout(uint32_t v) const {
    int64_t longest = 0;
    for (uint32_t i = 0; i < width_; ++i) {
      const Link& link = LinkOf(v, i);
      longest =
          std::max(longest, nodes_[link.before].end + nodes_[link.after].rest);
    }
    return longest;
  }

  // A new place for an operation.
  struct Move {
    uint32_t operation = 0;
    uint32_t alternative = 0;
    // Single machine: the index in its sequence without the operation.
    // Several: how many of the others, in the order that topological_order()
    // had, come before it.
    uint32_t position = 0;
    // About the length of the longest path through the operation afterwards:
    // what passes along its machine is exact, the rest at most too long.
    int64_t value = 0;
  };

  uint32_t operation_count() const { return count_; }
  uint32_t machine_count() const {
    return static_cast<uint32_t>(sizes_.size());
  }
  // The most machines that an alternative takes.
  uint32_t width() const { return width_; }
  uint32_t alternative_count(uint32_t v) const {
    return alternative_begin_[v + 1] - alternative_begin_[v];
  }
  int64_t duration(uint32_t v, uint32_t alternative) const {
    return modes_[alternative_begin_[v] + alternative].duration;
  }
  absl::Span<const uint32_t> machines(uint32_t v, uint32_t alternative) const {
    const uint32_t a = alternative_begin_[v] + alternative;
    return {machines_.data() + machine_begin_[a],
            machine_begin_[a + 1] - machine_begin_[a]};
  }
  absl::Span<const uint32_t> predecessors(uint32_t v) const {
    return {predecessors_.data() + predecessor_begin_[v],
            predecessor_begin_[v + 1] - predecessor_begin_[v]};
  }
  absl::Span<const uint32_t> successors(uint32_t v) const {
    return {successors_.data() + successor_begin_[v],
            successor_begin_[v + 1] - successor_begin_[v]};
  }

  // Takes over choices and sequences, which must describe a schedule without
  // cycles.
  void Load(const State& state);
  void Save(State* state) const;
  // The same, from the start times of a feasible schedule.
  void LoadSchedule(const Schedule& schedule);
  Schedule ToSchedule() const;

  int64_t makespan() const { return makespan_; }
  // The longest paths through each operation, added. A lower sum leaves the
  // operations more room within the makespan. It may not fit into an integer.
  double PathSum() const;
  // The same as IsBetterThan() of what Save() would give.
  bool IsBetterThan(const State& state) const {
    if (makespan_ != state.makespan) return makespan_ < state.makespan;
    return PathSum() < state.path_sum;
  }
  int64_t head(uint32_t v) const { return nodes_[v].head(); }
  int64_t tail(uint32_t v) const { return nodes_[v].tail(); }
  int64_t duration(uint32_t v) const { return nodes_[v].duration; }
  uint32_t choice(uint32_t v) const { return choice_[v]; }
  bool IsCritical(uint32_t v) const {
    return nodes_[v].head() + nodes_[v].rest == makespan_;
  }
  absl::Span<const uint32_t> topological_order() const { return order_; }
  absl::Span<const uint32_t> sequence(uint32_t machine) const {
    return {sequence_.data() + first_place_[machine], sizes_[machine]};
  }
  // Of v in the sequence of the first of its machines.
  uint32_t position(uint32_t v) const {
    return nodes_[v].link.place - first_place_[machines(v, choice_[v])[0]];
  }

  // The operations of one critical path, last first; where several lead on,
  // pick(count) chooses.
  template <typename Pick>
  void CriticalPath(Pick&& pick, std::vector<uint32_t>* path) const;

  // Operations that follow each other on one machine without a pause.
  struct Block {
    uint32_t first;
    uint32_t last;
  };
  // For each operation of a critical path, the longest block that the path
  // passes through and that has the operation inside. Those at the ends of a
  // block, and those that take several machines, are blocks of their own.
  void Blocks(absl::Span<const uint32_t> path,
              std::vector<Block>* blocks) const;

  // The ways in which a move can lead: along the one machine that v takes, if
  // the alternative stays, or anywhere else.
  enum class Way : uint8_t { kEarlier, kLater, kElsewhere };

  // The values are those of moves along a machine, by Way.
  struct LimitsAlong {
    int64_t earlier;
    int64_t later;
  };
  // A value that no move of v, with its block on a critical path, undercuts:
  // both the length without v and the value of the move.
  int64_t FloorOf(uint32_t v, const Block& block) const {
    const int64_t floor = LengthWithout(v);
    if (alternative_count(v) > 1 || width_ > 1) return floor;
    const LimitsAlong least = LeastAlong(block, BoundsOf(v));
    return std::max(floor, std::min(least.earlier, least.later));
  }

  // Calls visit(move) for every place worth trying for `v`, all alternatives,
  // but for moves of a value above limit(alternative, way), which visit() may
  // lower, and for those within `block`, which has v, as they leave it as long.
  // Where an interval of places is equally good, the move names one that
  // pick(count) chooses. The graph is unchanged afterwards.
  template <typename Limit, typename Pick, typename Visit>
  void ForEachMove(uint32_t v, const Block& block, Limit&& limit, Pick&& pick,
                   Visit&& visit);

  // The same of all moves whose value is at most limit(alternative), where
  // speed counts less than code.
  void VisitMoves(uint32_t v, absl::FunctionRef<int64_t(uint32_t)> limit,
                  absl::FunctionRef<uint32_t(uint32_t)> pick,
                  absl::FunctionRef<void(const Move&)> visit);

  // Carries the move out; heads, tails and makespan follow.
  void Apply(const Move& move);

  // Two operations of different machines that change places.
  struct Exchange {
    uint32_t operation = 0;
    uint32_t alternative = 0;
    uint32_t other = 0;
    uint32_t other_alternative = 0;
    // Whether the operation must go behind the other first: before it, there
    // could be a cycle.
    bool is_behind = false;
    // About the longest path through either afterwards, and through both added.
    int64_t length = 0;
    int64_t value = 0;
  };

  // Calls visit(exchange) for every exchange of `v` that surely makes no cycle,
  // but for those with a path through an operation x above limit(x,
  // alternative), which visit() may lower. For graphs of width 1.
  template <typename Limit, typename Visit>
  void ForEachExchange(uint32_t v, Limit&& limit, Visit&& visit) const;

  // Puts the operation next to the other, and that into the best place on the
  // machine that the operation left.
  void Apply(const Exchange& exchange);

 private:
  // The neighbours of an operation on one of its machines, count_ where there
  // is none, and its place, from first_place_ on.
  struct Link {
    uint32_t before;
    uint32_t after;
    uint32_t place = 0;
  };
  // An operation as paths see it.
  struct alignas(64) Node {
    int64_t end = 0;   // Head and duration.
    int64_t rest = 0;  // Tail and duration.
    int64_t duration = 0;
    int64_t release = 0;
    int64_t delivery = 0;
    // count_ where there is none, kSeveral where there are several.
    uint32_t only_predecessor = 0;
    uint32_t only_successor = 0;
    Link link;  // On the first of its machines.

    int64_t head() const { return end - duration; }
    int64_t tail() const { return rest - duration; }
  };
  struct Mode {
    int64_t duration;
    uint32_t machine;  // The first of them.
    // Places that MovesToMachine() found last: the first where the operation
    // would be late, and one where it was refused.
    uint32_t late = 0;
    uint32_t refused = 0;
  };
  // On the i-th of its machines.
  Link& LinkOf(uint32_t v, size_t i) {
    return i == 0 ? nodes_[v].link : links_[size_t{v} * width_ + i];
  }
  const Link& LinkOf(uint32_t v, size_t i) const {
    return const_cast<DisjunctiveGraph*>(this)->LinkOf(v, i);
  }
  // On `machine`, which its choice takes.
  Link& LinkOn(uint32_t v, uint32_t machine);
  size_t MachinesTaken(uint32_t v) const {
    return width_ == 1 ? 1 : machines(v, choice_[v]).size();
  }
  // Parts of the constructor.
  void FlattenPrecedences(const Problem& problem);
  void FlattenAlternatives(const Problem& problem);
  void MakeNodes(const Problem& problem);
  void MakeRoom();
  // Takes v out of its machines' sequences, into removed_positions_, and back.
  void Remove(uint32_t v);
  void PutBack(uint32_t v);
  // Moves v to another place of its machine, the only one that it takes.
  void Shift(uint32_t v, uint32_t place);
  // Moves an entry of a machine's sequence to another place.
  void MoveEntry(uint32_t machine, uint32_t from, uint32_t to);
  // Heads and tails as they are without v's machine arcs and its duration.
  void ComputeWithout(uint32_t v);
  void RelaxHeads(uint32_t v);
  void RelaxTails(uint32_t v);
  // The head of x, and its tail, as they are without v's duration.
  int64_t HeadWithout(uint32_t x, uint32_t v) const;
  int64_t TailWithout(uint32_t x, uint32_t v) const;
  void LinkSequences();
  void ComputeOrder();
  // Moves v, whose arcs are new, to its place in the order.
  void UpdateOrder(uint32_t v);
  // Between two ranks, moves the successors of v behind it and the others
  // before it.
  void Reorder(uint32_t v, uint32_t first, uint32_t last);
  // For the operations from the first rank to the last, and those behind them,
  // or before them, that change.
  void ComputeHeads(uint32_t first, uint32_t last);
  void ComputeTails(uint32_t first, uint32_t last);
  void ComputeMakespan();
  // Adds v's neighbours on each of its machines to neighbours_.
  void NoteNeighbours(uint32_t v);
  // First place after the last of `list` before cut `t` of the order.
  uint32_t PlaceOfCut(absl::Span<const uint32_t> list, uint32_t cut) const;

  // When v could start, and what must follow it, but for its machines.
  struct Bounds {
    int64_t head;
    int64_t tail;
  };
  Bounds BoundsOf(uint32_t v) const {
    return {HeadByPrecedence(v), TailByPrecedence(v)};
  }
  int64_t HeadByPrecedence(uint32_t v) const {
    const Node& node = nodes_[v];
    if (node.only_predecessor != kSeveral) {
      return std::max(node.release, nodes_[node.only_predecessor].end);
    }
    int64_t head = node.release;
    for (const uint32_t u : predecessors(v)) {
      head = std::max(head, nodes_[u].end);
    }
    return head;
  }
  int64_t TailByPrecedence(uint32_t v) const {
    const Node& node = nodes_[v];
    if (node.only_successor != kSeveral) {
      return std::max(node.delivery, nodes_[node.only_successor].rest);
    }
    int64_t tail = node.delivery;
    for (const uint32_t u : successors(v)) {
      tail = std::max(tail, nodes_[u].rest);
    }
    return tail;
  }
  // The head of x, and its tail, but for its neighbour on one machine.
  int64_t HeadBeside(uint32_t x, uint32_t neighbour) const {
    int64_t head = HeadByPrecedence(x);
    if (width_ == 1) return head;
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t u = LinkOf(x, i).before;
      if (u != neighbour) head = std::max(head, nodes_[u].end);
    }
    return head;
  }
  int64_t TailBeside(uint32_t x, uint32_t neighbour) const {
    int64_t tail = TailByPrecedence(x);
    if (width_ == 1) return tail;
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t u = LinkOf(x, i).after;
      if (u != neighbour) tail = std::max(tail, nodes_[u].rest);
    }
    return tail;
  }

  template <typename Pick, typename Visit>
  void MovesToMachine(uint32_t v, uint32_t alternative, const Bounds& bounds,
                      int64_t limit, Pick&& pick, Visit&& visit);
  // No move of an operation along its machine has a lower value: it goes before
  // all of its block, or behind.
  LimitsAlong LeastAlong(const Block& block, const Bounds& bounds) const {
    return {bounds.head + nodes_[block.first].rest,
            nodes_[block.last].end + bounds.tail};
  }
  template <typename Visit>
  void MovesOnSameMachine(uint32_t v, uint32_t alternative, const Block& block,
                          const Bounds& bounds, const LimitsAlong& limits,
                          Visit&& visit);
  int64_t StartAtCut(absl::Span<const uint32_t> wanted, uint32_t cut,
                     int64_t head) const;
  int64_t RestAtCut(absl::Span<const uint32_t> wanted, uint32_t cut,
                    int64_t tail) const;
  // The first cut in [first, last] for which is(cut) holds, which then holds
  // for all later ones; last + 1: none.
  template <typename Is>
  static uint32_t FirstCut(uint32_t first, uint32_t last, Is&& is) {
    for (uint32_t n = last + 1 - first; n > 0;) {
      const uint32_t half = n / 2;
      if (is(first + half)) {
        n = half;
      } else {
        first += half + 1;
        n -= half + 1;
      }
    }
    return first;
  }
  template <typename Pick, typename Visit>
  void MovesToSeveral(uint32_t v, uint32_t alternative, int64_t limit,
                      Pick&& pick, Visit&& visit);

  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kSeveral = kNone - 1;
  static constexpr int64_t kUnknown = -1;  // No end, nor rest.

  // The problem, flat.
  const uint32_t count_;
  uint32_t width_ = 1;
  std::vector<uint32_t> predecessor_begin_, predecessors_;
  std::vector<uint32_t> successor_begin_, successors_;
  std::vector<uint32_t> alternative_begin_;
  std::vector<Mode> modes_;  // By alternative.
  std::vector<uint32_t> machine_begin_, machines_;
  std::vector<uint8_t> may_be_wide_;  // By operation.
  std::vector<uint32_t> enders_;      // Where a longest path can end.
  // The first place of each machine. A machine has a place for each operation
  // that may run there, and one more.
  std::vector<uint32_t> first_place_;

  // The schedule.
  std::vector<uint32_t> choice_;
  std::vector<uint32_t> sequence_;  // By place.
  std::vector<uint32_t> sizes_;     // By machine.
  std::vector<Node> nodes_;         // And one of no time, for count_.
  std::vector<Link> links_;         // At v * width_ + i; none for i = 0.
  // Topological order; its inverse, which has 0 for count_.
  std::vector<uint32_t> order_, rank_;
  int64_t makespan_ = 0;
  // By place: the end of what is before it on the machine, and the rest from
  // what is there. In a row, as a search for a place reads them.
  std::vector<int64_t> end_before_, rest_from_;

  // Scratch of ForEachMove().
  std::vector<int64_t> head_without_, tail_without_;
  std::vector<uint64_t> dirty_;  // Bits by rank.
  std::vector<uint32_t> missing_;
  std::vector<uint32_t> removed_positions_;
  // Scratch of Reorder(), and of Apply().
  std::vector<uint32_t> moved_;
  std::vector<std::pair<uint32_t, uint32_t>> neighbours_;  // Before, after.
};

template <typename Pick>
void DisjunctiveGraph::CriticalPath(Pick&& pick,
                                    std::vector<uint32_t>* path) const {
  path->clear();
  // Reservoir sampling of the next operation among those that are critical.
  uint32_t chosen = kNone;
  uint32_t seen = 0;
  for (const uint32_t v : enders_) {
    if (nodes_[v].end + nodes_[v].delivery == makespan_ && pick(++seen) == 0) {
      chosen = v;
    }
  }
  while (chosen != kNone) {
    const uint32_t v = chosen;
    const Node& node = nodes_[v];
    const int64_t head = node.head();
    path->push_back(v);
    chosen = kNone;
    seen = 0;
    const auto consider = [&](uint32_t u) {
      if (nodes_[u].end == head && u != count_ && pick(++seen) == 0) chosen = u;
    };
    if (node.only_predecessor != kSeveral) {
      consider(node.only_predecessor);
    } else {
      for (const uint32_t u : predecessors(v)) consider(u);
    }
    consider(node.link.before);
    const size_t taken = MachinesTaken(v);
    for (size_t i = 1; i < taken; ++i) consider(LinkOf(v, i).before);
    // A release date can start a critical path anywhere.
    if (head == node.release && seen > 0 && pick(seen + 1) == 0) {
      chosen = kNone;
    }
  }
}

template <typename Limit, typename Pick, typename Visit>
void DisjunctiveGraph::ForEachMove(uint32_t v, const Block& block,
                                   Limit&& limit, Pick&& pick, Visit&& visit) {
  const Bounds bounds = BoundsOf(v);
  const Mode* modes = modes_.data() + alternative_begin_[v];
  const uint32_t count = alternative_count(v);
  const uint32_t taken = modes[choice_[v]].machine;
  const bool may_be_wide = width_ > 1 && may_be_wide_[v] != 0;
  const bool is_wide = may_be_wide && MachinesTaken(v) > 1;
  for (uint32_t a = 0; a < count; ++a) {
    if (may_be_wide && (is_wide || machines(v, a).size() > 1)) continue;
    const int64_t least = bounds.head + modes[a].duration + bounds.tail;
    if (a == choice_[v]) {
      const LimitsAlong limits = {limit(a, Way::kEarlier),
                                  limit(a, Way::kLater)};
      const LimitsAlong leasts = LeastAlong(block, bounds);
      if (leasts.earlier > limits.earlier && leasts.later > limits.later) {
        continue;
      }
      MovesOnSameMachine(v, a, block, bounds, limits, visit);
      continue;
    }
    const int64_t most = limit(a, Way::kElsewhere);
    if (least > most) continue;
    if (modes[a].machine == taken) {
      MovesOnSameMachine(v, a, {v, v}, bounds, {most, most}, visit);
    } else {
      MovesToMachine(v, a, bounds, most, pick, visit);
    }
  }
  if (!may_be_wide) return;
  Remove(v);
  ComputeWithout(v);
  for (uint32_t a = 0; a < count; ++a) {
    const int64_t most = limit(a, Way::kElsewhere);
    if (bounds.head + duration(v, a) + bounds.tail > most) continue;
    if (machines(v, a).size() > 1) {
      MovesToSeveral(v, a, most, pick, visit);
    } else if (is_wide) {
      MovesToMachine(v, a, bounds, most, pick, visit);
    }
  }
  PutBack(v);
}

// Heads of what follows v in the graph as it is, and tails of what precedes
// it, are not less than they are without v. So `late` and `open` leave no place
// out that a cycle forbids, and an interval of free places stays within the
// true one.
template <typename Pick, typename Visit>
void DisjunctiveGraph::MovesToMachine(uint32_t v, uint32_t alternative,
                                      const Bounds& bounds, int64_t limit,
                                      Pick&& pick, Visit&& visit) {
  Mode& mode = modes_[alternative_begin_[v] + alternative];
  const int64_t length = mode.duration;
  const int64_t* ends = end_before_.data() + first_place_[mode.machine];
  const int64_t* rests = rest_from_.data() + first_place_[mode.machine];
  const uint32_t size = sizes_[mode.machine];
  // Up to a place, too much follows; from a place on, it is too late.
  const int64_t rest_max = limit - length - bounds.head;
  const int64_t end_max = limit - length - bounds.tail;
  const auto is_refused = [&](uint32_t place) {
    return ends[place] > end_max && rests[place - 1] > rest_max;
  };
  // Most are refused again and again at the same place.
  if (mode.refused - 1 < size && is_refused(mode.refused)) return;
  // From step to step it moves little.
  uint32_t late = std::min(mode.late, size);
  while (late < size && ends[late + 1] <= bounds.head) ++late;
  while (late > 0 && ends[late] > bounds.head) --late;
  mode.late = late;
  if (rests[late] <= bounds.tail) {
    // Every place in between is as good as if v had the machine to itself.
    uint32_t open = late;
    while (open > 0 && rests[open - 1] <= bounds.tail) --open;
    visit(Move{v, alternative, open + pick(late - open + 1),
               bounds.head + length + bounds.tail});
    return;
  }
  for (uint32_t i = late;; ++i) {
    if (ends[i] > end_max) {
      if (rests[i - 1] > rest_max) mode.refused = i;
      return;
    }
    const int64_t start = std::max(bounds.head, ends[i]);
    const int64_t rest = std::max(bounds.tail, rests[i]);
    const int64_t value = start + length + rest;
    if (value <= limit) visit(Move{v, alternative, i, value});
    if (rests[i] <= bounds.tail) return;
  }
}

// Later and earlier places on the machine where v is, but for those inside the
// block: the operations that it passes move up, at least along the machine.
template <typename Visit>
void DisjunctiveGraph::MovesOnSameMachine(uint32_t v, uint32_t alternative,
                                          const Block& block,
                                          const Bounds& bounds,
                                          const LimitsAlong& limits,
                                          Visit&& visit) {
  const Mode& mode = modes_[alternative_begin_[v] + alternative];
  const int64_t length = mode.duration;
  const uint32_t first = first_place_[mode.machine];
  const Node& node = nodes_[v];
  const uint32_t place = node.link.place;
  const uint32_t* list = sequence_.data();
  const int64_t* ends = end_before_.data();
  const int64_t* rests = rest_from_.data();
  const auto visit_place = [&](uint32_t i, int64_t end, int64_t after,
                               int64_t limit) {
    const int64_t value =
        std::max(bounds.head, end) + length + std::max(bounds.tail, after);
    if (value <= limit) visit(Move{v, alternative, i - first, value});
  };
  if (alternative != choice_[v]) {  // The same machine by another name.
    visit_place(place, ends[place], rests[place + 1], limits.later);
  }
  // No rest is at the last place, and no end before the first. What v passes
  // takes at least as long as the rest of the block on that side.
  const int64_t end_max = limits.later - length - bounds.tail;
  int64_t end = ends[place];
  if (nodes_[block.last].end - node.duration <= end_max) {
    const uint32_t least = nodes_[block.last].link.place;
    for (uint32_t i = place + 1; rests[i] > bounds.tail; ++i) {
      const uint32_t x = list[i];
      end = std::max(end, HeadBeside(x, list[i - 1])) + nodes_[x].duration;
      if (end > end_max) break;
      if (i >= least) visit_place(i, end, rests[i + 1], limits.later);
    }
  }
  const int64_t rest_max = limits.earlier - length - bounds.head;
  int64_t after = rests[place + 1];
  if (nodes_[block.first].rest - node.duration <= rest_max) {
    const uint32_t most = nodes_[block.first].link.place;
    for (uint32_t i = place; ends[i] > bounds.head;) {
      const uint32_t x = list[--i];
      after = std::max(after, TailBeside(x, list[i + 1])) + nodes_[x].duration;
      if (after > rest_max) break;
      if (i <= most) visit_place(i, ends[i], after, limits.earlier);
    }
  }
}

// No path leads from an operation that ends after the head of v to v, nor from
// v to one whose rest is longer than the tail of v.
template <typename Limit, typename Visit>
void DisjunctiveGraph::ForEachExchange(uint32_t v, Limit&& limit,
                                       Visit&& visit) const {
  // A place on a machine without what is there now.
  struct Gap {
    int64_t end;             // Of what is before it.
    int64_t rest;            // From what is after it.
    int64_t end_of_after;    // The most if nothing is after it.
    int64_t rest_of_before;  // The most if nothing is before it.
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto gap_at = [this](uint32_t place, uint32_t first, uint32_t last) {
    return Gap{end_before_[place], rest_from_[place + 1],
               place < last ? end_before_[place + 2] : kMost,
               place > first ? rest_from_[place - 1] : kMost};
  };
  const auto may_cycle = [](const Gap& gap, const Bounds& bounds) {
    return gap.end_of_after <= bounds.head || gap.rest_of_before <= bounds.tail;
  };
  const auto length_at = [](const Gap& gap, const Bounds& bounds,
                            int64_t duration) {
    return std::max(bounds.head, gap.end) + duration +
           std::max(bounds.tail, gap.rest);
  };
  const Bounds bounds = BoundsOf(v);
  const Mode* modes = modes_.data() + alternative_begin_[v];
  const uint32_t left = modes[choice_[v]].machine;
  const uint32_t left_first = first_place_[left];
  const Gap left_gap =
      gap_at(nodes_[v].link.place, left_first, left_first + sizes_[left] - 1);
  for (uint32_t a = 0; a < alternative_count(v); ++a) {
    const uint32_t machine = modes[a].machine;
    if (machine == left) continue;
    const uint32_t first = first_place_[machine];
    const uint32_t end = first + sizes_[machine];
    int64_t most = limit(v, a);
    if (bounds.head + modes[a].duration + bounds.tail > most) continue;
    // Before the first place, too much follows.
    const int64_t rest_max = most - modes[a].duration - bounds.head;
    const auto rests = rest_from_.begin() + first + 1;
    const auto rest = std::partition_point(
        rests, rests + sizes_[machine],
        [rest_max](int64_t after) { return after > rest_max; });
    for (uint32_t place = first + static_cast<uint32_t>(rest - rests);
         place < end &&
         end_before_[place] + modes[a].duration + bounds.tail <= most;
         ++place) {
      const Gap gap = gap_at(place, first, end - 1);
      const int64_t length = length_at(gap, bounds, modes[a].duration);
      if (length > most || may_cycle(gap, bounds)) continue;
      const uint32_t x = sequence_[place];
      const bool is_behind = nodes_[x].end <= bounds.head;
      if (is_behind && nodes_[x].rest <= bounds.tail) continue;
      const Bounds other_bounds = BoundsOf(x);
      if (may_cycle(left_gap, other_bounds)) continue;
      for (uint32_t b = 0; b < alternative_count(x); ++b) {
        const Mode& mode = modes_[alternative_begin_[x] + b];
        if (mode.machine != left) continue;
        const int64_t other = length_at(left_gap, other_bounds, mode.duration);
        if (other > limit(x, b)) continue;
        visit(Exchange{v, a, x, b, is_behind, std::max(length, other),
                       length + other});
        most = limit(v, a);
      }
    }
  }
}

// When v can start at that cut on the machines, with v removed.
inline int64_t DisjunctiveGraph::StartAtCut(absl::Span<const uint32_t> wanted,
                                            uint32_t cut, int64_t head) const {
  int64_t start = head;
  for (const uint32_t machine : wanted) {
    const absl::Span<const uint32_t> list = sequence(machine);
    const uint32_t place = PlaceOfCut(list, cut);
    if (place == 0) continue;
    const uint32_t x = list[place - 1];
    start = std::max(start, head_without_[x] + nodes_[x].duration);
  }
  return start;
}

// How much must follow v at that cut on the machines, with v removed.
inline int64_t DisjunctiveGraph::RestAtCut(absl::Span<const uint32_t> wanted,
                                           uint32_t cut, int64_t tail) const {
  int64_t rest = tail;
  for (const uint32_t machine : wanted) {
    const absl::Span<const uint32_t> list = sequence(machine);
    const uint32_t place = PlaceOfCut(list, cut);
    if (place == list.size()) continue;
    const uint32_t x = list[place];
    rest = std::max(rest, tail_without_[x] + nodes_[x].duration);
  }
  return rest;
}

// A place is a cut of the topological order between v's predecessors and
// successors, which is free of cycles; it matters only where it passes one of
// the operations on the wanted machines. From cut to cut v starts no earlier,
// and less has to follow it, so the cuts worth trying lie as on one machine.
template <typename Pick, typename Visit>
void DisjunctiveGraph::MovesToSeveral(uint32_t v, uint32_t alternative,
                                      int64_t limit, Pick&& pick,
                                      Visit&& visit) {
  const absl::Span<const uint32_t> wanted = machines(v, alternative);
  const int64_t length = duration(v, alternative);
  const int64_t head = head_without_[v];
  const int64_t tail = tail_without_[v];
  if (head + length + tail > limit) return;
  uint32_t first = 0;
  uint32_t last = count_;
  for (const uint32_t u : predecessors(v))
    first = std::max(first, rank_[u] + 1);
  for (const uint32_t u : successors(v)) last = std::min(last, rank_[u]);
  const uint32_t late = FirstCut(first, last, [&](uint32_t cut) {
    return StartAtCut(wanted, cut, head) > head;
  });
  const uint32_t open = FirstCut(first, last, [&](uint32_t cut) {
    return RestAtCut(wanted, cut, tail) <= tail;
  });
  if (open < late) {
    visit(Move{v, alternative, open + pick(late - open), head + length + tail});
    return;
  }
  const uint32_t lowest = late > first ? late - 1 : first;
  const auto visit_cut = [&](uint32_t cut) {
    const int64_t value =
        StartAtCut(wanted, cut, head) + length + RestAtCut(wanted, cut, tail);
    if (value <= limit) visit(Move{v, alternative, cut, value});
  };
  visit_cut(lowest);
  for (const uint32_t machine : wanted) {
    const absl::Span<const uint32_t> list = sequence(machine);
    for (uint32_t i = PlaceOfCut(list, lowest);
         i < list.size() && rank_[list[i]] < std::min(open, last); ++i) {
      visit_cut(rank_[list[i]] + 1);
    }
  }
}

}  // namespace takt::solve

#endif  // TAKT_SOLVE_DISJUNCTIVE_GRAPH_H_
