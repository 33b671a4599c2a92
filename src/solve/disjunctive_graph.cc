#include "solve/disjunctive_graph.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"

namespace takt::solve {

DisjunctiveGraph::DisjunctiveGraph(const Problem& problem)
    : count_(static_cast<uint32_t>(problem.operations.size())),
      predecessor_begin_(count_ + 1),
      successor_begin_(count_ + 1),
      choice_(count_),
      duration_(count_),
      sequences_(problem.machine_count),
      head_(count_),
      tail_(count_),
      end_(count_ + 1),
      rest_(count_ + 1),
      order_(count_),
      rank_(count_),
      head_without_(count_),
      tail_without_(count_),
      dirty_(count_ / 64 + 1),
      missing_(count_) {
  FlattenPrecedences(problem);
  FlattenAlternatives(problem);
  FindOnlyNeighbours();
  before_.assign(size_t{count_} * width_, count_);
  after_.assign(size_t{count_} * width_, count_);
  place_.assign(size_t{count_} * width_, 0);
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
    release_.push_back(operation.release);
    delivery_.push_back(operation.tail);
    uint32_t width = 1;
    for (const Alternative& alternative : operation.alternatives) {
      alternative_duration_.push_back(alternative.duration);
      machines_.insert(machines_.end(), alternative.machines.begin(),
                       alternative.machines.end());
      machine_begin_.push_back(static_cast<uint32_t>(machines_.size()));
      alternative_machine_.push_back(alternative.machines[0]);
      width =
          std::max(width, static_cast<uint32_t>(alternative.machines.size()));
    }
    may_be_wide_.push_back(width > 1);
    width_ = std::max(width_, width);
    alternative_begin_.push_back(
        static_cast<uint32_t>(alternative_duration_.size()));
  }
  TAKT_CHECK(machine_begin_.size() == alternative_duration_.size() + 1);
}

void DisjunctiveGraph::FindOnlyNeighbours() {
  for (uint32_t v = 0; v < count_; ++v) {
    const auto only_of = [this](absl::Span<const uint32_t> list) {
      if (list.empty()) return count_;
      return list.size() == 1 ? list[0] : kSeveral;
    };
    only_predecessor_.push_back(only_of(predecessors(v)));
    only_successor_.push_back(only_of(successors(v)));
    if (successors(v).empty() || delivery_[v] > 0) enders_.push_back(v);
  }
}

void DisjunctiveGraph::MakeRoom() {
  std::vector<uint32_t> room(sequences_.size(), 1);
  for (const uint32_t machine : machines_) ++room[machine];
  uint32_t end = 0;
  for (const uint32_t places : room) {
    first_place_.push_back(end);
    end += places;
  }
  end_before_.assign(end, 0);
  rest_from_.assign(end, 0);
}

void DisjunctiveGraph::Load(const State& state) {
  choice_ = state.choice;
  sequences_ = state.sequences;
  for (uint32_t v = 0; v < count_; ++v) {
    duration_[v] = duration(v, choice_[v]);
  }
  LinkSequences();
  ComputeOrder();
  ComputeHeads(0);
  if (count_ > 0) ComputeTails(count_ - 1);
  ComputeMakespan();
}

void DisjunctiveGraph::Save(State* state) const {
  state->choice = choice_;
  state->sequences = sequences_;
  state->makespan = makespan_;
}

void DisjunctiveGraph::LoadSchedule(const Schedule& schedule) {
  State state;
  state.choice.resize(count_);
  state.sequences.resize(sequences_.size());
  // Operations of no duration may start together with others. They go before
  // those that take time; among themselves precedence decides, by a topological
  // order of the precedences alone.
  choice_.assign(count_, 0);
  for (std::vector<uint32_t>& list : sequences_) list.clear();
  LinkSequences();
  ComputeOrder();
  std::vector<uint32_t> by_start(order_);
  const auto key = [this, &schedule](uint32_t v) {
    const Schedule::Entry& entry = schedule.entries[v];
    return std::pair(entry.start, duration(v, entry.alternative));
  };
  std::stable_sort(by_start.begin(), by_start.end(),
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
    schedule.entries[v] = {choice_[v], head_[v]};
  }
  return schedule;
}

