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
#include <utility>
#include <vector>

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
  };

  // The length of the longest path that joins what is before v on its machines
  // with what is after it, v taken out. No move of v makes the schedule
  // shorter than that.
  int64_t LengthWithout(uint32_t v) const {
    int64_t longest = 0;
    for (uint32_t i = 0; i < width_; ++i) {
      const size_t slot = size_t{v} * width_ + i;
      longest = std::max(longest, EndOf(before_[slot]) + RestOf(after_[slot]));
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
    return static_cast<uint32_t>(sequences_.size());
  }
  // The most machines that an alternative takes.
  uint32_t width() const { return width_; }
  uint32_t alternative_count(uint32_t v) const {
    return alternative_begin_[v + 1] - alternative_begin_[v];
  }
  int64_t duration(uint32_t v, uint32_t alternative) const {
    return alternative_duration_[alternative_begin_[v] + alternative];
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
  int64_t head(uint32_t v) const { return head_[v]; }
  int64_t tail(uint32_t v) const { return tail_[v]; }
  int64_t duration(uint32_t v) const { return duration_[v]; }
  uint32_t choice(uint32_t v) const { return choice_[v]; }
  bool IsCritical(uint32_t v) const {
    return head_[v] + duration_[v] + tail_[v] == makespan_;
  }
  absl::Span<const uint32_t> topological_order() const { return order_; }
  absl::Span<const uint32_t> sequence(uint32_t machine) const {
    return sequences_[machine];
  }

  // The operations of one critical path, last first; where several lead on,
  // pick(count) chooses.
  template <typename Pick>
  void CriticalPath(Pick&& pick, std::vector<uint32_t>* path) const;

  // Calls visit(move) for every place worth trying for `v`, all alternatives,
  // but for moves of a value above `limit`, of which only some are visited;
  // visit() may lower it. Where an interval of places is equally good, the
  // move names one that pick(count) chooses. The graph is unchanged afterwards.
  template <typename Pick, typename Visit>
  void ForEachMove(uint32_t v, const int64_t& limit, Pick&& pick,
                   Visit&& visit);

  // Carries the move out; heads, tails and makespan follow.
  void Apply(const Move& move);

 private:
  // The index of v's neighbours on `machine`, which its choice takes.
  size_t SlotOf(uint32_t v, uint32_t machine) const;
  size_t MachinesTaken(uint32_t v) const {
    return width_ == 1 ? 1 : machines(v, choice_[v]).size();
  }
  // Parts of the constructor.
  void FlattenPrecedences(const Problem& problem);
  void FlattenAlternatives(const Problem& problem);
  void FindOnlyNeighbours();
  void MakeRoom();
  // Takes v out of its machines' sequences, into removed_positions_, and back.
  void Remove(uint32_t v);
  void PutBack(uint32_t v);
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
  // For the operations from rank `first` on, and up to rank `last`.
  void ComputeHeads(uint32_t first);
  void ComputeTails(uint32_t last);
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
    const uint32_t only = only_predecessor_[v];
    if (only != kSeveral) return std::max(release_[v], end_[only]);
    int64_t head = release_[v];
    for (const uint32_t u : predecessors(v)) head = std::max(head, end_[u]);
    return head;
  }
  int64_t TailByPrecedence(uint32_t v) const {
    const uint32_t only = only_successor_[v];
    if (only != kSeveral) return std::max(delivery_[v], rest_[only]);
    int64_t tail = delivery_[v];
    for (const uint32_t u : successors(v)) tail = std::max(tail, rest_[u]);
    return tail;
  }
  int64_t EndOf(uint32_t v) const { return end_[v]; }
  int64_t RestOf(uint32_t v) const { return rest_[v]; }
  // The head of x, and its tail, but for its neighbour on one machine.
  int64_t HeadBeside(uint32_t x, uint32_t neighbour) const {
    int64_t head = HeadByPrecedence(x);
    if (width_ == 1) return head;
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t u = before_[size_t{x} * width_ + i];
      if (u != neighbour && EndOf(u) > head) head = EndOf(u);
    }
    return head;
  }
  int64_t TailBeside(uint32_t x, uint32_t neighbour) const {
    int64_t tail = TailByPrecedence(x);
    if (width_ == 1) return tail;
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t u = after_[size_t{x} * width_ + i];
      if (u != neighbour && RestOf(u) > tail) tail = RestOf(u);
    }
    return tail;
  }

  template <typename Pick, typename Visit>
  void MovesToMachine(uint32_t v, uint32_t alternative, const Bounds& bounds,
                      const int64_t& limit, Pick&& pick, Visit&& visit);
  template <typename Visit>
  void MovesOnSameMachine(uint32_t v, uint32_t alternative,
                          const Bounds& bounds, const int64_t& limit,
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
  void MovesToSeveral(uint32_t v, uint32_t alternative, const int64_t& limit,
                      Pick&& pick, Visit&& visit);

  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kSeveral = kNone - 1;

  // The problem, flat.
  const uint32_t count_;
  uint32_t width_ = 1;
  std::vector<uint32_t> predecessor_begin_, predecessors_;
  std::vector<uint32_t> successor_begin_, successors_;
  // count_ where there is none, kSeveral where there are several.
  std::vector<uint32_t> only_predecessor_, only_successor_;
  std::vector<uint32_t> alternative_begin_;
  std::vector<int64_t> alternative_duration_;
  std::vector<uint32_t> alternative_machine_;  // The first of them.
  std::vector<uint32_t> machine_begin_, machines_;
  std::vector<uint8_t> may_be_wide_;  // By operation.
  std::vector<int64_t> release_, delivery_;
  std::vector<uint32_t> enders_;  // Where a longest path can end.
  // The first place of each machine. A machine has a place for each operation
  // that may run there, and one more.
  std::vector<uint32_t> first_place_;

  // The schedule.
  std::vector<uint32_t> choice_;
  std::vector<int64_t> duration_;
  std::vector<std::vector<uint32_t>> sequences_;
  // Neighbours on the i-th machine of an operation, at v * width_ + i; count_
  // where there is none.
  std::vector<uint32_t> before_, after_;
  std::vector<uint32_t> place_;  // From first_place_ on; likewise.
  std::vector<int64_t> head_, tail_;
  // Head and duration, tail and duration; 0 at count_.
  std::vector<int64_t> end_, rest_;
  std::vector<uint32_t> order_, rank_;  // Topological order; its inverse.
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
    if (end_[v] + delivery_[v] == makespan_ && pick(++seen) == 0) chosen = v;
  }
  while (chosen != kNone) {
    const uint32_t v = chosen;
    path->push_back(v);
    chosen = kNone;
    seen = 0;
    const auto consider = [&](uint32_t u) {
      if (end_[u] == head_[v] && pick(++seen) == 0) chosen = u;
    };
    for (const uint32_t u : predecessors(v)) consider(u);
    const size_t machine_count = machines(v, choice_[v]).size();
    for (size_t i = 0; i < machine_count; ++i) {
      const uint32_t u = before_[size_t{v} * width_ + i];
      if (u != count_) consider(u);
    }
    // A release date can start a critical path anywhere.
    if (head_[v] == release_[v] && seen > 0 && pick(seen + 1) == 0) {
      chosen = kNone;
    }
  }
}

