#include "solve/disjunctive_graph.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/stable_sort.h"

namespace takt::solve {

DisjunctiveGraph::DisjunctiveGraph(const Problem& problem)
    : count_(static_cast<uint32_t>(problem.operations.size())),
      predecessor_begin_(count_ + 1),
      successor_begin_(count_ + 1),
      choice_(count_),
      sizes_(problem.machine_count),
      nodes_(count_ + 1, {.link = {count_, count_}}),
      order_(count_),
      rank_(count_ + 1),
      head_without_(count_),
      tail_without_(count_),
      dirty_(count_ / 64 + 1),
      missing_(count_) {
  FlattenPrecedences(problem);
  FlattenAlternatives(problem);
  MakeNodes(problem);
  if (width_ > 1) links_.assign(size_t{count_} * width_, {count_, count_});
  removed_positions_.resize(width_);
  MakeRoom();
}

void DisjunctiveGraph::FlattenPrecedences(const Problem& problem) {
  for (const auto& [before, after] : problem.precedences) {
    ++successor_begin_[before + 1];
    ++predecessor_begin_[after + 1];
  }
  std::partial_sum(successor_begin_.begin(), successor_begin_.end(),
                   successor_begin_.begin());
  std::partial_sum(predecessor_begin_.begin(), predecessor_begin_.end(),
                   predecessor_begin_.begin());
  predecessors_.resize(problem.precedences.size());
  successors_.resize(problem.precedences.size());
  std::vector<uint32_t> next_successor = successor_begin_;
  std::vector<uint32_t> next_predecessor = predecessor_begin_;
  for (const auto& [before, after] : problem.precedences) {
    successors_[next_successor[before]++] = after;
    predecessors_[next_predecessor[after]++] = before;
  }
}

void DisjunctiveGraph::FlattenAlternatives(const Problem& problem) {
  alternative_begin_.push_back(0);
  machine_begin_.push_back(0);
  for (const Operation& operation : problem.operations) {
    uint32_t width = 1;
    for (const Alternative& alternative : operation.alternatives) {
      modes_.push_back({alternative.duration, alternative.machines[0]});
      machines_.insert(machines_.end(), alternative.machines.begin(),
                       alternative.machines.end());
      machine_begin_.push_back(static_cast<uint32_t>(machines_.size()));
      width =
          std::max(width, static_cast<uint32_t>(alternative.machines.size()));
    }
    may_be_wide_.push_back(width > 1);
    width_ = std::max(width_, width);
    alternative_begin_.push_back(static_cast<uint32_t>(modes_.size()));
  }
  TAKT_CHECK(machine_begin_.size() == modes_.size() + 1);
}

void DisjunctiveGraph::MakeNodes(const Problem& problem) {
  for (uint32_t v = 0; v < count_; ++v) {
    const auto only_of = [this](absl::Span<const uint32_t> list) {
      if (list.empty()) return count_;
      return list.size() == 1 ? list[0] : kSeveral;
    };
    nodes_[v].only_predecessor = only_of(predecessors(v));
    nodes_[v].only_successor = only_of(successors(v));
    nodes_[v].release = problem.operations[v].release;
    nodes_[v].delivery = problem.operations[v].tail;
    if (successors(v).empty() || nodes_[v].delivery > 0) enders_.push_back(v);
  }
}

void DisjunctiveGraph::MakeRoom() {
  std::vector<uint32_t> room(sizes_.size(), 1);
  for (const uint32_t machine : machines_) ++room[machine];
  uint32_t end = 0;
  for (const uint32_t places : room) {
    first_place_.push_back(end);
    end += places;
  }
  sequence_.assign(end, 0);
  end_before_.assign(end, 0);
  rest_from_.assign(end, 0);
}

void DisjunctiveGraph::Load(const State& state) {
  choice_ = state.choice;
  for (uint32_t machine = 0; machine < sizes_.size(); ++machine) {
    const std::vector<uint32_t>& list = state.sequences[machine];
    sizes_[machine] = static_cast<uint32_t>(list.size());
    std::copy(list.begin(), list.end(),
              sequence_.begin() + first_place_[machine]);
  }
  for (uint32_t v = 0; v < count_; ++v) {
    nodes_[v].duration = duration(v, choice_[v]);
    nodes_[v].end = nodes_[v].rest = kUnknown;
  }
  LinkSequences();
  ComputeOrder();
  ComputeHeads(0, count_ - 1);
  ComputeTails(0, count_ - 1);
  ComputeMakespan();
}

void DisjunctiveGraph::Save(State* state) const {
  state->choice = choice_;
  state->sequences.resize(sizes_.size());
  for (uint32_t machine = 0; machine < sizes_.size(); ++machine) {
    const absl::Span<const uint32_t> list = sequence(machine);
    state->sequences[machine].assign(list.begin(), list.end());
  }
  state->makespan = makespan_;
  state->path_sum = PathSum();
}

double DisjunctiveGraph::PathSum() const {
  double sum = 0;
  for (uint32_t v = 0; v < count_; ++v) {
    sum += static_cast<double>(nodes_[v].end + nodes_[v].tail());
  }
  return sum;
}

void DisjunctiveGraph::LoadSchedule(const Schedule& schedule) {
  State state;
  state.choice.resize(count_);
  state.sequences.resize(sizes_.size());
  // Operations of no duration may start together with others. They go before
  // those that take time; among themselves precedence decides, by a topological
  // order of the precedences alone.
  choice_.assign(count_, 0);
  std::fill(sizes_.begin(), sizes_.end(), 0);
  LinkSequences();
  ComputeOrder();
  std::vector<uint32_t> by_start(order_);
  const auto key = [this, &schedule](uint32_t v) {
    const Schedule::Entry& entry = schedule.entries[v];
    return std::pair(entry.start, duration(v, entry.alternative));
  };
  StableSort(by_start,
             [&key](uint32_t a, uint32_t b) { return key(a) < key(b); });
  for (const uint32_t v : by_start) {
    state.choice[v] = schedule.entries[v].alternative;
    for (const uint32_t machine : machines(v, state.choice[v])) {
      state.sequences[machine].push_back(v);
    }
  }
  Load(state);
}

Schedule DisjunctiveGraph::ToSchedule() const {
  Schedule schedule;
  schedule.makespan = makespan_;
  schedule.entries.resize(count_);
  for (uint32_t v = 0; v < count_; ++v) {
    schedule.entries[v] = {choice_[v], head(v)};
  }
  return schedule;
}

void DisjunctiveGraph::LinkSequences() {
  for (uint32_t v = 0; v < count_; ++v) {
    for (uint32_t i = 0; i < width_; ++i) LinkOf(v, i) = {count_, count_};
    missing_[v] = 0;
  }
  for (uint32_t machine = 0; machine < sizes_.size(); ++machine) {
    const absl::Span<const uint32_t> list = sequence(machine);
    for (uint32_t i = 0; i < list.size(); ++i) {
      Link& link = LinkOn(list[i], machine);
      link.place = first_place_[machine] + i;
      if (i > 0) link.before = list[i - 1];
      if (i + 1 < list.size()) link.after = list[i + 1];
    }
    end_before_[first_place_[machine]] = 0;
    rest_from_[first_place_[machine] + list.size()] = 0;
  }
}

void DisjunctiveGraph::ComputeOrder() {
  uint32_t end = 0;
  for (uint32_t v = 0; v < count_; ++v) {
    uint32_t missing = predecessor_begin_[v + 1] - predecessor_begin_[v];
    for (uint32_t i = 0; i < width_; ++i) {
      missing += LinkOf(v, i).before != count_;
    }
    missing_[v] = missing;
    if (missing == 0) order_[end++] = v;
  }
  for (uint32_t begin = 0; begin < end; ++begin) {
    const uint32_t v = order_[begin];
    rank_[v] = begin;
    for (const uint32_t u : successors(v)) {
      if (--missing_[u] == 0) order_[end++] = u;
    }
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t u = LinkOf(v, i).after;
      if (u != count_ && --missing_[u] == 0) order_[end++] = u;
    }
  }
  TAKT_CHECK(end == count_);
}