void DisjunctiveGraph::LinkSequences() {
  std::fill(before_.begin(), before_.end(), count_);
  std::fill(after_.begin(), after_.end(), count_);
  for (uint32_t v = 0; v < count_; ++v) missing_[v] = 0;
  for (uint32_t machine = 0; machine < sequences_.size(); ++machine) {
    const std::vector<uint32_t>& list = sequences_[machine];
    for (uint32_t i = 0; i < list.size(); ++i) {
      const size_t slot = SlotOf(list[i], machine);
      place_[slot] = first_place_[machine] + i;
      if (i > 0) before_[slot] = list[i - 1];
      if (i + 1 < list.size()) after_[slot] = list[i + 1];
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
      missing += before_[size_t{v} * width_ + i] != count_;
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
      const uint32_t u = after_[size_t{v} * width_ + i];
      if (u != count_ && --missing_[u] == 0) order_[end++] = u;
    }
  }
  TAKT_CHECK(end == count_);
}

inline int64_t DisjunctiveGraph::HeadWithout(uint32_t x, uint32_t v) const {
  int64_t head = release_[x];
  for (const uint32_t u : predecessors(x)) {
    const int64_t end = head_without_[u] + (u == v ? 0 : duration_[u]);
    if (end > head) head = end;
  }
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t u = before_[size_t{x} * width_ + i];
    if (u == count_) continue;
    const int64_t end = head_without_[u] + duration_[u];
    if (end > head) head = end;
  }
  return head;
}

inline int64_t DisjunctiveGraph::TailWithout(uint32_t x, uint32_t v) const {
  int64_t tail = delivery_[x];
  for (const uint32_t u : successors(x)) {
    const int64_t rest = tail_without_[u] + (u == v ? 0 : duration_[u]);
    if (rest > tail) tail = rest;
  }
  for (uint32_t i = 0; i < width_; ++i) {
    const uint32_t u = after_[size_t{x} * width_ + i];
    if (u == count_) continue;
    const int64_t rest = tail_without_[u] + duration_[u];
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
    const uint32_t p = before_[size_t{v} * width_ + i];
    const uint32_t s = after_[size_t{v} * width_ + i];
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
      const uint32_t u = after_[size_t{x} * width_ + i];
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
    neighbours_.emplace_back(before_[size_t{v} * width_ + i],
                             after_[size_t{v} * width_ + i]);
  }
}

void DisjunctiveGraph::ComputeHeads(uint32_t first) {
  for (uint32_t r = first; r < count_; ++r) {
    const uint32_t v = order_[r];
    const size_t taken = MachinesTaken(v);
    int64_t head = HeadByPrecedence(v);
    for (size_t i = 0; i < taken; ++i) {
      head = std::max(head, end_[before_[size_t{v} * width_ + i]]);
    }
    head_[v] = head;
    end_[v] = head + duration_[v];
    for (size_t i = 0; i < taken; ++i) {
      end_before_[place_[size_t{v} * width_ + i] + 1] = end_[v];
    }
  }
}

void DisjunctiveGraph::ComputeTails(uint32_t last) {
  for (uint32_t r = last + 1; r-- > 0;) {
    const uint32_t v = order_[r];
    const size_t taken = MachinesTaken(v);
    int64_t tail = TailByPrecedence(v);
    for (size_t i = 0; i < taken; ++i) {
      tail = std::max(tail, rest_[after_[size_t{v} * width_ + i]]);
    }
    tail_[v] = tail;
    rest_[v] = tail + duration_[v];
    for (size_t i = 0; i < taken; ++i) {
      rest_from_[place_[size_t{v} * width_ + i]] = rest_[v];
    }
  }
}

void DisjunctiveGraph::ComputeMakespan() {
  makespan_ = 0;
  for (const uint32_t v : enders_) {
    makespan_ = std::max(makespan_, end_[v] + delivery_[v]);
  }
}

size_t DisjunctiveGraph::SlotOf(uint32_t v, uint32_t machine) const {
  if (width_ == 1) return v;
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  size_t i = 0;
  while (taken[i] != machine) ++i;
  return size_t{v} * width_ + i;
}

