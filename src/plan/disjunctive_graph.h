// A DisjunctiveGraph is a schedule as local search sees it: which alternative
// each operation takes, in which order each machine takes its operations, and
// the longest paths that follow from it (Roy and Sussmann 1964).
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
#ifndef TAKT_PLAN_DISJUNCTIVE_GRAPH_H_
#define TAKT_PLAN_DISJUNCTIVE_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "plan/problem.h"

namespace takt::plan {

class DisjunctiveGraph {
 public:
  // `problem` is valid and outlives the graph.
  explicit DisjunctiveGraph(const Problem& problem);

  // What local search goes back to.
  struct State {
    std::vector<uint32_t> choice;                  // By operation.
    std::vector<std::vector<uint32_t>> sequences;  // By machine.
    int64_t makespan = 0;
  };

  // Where to put an operation.
  struct Move {
    uint32_t operation = 0;
    uint32_t alternative = 0;
    // Single machine: the index in its sequence without the operation.
    // Several: how many of the others, in the order that topological_order()
    // had, come before it.
    uint32_t position = 0;
    // Length of the longest path through the operation afterwards: a lower
    // bound of the makespan to come.
    int64_t value = 0;
  };

  uint32_t operation_count() const { return count_; }
  uint32_t alternative_count(uint32_t v) const {
    return alternative_begin_[v + 1] - alternative_begin_[v];
  }
  int64_t duration(uint32_t v, uint32_t alternative) const {
    return alternative_duration_[alternative_begin_[v] + alternative];
  }
  absl::Span<const uint32_t> machines(uint32_t v, uint32_t alternative) const;
  absl::Span<const uint32_t> predecessors(uint32_t v) const;
  absl::Span<const uint32_t> successors(uint32_t v) const;

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

  // Calls visit(move) for every place worth trying for `v`, all alternatives.
  // Where an interval of places is equally good, the move names one that
  // pick(count) chooses. The graph is unchanged afterwards.
  template <typename Pick, typename Visit>
  void ForEachMove(uint32_t v, Pick&& pick, Visit&& visit);

  // Carries the move out and computes heads, tails and makespan anew.
  void Apply(const Move& move);

 private:
  // Takes v out of its machines' sequences, into removed_positions_; back.
  void Remove(uint32_t v);
  void PutBack(uint32_t v);
  // Heads and tails as they are without v's machine arcs and its duration.
  void ComputeWithout(uint32_t v);
  void RelaxHeads(uint32_t v);
  void RelaxTails(uint32_t v);
  int64_t HeadBound(uint32_t v, absl::Span<const int64_t> heads,
                    uint32_t without) const;
  int64_t TailBound(uint32_t v, absl::Span<const int64_t> tails,
                    uint32_t without) const;
  void LinkSequences();
  void ComputeOrder();
  void ComputeLongestPaths();
  // First place after the last of `list` before cut `t` of the order.
  uint32_t PlaceOfCut(absl::Span<const uint32_t> list, uint32_t cut) const;

  template <typename Pick, typename Visit>
  void SingleMachineMoves(uint32_t v, uint32_t alternative, Pick&& pick,
                          Visit&& visit);
  template <typename Visit>
  void MultiMachineMoves(uint32_t v, uint32_t alternative, Visit&& visit);

  static constexpr uint32_t kNone = ~uint32_t{0};

  // The problem, flat.
  const uint32_t count_;
  uint32_t width_ = 1;  // The most machines that an alternative takes.
  std::vector<uint32_t> predecessor_begin_, predecessors_;
  std::vector<uint32_t> successor_begin_, successors_;
  std::vector<uint32_t> alternative_begin_;
  std::vector<int64_t> alternative_duration_;
  std::vector<uint32_t> machine_begin_, machines_;
  std::vector<int64_t> release_, delivery_;

  // The schedule.
  std::vector<uint32_t> choice_;
  std::vector<int64_t> duration_;
  std::vector<std::vector<uint32_t>> sequences_;
  // Neighbours on the i-th machine of an operation, at v * width_ + i.
  std::vector<uint32_t> before_, after_;
  std::vector<int64_t> head_, tail_;
  std::vector<uint32_t> order_, rank_;  // Topological order; its inverse.
  int64_t makespan_ = 0;