inline int64_t DisjunctiveGraph::HeadWithout(uint32_t x, uint32_t v) const {
  int64_t head = nodes_[x].release;
  for (const uint32_t u : predecessors(x)) {
    const int64_t end = head_without_[u] + (u == v ? 0 : nodes_[u].duration);
    if (end > head) head = end;
  }
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t u = LinkOf(x, i).before;
    if (u == count_) continue;
    const int64_t end = head_without_[u] + nodes_[u].duration;
    if (end > head) head = end;
  }
  return head;
}

inline int64_t DisjunctiveGraph::TailWithout(uint32_t x, uint32_t v) const {
  int64_t tail = nodes_[x].delivery;
  for (const uint32_t u : successors(x)) {
    const int64_t rest = tail_without_[u] + (u == v ? 0 : nodes_[u].duration);
    if (rest > tail) tail = rest;
  }
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t u = LinkOf(x, i).after;
    if (u == count_) continue;
    const int64_t rest = tail_without_[u] + nodes_[u].duration;
    if (rest > tail) tail = rest;
  }
  return tail;
}

void DisjunctiveGraph::UpdateOrder(uint32_t v) {
  uint32_t first = 0;      // One above the last predecessor.
  uint32_t last = count_;  // The first successor.
  const uint32_t old = rank_[v];
  const auto after = [&](uint32_t u) { first = std::max(first, rank_[u] + 1); };
  const auto before = [&](uint32_t u) { last = std::min(last, rank_[u]); };
  for (const uint32_t u : predecessors(v)) after(u);
  for (const uint32_t u : successors(v)) before(u);
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t p = LinkOf(v, i).before;
    const uint32_t s = LinkOf(v, i).after;
    if (p != count_) after(p);
    if (s != count_) before(s);
  }
  if (first <= last) {
    if (first <= old && old < last) return;
    // Ranks count v itself, in its old place.
    const uint32_t target = old < first ? first - 1 : last;
    const int step = old < target ? 1 : -1;
    for (uint32_t r = old; r != target; r += step) {
      order_[r] = order_[r + step];
      rank_[order_[r]] = r;
    }
    order_[target] = v;
    rank_[v] = target;
    return;
  }
  Reorder(v, std::min(last, old), std::max(first, old + 1));
}