void DisjunctiveGraph::Remove(uint32_t v) {
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  for (size_t i = 0; i < taken.size(); ++i) {
    std::vector<uint32_t>& list = sequences_[taken[i]];
    const uint32_t first = first_place_[taken[i]];
    const uint32_t place = place_[size_t{v} * width_ + i] - first;
    removed_positions_[i] = place;
    list.erase(list.begin() + place);
    int64_t* ends = end_before_.data() + first;
    int64_t* rests = rest_from_.data() + first;
    for (uint32_t j = place; j < list.size(); ++j) {
      --place_[SlotOf(list[j], taken[i])];
      ends[j + 1] = ends[j + 2];
      rests[j] = rests[j + 1];
    }
    rests[list.size()] = 0;
    const uint32_t before = before_[size_t{v} * width_ + i];
    const uint32_t after = after_[size_t{v} * width_ + i];
    if (before != count_) after_[SlotOf(before, taken[i])] = after;
    if (after != count_) before_[SlotOf(after, taken[i])] = before;
  }
}

void DisjunctiveGraph::PutBack(uint32_t v) {
  const absl::Span<const uint32_t> taken = machines(v, choice_[v]);
  for (size_t i = 0; i < taken.size(); ++i) {
    std::vector<uint32_t>& list = sequences_[taken[i]];
    const uint32_t first = first_place_[taken[i]];
    const uint32_t place = removed_positions_[i];
    list.insert(list.begin() + place, v);
    int64_t* ends = end_before_.data() + first;
    int64_t* rests = rest_from_.data() + first;
    rests[list.size()] = 0;
    for (uint32_t j = static_cast<uint32_t>(list.size()) - 1; j > place; --j) {
      ++place_[SlotOf(list[j], taken[i])];
      ends[j + 1] = ends[j];
      rests[j] = rests[j - 1];
    }
    place_[size_t{v} * width_ + i] = first + place;
    ends[place + 1] = end_[v];
    rests[place] = rest_[v];
    const uint32_t before = before_[size_t{v} * width_ + i];
    const uint32_t after = after_[size_t{v} * width_ + i];
    if (before != count_) after_[SlotOf(before, taken[i])] = v;
    if (after != count_) before_[SlotOf(after, taken[i])] = v;
  }
}

void DisjunctiveGraph::ComputeWithout(uint32_t v) {
  head_without_ = head_;
  tail_without_ = tail_;
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
    const uint32_t u = after_[size_t{v} * width_ + i];
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
        const uint32_t u = after_[size_t{x} * width_ + i];
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
    const uint32_t u = before_[size_t{v} * width_ + i];
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
        const uint32_t u = before_[size_t{x} * width_ + i];
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
  neighbours_.clear();
  NoteNeighbours(v);
  Remove(v);
  choice_[v] = move.alternative;
  duration_[v] = duration(v, move.alternative);
  for (uint32_t i = 0; i < width_; ++i) {
    before_[size_t{v} * width_ + i] = count_;
    after_[size_t{v} * width_ + i] = count_;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::vector<uint32_t>& list = sequences_[wanted[i]];
    // A place on several machines is a cut of the order as it is.
    const uint32_t place =
        wanted.size() == 1 ? move.position : PlaceOfCut(list, move.position);
    before_[size_t{v} * width_ + i] = place > 0 ? list[place - 1] : count_;
    after_[size_t{v} * width_ + i] = place < list.size() ? list[place] : count_;
    removed_positions_[i] = place;
  }
  PutBack(v);
  NoteNeighbours(v);
  UpdateOrder(v);
  uint32_t first = rank_[v];
  uint32_t last = rank_[v];
  for (const auto& [before, after] : neighbours_) {
    if (before != count_) last = std::max(last, rank_[before]);
    if (after != count_) first = std::min(first, rank_[after]);
  }
  // Its duration counts for its successors and predecessors too.
  ComputeHeads(first);
  ComputeTails(last);
  ComputeMakespan();
}

}  // namespace takt::solve