  // Scratch of ForEachMove().
  std::vector<int64_t> head_without_, tail_without_;
  std::vector<uint64_t> dirty_;  // Bits by rank.
  std::vector<uint32_t> missing_;
  std::vector<uint32_t> removed_positions_;
};

template <typename Pick>
void DisjunctiveGraph::CriticalPath(Pick&& pick,
                                    std::vector<uint32_t>* path) const {
  path->clear();
  // Reservoir sampling of the next operation among those that are critical.
  uint32_t chosen = kNone;
  uint32_t seen = 0;
  for (uint32_t v = 0; v < count_; ++v) {
    if (head_[v] + duration_[v] + delivery_[v] == makespan_ &&
        pick(++seen) == 0) {
      chosen = v;
    }
  }
  while (chosen != kNone) {
    const uint32_t v = chosen;
    path->push_back(v);
    chosen = kNone;
    seen = 0;
    const auto consider = [&](uint32_t u) {
      if (head_[u] + duration_[u] == head_[v] && pick(++seen) == 0) chosen = u;
    };
    for (const uint32_t u : predecessors(v)) consider(u);
    const size_t machine_count = machines(v, choice_[v]).size();
    for (size_t i = 0; i < machine_count; ++i) {
      const uint32_t u = before_[v * width_ + i];
      if (u != kNone) consider(u);
    }
    // A release date can start a critical path anywhere.
    if (head_[v] == release_[v] && seen > 0 && pick(seen + 1) == 0) {
      chosen = kNone;
    }
  }
}

template <typename Pick, typename Visit>
void DisjunctiveGraph::ForEachMove(uint32_t v, Pick&& pick, Visit&& visit) {
  Remove(v);
  ComputeWithout(v);
  for (uint32_t a = 0; a < alternative_count(v); ++a) {
    if (machines(v, a).size() == 1) {
      SingleMachineMoves(v, a, pick, visit);
    } else {
      MultiMachineMoves(v, a, visit);
    }
  }
  PutBack(v);
}

template <typename Pick, typename Visit>
void DisjunctiveGraph::SingleMachineMoves(uint32_t v, uint32_t alternative,
                                          Pick&& pick, Visit&& visit) {
  const uint32_t machine = machines(v, alternative)[0];
  const std::vector<uint32_t>& list = sequences_[machine];
  const auto size = static_cast<uint32_t>(list.size());
  const int64_t head = head_without_[v];
  const int64_t tail = tail_without_[v];
  const int64_t length = duration(v, alternative);
  // `late`: where those begin that end after v could start; `long_tail`: where
  // those end whose tail is longer than what must follow v.
  uint32_t late = 0;
  for (uint32_t n = size; n > 0;) {
    const uint32_t half = n / 2;
    const uint32_t x = list[late + half];
    if (head_without_[x] + duration_[x] > head) {
      n = half;
    } else {
      late += half + 1;
      n -= half + 1;
    }
  }
  uint32_t long_tail = 0;
  for (uint32_t n = size; n > 0;) {
    const uint32_t half = n / 2;
    const uint32_t x = list[long_tail + half];
    if (tail_without_[x] + duration_[x] > tail) {
      long_tail += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  const bool same = choice_[v] == alternative;
  const uint32_t old_position = same ? removed_positions_[0] : kNone;
  if (late >= long_tail) {
    // Every place in between is as good as if v had the machine to itself.
    const uint32_t places = late - long_tail + 1;
    uint32_t position = long_tail + pick(places);
    if (position == old_position) {
      if (places == 1) return;
      position = position == late ? long_tail : position + 1;
    }
    visit(Move{v, alternative, position, head + length + tail});
    return;
  }
  for (uint32_t i = late; i <= long_tail; ++i) {
    if (i == old_position) continue;
    int64_t start = head;
    int64_t rest = tail;
    if (i > 0) {
      const uint32_t x = list[i - 1];
      if (head_without_[x] + duration_[x] > start) {
        start = head_without_[x] + duration_[x];
      }
    }
    if (i < size) {
      const uint32_t x = list[i];
      if (tail_without_[x] + duration_[x] > rest) {
        rest = tail_without_[x] + duration_[x];
      }
    }
    visit(Move{v, alternative, i, start + length + rest});
  }
}

template <typename Visit>
void DisjunctiveGraph::MultiMachineMoves(uint32_t v, uint32_t alternative,
                                         Visit&& visit) {
  const absl::Span<const uint32_t> wanted = machines(v, alternative);
  const int64_t length = duration(v, alternative);
  // Any cut of the topological order between v's predecessors and successors
  // is free of cycles; it matters only where it passes one of the operations
  // on the wanted machines.
  uint32_t first = 0;
  uint32_t last = count_;
  for (const uint32_t u : predecessors(v)) {
    if (rank_[u] + 1 > first) first = rank_[u] + 1;
  }
  for (const uint32_t u : successors(v)) {
    if (rank_[u] < last) last = rank_[u];
  }
  const auto value_of = [&](uint32_t cut) {
    int64_t start = head_without_[v];
    int64_t rest = tail_without_[v];
    for (const uint32_t machine : wanted) {
      const std::vector<uint32_t>& list = sequences_[machine];
      const uint32_t place = PlaceOfCut(list, cut);
      if (place > 0) {
        const uint32_t x = list[place - 1];
        const int64_t end = head_without_[x] + duration_[x];
        if (end > start) start = end;
      }
      if (place < list.size()) {
        const uint32_t x = list[place];
        const int64_t after = tail_without_[x] + duration_[x];
        if (after > rest) rest = after;
      }
    }
    return start + length + rest;
  };
  visit(Move{v, alternative, first, value_of(first)});
  for (const uint32_t machine : wanted) {
    for (const uint32_t x : sequences_[machine]) {
      const uint32_t cut = rank_[x] + 1;
      if (cut > first && cut <= last) {
        visit(Move{v, alternative, cut, value_of(cut)});
      }
    }
  }
}

}  // namespace takt::plan

#endif  // TAKT_PLAN_DISJUNCTIVE_GRAPH_H_