void DisjunctiveGraph::Reorder(uint32_t v, uint32_t first, uint32_t last) {
  // What v leads to, in order; bits as in RelaxHeads().
  const auto mark = [&](uint32_t u) {
    if (rank_[u] < last)
      dirty_[rank_[u] / 64] |= uint64_t{1} << (rank_[u] % 64);
  };
  const auto mark_followers = [&](uint32_t x) {
    for (const uint32_t u : successors(x)) mark(u);
    for (uint32_t i = 0; i < width_; ++i) {
      const uint32_t u = LinkOf(x, i).after;
      if (u != count_) mark(u);
    }
  };
  mark_followers(v);
  moved_.clear();
  uint32_t end = first;
  for (uint32_t r = first; r < last; ++r) {
    const uint32_t x = order_[r];
    const uint64_t bit = uint64_t{1} << (r % 64);
    if ((dirty_[r / 64] & bit) != 0) {
      dirty_[r / 64] &= ~bit;
      mark_followers(x);
      moved_.push_back(x);
    } else if (x != v) {
      order_[end] = x;
      rank_[x] = end++;
    }
  }
  order_[end] = v;
  rank_[v] = end++;
  for (const uint32_t x : moved_) {
    order_[end] = x;
    rank_[x] = end++;
  }
}

void DisjunctiveGraph::NoteNeighbours(uint32_t v) {
  for (uint32_t i = 0; i < width_; ++i) {
    neighbours_.emplace_back(LinkOf(v, i).before, LinkOf(v, i).after);
  }
}