template <typename Pick, typename Visit>
void DisjunctiveGraph::ForEachMove(uint32_t v, const int64_t& limit,
                                   Pick&& pick, Visit&& visit) {
  const Bounds bounds = BoundsOf(v);
  const uint32_t begin = alternative_begin_[v];
  const uint32_t count = alternative_count(v);
  const uint32_t taken = alternative_machine_[begin + choice_[v]];
  const bool may_be_wide = may_be_wide_[v] != 0;
  const bool is_wide = may_be_wide && MachinesTaken(v) > 1;
  for (uint32_t a = 0; a < count; ++a) {
    if (may_be_wide && (is_wide || machines(v, a).size() > 1)) continue;
    if (bounds.head + duration(v, a) + bounds.tail > limit) continue;
    if (alternative_machine_[begin + a] == taken) {
      MovesOnSameMachine(v, a, bounds, limit, visit);
    } else {
      MovesToMachine(v, a, bounds, limit, pick, visit);
    }
  }
  if (!may_be_wide) return;
  Remove(v);
  ComputeWithout(v);
  for (uint32_t a = 0; a < count; ++a) {
    if (machines(v, a).size() > 1) {
      MovesToSeveral(v, a, limit, pick, visit);
    } else if (is_wide) {
      MovesToMachine(v, a, bounds, limit, pick, visit);
    }
  }
  PutBack(v);
}

// Heads of what follows v in the graph as it is, and tails of what precedes
// it, are not less than they are without v. So `late` and `long_tail` leave no
// place out that a cycle forbids, and an interval of free places stays within
// the true one.
template <typename Pick, typename Visit>
void DisjunctiveGraph::MovesToMachine(uint32_t v, uint32_t alternative,
                                      const Bounds& bounds,
                                      const int64_t& limit, Pick&& pick,
                                      Visit&& visit) {
  const uint32_t machine =
      alternative_machine_[alternative_begin_[v] + alternative];
  const int64_t length = duration(v, alternative);
  const int64_t* ends = end_before_.data() + first_place_[machine];
  const int64_t* rests = rest_from_.data() + first_place_[machine];
  const auto size = static_cast<uint32_t>(sequences_[machine].size());
  uint32_t late = 0;
  for (uint32_t n = size; n > 0;) {
    const uint32_t half = n / 2;
    if (ends[late + half + 1] > bounds.head) {
      n = half;
    } else {
      late += half + 1;
      n -= half + 1;
    }
  }
  // It is not far, as a rule.
  uint32_t long_tail = late;
  while (long_tail < size && rests[long_tail] > bounds.tail) ++long_tail;
  while (long_tail > 0 && rests[long_tail - 1] <= bounds.tail) --long_tail;
  if (late >= long_tail) {
    // Every place in between is as good as if v had the machine to itself.
    visit(Move{v, alternative, long_tail + pick(late - long_tail + 1),
               bounds.head + length + bounds.tail});
    return;
  }
  for (uint32_t i = late; i <= long_tail; ++i) {
    const int64_t start = std::max(bounds.head, ends[i]);
    const int64_t rest = std::max(bounds.tail, rests[i]);
    const int64_t value = start + length + rest;
    if (value <= limit) visit(Move{v, alternative, i, value});
    // Later places start later.
    if (start + length + bounds.tail > limit) break;
  }
}