void DisjunctiveGraph::ComputeHeads(uint32_t first, uint32_t last) {
  for (uint32_t r = first; r <= last && r < count_; ++r) {
    const uint32_t v = order_[r];
    Node& node = nodes_[v];
    int64_t head = std::max(HeadByPrecedence(v), nodes_[node.link.before].end);
    const size_t taken = MachinesTaken(v);
    for (size_t i = 1; i < taken; ++i) {
      head = std::max(head, nodes_[LinkOf(v, i).before].end);
    }
    const int64_t end = head + node.duration;
    if (end == node.end) continue;
    node.end = end;
    end_before_[node.link.place + 1] = end;
    last = std::max(last, rank_[node.link.after]);
    for (size_t i = 1; i < taken; ++i) {
      const Link& link = LinkOf(v, i);
      end_before_[link.place + 1] = end;
      last = std::max(last, rank_[link.after]);
    }
    if (node.only_successor != kSeveral) {
      last = std::max(last, rank_[node.only_successor]);
    } else {
      for (const uint32_t u : successors(v)) last = std::max(last, rank_[u]);
    }
  }
}

void DisjunctiveGraph::ComputeTails(uint32_t first, uint32_t last) {
  for (uint32_t r = last + 1; r > first;) {
    const uint32_t v = order_[--r];
    Node& node = nodes_[v];
    int64_t tail = std::max(TailByPrecedence(v), nodes_[node.link.after].rest);
    const size_t taken = MachinesTaken(v);
    for (size_t i = 1; i < taken; ++i) {
      tail = std::max(tail, nodes_[LinkOf(v, i).after].rest);
    }
    const int64_t rest = tail + node.duration;
    if (rest == node.rest) continue;
    node.rest = rest;
    const auto include = [&](uint32_t u) {
      if (u != count_) first = std::min(first, rank_[u]);
    };
    rest_from_[node.link.place] = rest;
    include(node.link.before);
    for (size_t i = 1; i < taken; ++i) {
      const Link& link = LinkOf(v, i);
      rest_from_[link.place] = rest;
      include(link.before);
    }
    if (node.only_predecessor != kSeveral) {
      include(node.only_predecessor);
    } else {
      for (const uint32_t u : predecessors(v)) include(u);
    }
  }
}

void DisjunctiveGraph::ComputeMakespan() {
  makespan_ = 0;
  for (const uint32_t v : enders_) {
    makespan_ = std::max(makespan_, nodes_[v].end + nodes_[v].delivery);
  }
}

void DisjunctiveGraph::Blocks(absl::Span<const uint32_t> path,
                              std::vector<Block>* blocks) const {
  blocks->resize(path.size());
  size_t begin = 0;  // The path has the last operation of a block first.
  for (size_t i = 0; i < path.size(); ++i) {
    const uint32_t v = path[i];
    if (i + 1 < path.size() && nodes_[v].link.before == path[i + 1] &&
        MachinesTaken(v) == 1 && MachinesTaken(path[i + 1]) == 1) {
      continue;
    }
    (*blocks)[begin] = {path[begin], path[begin]};
    for (size_t k = begin + 1; k < i; ++k) (*blocks)[k] = {v, path[begin]};
    (*blocks)[i] = {v, v};
    begin = i + 1;
  }
}

DisjunctiveGraph::Link& DisjunctiveGraph::LinkOn(uint32_t v, uint32_t machine) {
  if (width_ == 1) return nodes_[v].link;
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  size_t i = 0;
  while (taken[i] != machine) ++i;
  return LinkOf(v, i);
}

void DisjunctiveGraph::MoveEntry(uint32_t machine, uint32_t from, uint32_t to) {
  const uint32_t v = sequence_[from];
  const auto put = [&](uint32_t x, uint32_t place) {
    sequence_[place] = x;
    LinkOn(x, machine).place = place;
    end_before_[place + 1] = nodes_[x].end;
    rest_from_[place] = nodes_[x].rest;
  };
  for (uint32_t i = from; i < to; ++i) put(sequence_[i + 1], i);
  for (uint32_t i = from; i > to; --i) put(sequence_[i - 1], i);
  put(v, to);
}

void DisjunctiveGraph::Remove(uint32_t v) {
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  for (size_t i = 0; i < taken.size(); ++i) {
    const uint32_t machine = taken[i];
    const auto [before, after, place] = LinkOf(v, i);
    removed_positions_[i] = place - first_place_[machine];
    const uint32_t last = first_place_[machine] + --sizes_[machine];
    MoveEntry(machine, place, last);
    rest_from_[last] = 0;
    if (before != count_) LinkOn(before, machine).after = after;
    if (after != count_) LinkOn(after, machine).before = before;
  }
}

void DisjunctiveGraph::PutBack(uint32_t v) {
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  for (size_t i = 0; i < taken.size(); ++i) {
    const uint32_t machine = taken[i];
    const uint32_t last = first_place_[machine] + sizes_[machine]++;
    sequence_[last] = v;
    rest_from_[last + 1] = 0;
    MoveEntry(machine, last, first_place_[machine] + removed_positions_[i]);
    const auto [before, after, place] = LinkOf(v, i);
    if (before != count_) LinkOn(before, machine).after = v;
    if (after != count_) LinkOn(after, machine).before = v;
  }
}

void DisjunctiveGraph::Shift(uint32_t v, uint32_t place) {
  const uint32_t machine = modes_[alternative_begin_[v] + choice_[v]].machine;
  Link& link = nodes_[v].link;
  if (place == link.place) return;
  if (link.before != count_) LinkOn(link.before, machine).after = link.after;
  if (link.after != count_) LinkOn(link.after, machine).before = link.before;
  MoveEntry(machine, link.place, place);
  const uint32_t first = first_place_[machine];
  const bool is_last = place + 1 == first + sizes_[machine];
  link.before = place > first ? sequence_[place - 1] : count_;
  link.after = is_last ? count_ : sequence_[place + 1];
  if (link.before != count_) LinkOn(link.before, machine).after = v;
  if (link.after != count_) LinkOn(link.after, machine).before = v;
}

void DisjunctiveGraph::ComputeWithout(uint32_t v) {
  for (uint32_t u = 0; u < count_; ++u) {
    head_without_[u] = head(u);
    tail_without_[u] = tail(u);
  }
  const Bounds bounds = BoundsOf(v);
  head_without_[v] = bounds.head;
  tail_without_[v] = bounds.tail;
  RelaxHeads(v);
  RelaxTails(v);
}

// What comes after v may start earlier. Ranks of the old order still hold, as
// taking v out adds no path that was not there; those that change are visited
// in that order, each once.
void DisjunctiveGraph::RelaxHeads(uint32_t v) {
  const auto mark = [this](uint32_t u) {
    dirty_[rank_[u] / 64] |= uint64_t{1} << (rank_[u] % 64);
  };
  for (const uint32_t u : successors(v)) mark(u);
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t u = LinkOf(v, i).after;
    if (u != count_) mark(u);
  }
  for (size_t word = rank_[v] / 64; word < dirty_.size(); ++word) {
    while (dirty_[word] != 0) {
      const auto bit = static_cast<size_t>(std::countr_zero(dirty_[word]));
      dirty_[word] &= dirty_[word] - 1;
      const uint32_t x = order_[word * 64 + bit];
      const int64_t head = HeadWithout(x, v);
      if (head == head_without_[x]) continue;
      head_without_[x] = head;
      for (const uint32_t u : successors(x)) mark(u);
      for (uint32_t i = 0; i < width_; ++i) {
        const uint32_t u = LinkOf(x, i).after;
        if (u != count_) mark(u);
      }
    }
  }
}

void DisjunctiveGraph::RelaxTails(uint32_t v) {
  const auto mark = [this](uint32_t u) {
    dirty_[rank_[u] / 64] |= uint64_t{1} << (rank_[u] % 64);
  };
  for (const uint32_t u : predecessors(v)) mark(u);
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t u = LinkOf(v, i).before;
    if (u != count_) mark(u);
  }
  for (size_t word = rank_[v] / 64 + 1; word-- > 0;) {
    while (dirty_[word] != 0) {
      const auto bit = 63 - static_cast<size_t>(std::countl_zero(dirty_[word]));
      dirty_[word] &= ~(uint64_t{1} << bit);
      const uint32_t x = order_[word * 64 + bit];
      const int64_t tail = TailWithout(x, v);
      if (tail == tail_without_[x]) continue;
      tail_without_[x] = tail;
      for (const uint32_t u : predecessors(x)) mark(u);
      for (uint32_t i = 0; i < width_; ++i) {
        const uint32_t u = LinkOf(x, i).before;
        if (u != count_) mark(u);
      }
    }
  }
}