// Later and earlier places on the machine where v is: the operations that it
// passes move up, at least along the machine.
template <typename Visit>
void DisjunctiveGraph::MovesOnSameMachine(uint32_t v, uint32_t alternative,
                                          const Bounds& bounds,
                                          const int64_t& limit, Visit&& visit) {
  const uint32_t machine =
      alternative_machine_[alternative_begin_[v] + alternative];
  const std::vector<uint32_t>& list = sequences_[machine];
  const int64_t* ends = end_before_.data() + first_place_[machine];
  const int64_t* rests = rest_from_.data() + first_place_[machine];
  const auto size = static_cast<uint32_t>(list.size());
  const int64_t length = duration(v, alternative);
  const uint32_t place = place_[size_t{v} * width_] - first_place_[machine];
  if (alternative != choice_[v]) {  // The same machine by another name.
    const int64_t start = std::max(bounds.head, ends[place]);
    const int64_t rest = std::max(bounds.tail, rests[place + 1]);
    visit(Move{v, alternative, place, start + length + rest});
  }
  int64_t end = ends[place];
  for (uint32_t i = place + 1; i < size; ++i) {
    if (rests[i] <= bounds.tail) break;
    const uint32_t x = list[i];
    end = std::max(end, HeadBeside(x, list[i - 1])) + duration_[x];
    if (end + length + bounds.tail > limit) break;
    const int64_t start = std::max(bounds.head, end);
    const int64_t rest = std::max(bounds.tail, rests[i + 1]);
    visit(Move{v, alternative, i, start + length + rest});
  }
  int64_t after = rests[place + 1];
  for (uint32_t i = place; i-- > 0;) {
    if (ends[i + 1] <= bounds.head) break;
    const uint32_t x = list[i];
    after = std::max(after, TailBeside(x, list[i + 1])) + duration_[x];
    if (bounds.head + length + after > limit) break;
    const int64_t rest = std::max(bounds.tail, after);
    const int64_t start = std::max(bounds.head, ends[i]);
    visit(Move{v, alternative, i, start + length + rest});
  }
}

// When v can start at that cut on the machines, with v removed.
inline int64_t DisjunctiveGraph::StartAtCut(absl::Span<const uint32_t> wanted,
                                            uint32_t cut, int64_t head) const {
  int64_t start = head;
  for (const uint32_t machine : wanted) {
    const std::vector<uint32_t>& list = sequences_[machine];
    const uint32_t place = PlaceOfCut(list, cut);
    if (place == 0) continue;
    const uint32_t x = list[place - 1];
    start = std::max(start, head_without_[x] + duration_[x]);
  }
  return start;
}

// How much must follow v at that cut on the machines, with v removed.
inline int64_t DisjunctiveGraph::RestAtCut(absl::Span<const uint32_t> wanted,
                                           uint32_t cut, int64_t tail) const {
  int64_t rest = tail;
  for (const uint32_t machine : wanted) {
    const std::vector<uint32_t>& list = sequences_[machine];
    const uint32_t place = PlaceOfCut(list, cut);
    if (place == list.size()) continue;
    const uint32_t x = list[place];
    rest = std::max(rest, tail_without_[x] + duration_[x]);
  }
  return rest;
}

// A place is a cut of the topological order between v's predecessors and
// successors, which is free of cycles; it matters only where it passes one of
// the operations on the wanted machines. From cut to cut v starts no earlier,
// and less has to follow it, so the cuts worth trying lie as on one machine.
template <typename Pick, typename Visit>
void DisjunctiveGraph::MovesToSeveral(uint32_t v, uint32_t alternative,
                                      const int64_t& limit, Pick&& pick,
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
    const std::vector<uint32_t>& list = sequences_[machine];
    for (uint32_t i = PlaceOfCut(list, lowest);
         i < list.size() && rank_[list[i]] < std::min(open, last); ++i) {
      visit_cut(rank_[list[i]] + 1);
    }
  }
}

}  // namespace takt::solve

#endif  // TAKT_SOLVE_DISJUNCTIVE_GRAPH_H_