uint32_t DisjunctiveGraph::PlaceOfCut(absl::Span<const uint32_t> list,
                                      uint32_t cut) const {
  const auto place =
      std::partition_point(list.begin(), list.end(),
                           [this, cut](uint32_t x) { return rank_[x] < cut; });
  return static_cast<uint32_t>(place - list.begin());
}

// What changes: the heads of v and of what follows it, where it was and where
// it comes to be, and all behind them in the order; tails likewise.
void DisjunctiveGraph::Apply(const Move& move) {
  const uint32_t v = move.operation;
  const absl::Span<const uint32_t> wanted = machines(v, move.alternative);
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  neighbours_.clear();
  NoteNeighbours(v);
  if (wanted.size() == 1 && taken.size() == 1 && wanted[0] == taken[0]) {
    choice_[v] = move.alternative;
    nodes_[v].duration = duration(v, move.alternative);
    Shift(v, first_place_[wanted[0]] + move.position);
  } else {
    Remove(v);
    choice_[v] = move.alternative;
    nodes_[v].duration = duration(v, move.alternative);
    for (uint32_t i = 0; i < width_; ++i) LinkOf(v, i) = {count_, count_};
    for (size_t i = 0; i < wanted.size(); ++i) {
      const absl::Span<const uint32_t> list = sequence(wanted[i]);
      // A place on several machines is a cut of the order as it is.
      const uint32_t place =
          wanted.size() == 1 ? move.position : PlaceOfCut(list, move.position);
      LinkOf(v, i).before = place > 0 ? list[place - 1] : count_;
      LinkOf(v, i).after = place < list.size() ? list[place] : count_;
      removed_positions_[i] = place;
    }
    PutBack(v);
  }
  NoteNeighbours(v);
  UpdateOrder(v);
  // By rank: those whose heads change at once, and whose tails do.
  uint32_t first_after = rank_[v];
  uint32_t last_after = rank_[v];
  uint32_t first_before = rank_[v];
  uint32_t last_before = rank_[v];
  for (const auto& [before, after] : neighbours_) {
    if (before != count_) {
      first_before = std::min(first_before, rank_[before]);
      last_before = std::max(last_before, rank_[before]);
    }
    if (after != count_) {
      first_after = std::min(first_after, rank_[after]);
      last_after = std::max(last_after, rank_[after]);
    }
  }
  ComputeHeads(first_after, last_after);
  ComputeTails(first_before, last_before);
  ComputeMakespan();
}

void DisjunctiveGraph::VisitMoves(
    uint32_t v, absl::FunctionRef<int64_t(uint32_t)> limit,
    absl::FunctionRef<uint32_t(uint32_t)> pick,
    absl::FunctionRef<void(const Move&)> visit) {
  ForEachMove(
      v, {v, v}, [limit](uint32_t a, Way) { return limit(a); }, pick, visit);
}

void DisjunctiveGraph::Apply(const Exchange& exchange) {
  const uint32_t x = exchange.other;
  const uint32_t behind = exchange.is_behind ? 1 : 0;
  Apply(Move{exchange.operation, exchange.alternative, position(x) + behind});
  Move best;
  int64_t limit = std::numeric_limits<int64_t>::max();
  VisitMoves(
      x,
      [&](uint32_t a) { return a == exchange.other_alternative ? limit : -1; },
      [](uint32_t) { return 0; },
      [&](const Move& move) {
        if (move.value >= limit) return;
        limit = move.value;
        best = move;
      });
  Apply(best);
}

}  // namespace takt::solve
