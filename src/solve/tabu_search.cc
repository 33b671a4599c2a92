#include "solve/tabu_search.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/clock.h"

namespace takt::solve {
namespace {

// A move is tabu for at least this part of the path's length, in percent. With
// a short tenure the search finds more, but runs in circles in some problems;
// with a longer one it is random. So it is drawn anew as the thrift is.
constexpr uint32_t kTenurePercents[] = {30, 40, 60};
// Along a machine, where it forbids one way only.
constexpr uint32_t kTenurePercentAlong = 20;

constexpr double kThrifts[] = {0, 0, 0, 0.5, 1, 2, 3, 4, 6, 8};
constexpr uint64_t kStepsOfThrift = 2000;

// Places on several machines take long to evaluate. At most this many
// operations of a path are evaluated in a step, if one of them may move.
constexpr uint32_t kWideOperationsOfStep = 24;

// A search that hardly ever changes the makespan repeats itself, unless chance
// leaves moves out: if more than this share of the last steps left the makespan
// as it was, a step looks at each operation of the path with this chance only.
constexpr double kLevelShare = 0.85;
constexpr double kLevelMemory = 64;  // Steps that the share is the mean of.
constexpr uint32_t kLevelPercent = 60;

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

// The best of the candidates seen, by `value`, then by its own; one of them at
// random where several are.
template <typename Candidate>
struct TabuSearch::Choice {
  Candidate best;
  int64_t value = kNever;
  uint32_t ties = 0;

  void Consider(const Candidate& candidate, int64_t candidate_value,
                Random& random) {
    if (candidate_value > value) return;
    if (candidate_value < value) {
      ties = 0;
    } else if (candidate.value != best.value) {
      if (candidate.value > best.value) return;
      ties = 0;
    }
    ++ties;
    if (ties > 1 && random.Below(ties) != 0) return;
    value = candidate_value;
    best = candidate;
  }
};

TabuSearch::TabuSearch(DisjunctiveGraph& graph,
                       std::vector<double> excess_loads, uint64_t seed)
    : graph_(graph), random_(seed), excess_loads_(std::move(excess_loads)) {
  uint32_t total = 0;
  for (uint32_t v = 0; v < graph.operation_count(); ++v) {
    first_alternative_.push_back(total);
    total += graph.alternative_count(v);
  }
  tabu_until_.assign(total, 0);
  tabu_ways_.assign(graph.operation_count(), {});
  costs_.assign(total, 0);
}

double TabuSearch::DrawThrift(Random& random) {
  return kThrifts[random.Below(std::size(kThrifts))];
}

void TabuSearch::DrawTenure() {
  tenure_percent_ = kTenurePercents[random_.Below(std::size(kTenurePercents))];
}

uint64_t TabuSearch::UntilAfter(uint32_t v, uint32_t percent) {
  const auto tenure = static_cast<uint32_t>(path_.size()) * percent / 100;
  return steps_ + tenure + random_.Below(tenure / 2 + 1) +
         graph_.alternative_count(v);
}

void TabuSearch::SetThrift(double thrift) {
  if (thrift == thrift_) return;
  thrift_ = thrift;
  for (size_t i = 0; i < costs_.size(); ++i) {
    costs_[i] = static_cast<int64_t>(thrift * excess_loads_[i]);
  }
}

bool TabuSearch::Run(const Limits& limits, DisjunctiveGraph::State* best) {
  bool improved = false;
  const uint64_t first = steps_;
  uint64_t last_better = steps_;
  for (;;) {
    if (graph_.IsBetterThan(*best)) {
      if (graph_.makespan() < best->makespan) last_better = steps_;
      graph_.Save(best);
      improved = true;
    }
    if (best->makespan <= limits.enough) break;
    if (steps_ - last_better >= limits.stall_steps) break;
    if (limits.step_limit != 0 && steps_ >= limits.step_limit) break;
    if (NowNs() >= limits.deadline_ns) break;
    if ((steps_ - first) % kStepsOfThrift == 0) {
      DrawTenure();
      SetThrift(limits.thrift.has_value() ? *limits.thrift
                                          : DrawThrift(random_));
    }
    if (!Step(best->makespan, limits.deadline_ns)) break;
  }
  return improved;
}

bool TabuSearch::Step(int64_t best_makespan, int64_t deadline_ns) {
  ++steps_;
  const auto pick = [this](uint32_t count) {
    return count == 1 ? 0 : random_.Below(count);
  };
  graph_.CriticalPath(pick, &path_);
  graph_.Blocks(path_, &blocks_);
  floors_.resize(path_.size());
  size_t lowest = 0;
  for (size_t i = 0; i < path_.size(); ++i) {
    floors_[i] = graph_.FloorOf(path_[i], blocks_[i]);
    if (floors_[i] < floors_[lowest]) lowest = i;
  }
  // What promises most is first: its moves spare others the look.
  if (!path_.empty()) {
    std::swap(path_.front(), path_[lowest]);
    std::swap(blocks_.front(), blocks_[lowest]);
    std::swap(floors_.front(), floors_[lowest]);
  }
  Choice<DisjunctiveGraph::Move> choice;
  uint32_t seen = 0;
  const bool is_level = level_share_ > kLevelShare;
  for (size_t i = 0; i < path_.size(); ++i) {
    const uint32_t v = path_[i];
    if (is_level && random_.Below(100) >= kLevelPercent) continue;
    const int64_t floor = floors_[i];
    const int64_t* costs = costs_.data() + first_alternative_[v];
    const int64_t cost_now = costs[graph_.choice(v)];
    // A move may save costs as well, at most those of now.
    if (choice.value != kNever && floor > choice.value + cost_now) continue;
    if (graph_.width() > 1) {
      if (++seen > kWideOperationsOfStep && choice.value != kNever) break;
      if (NowNs() >= deadline_ns) return false;
    }
    const auto limit = [&](uint32_t alternative, Way way) {
      int64_t most = kNever;
      if (choice.value != kNever) {
        most = choice.value + cost_now - costs[alternative];
      }
      if (TabuUntil(v, alternative, way) <= steps_) return most;
      // A tabu move must give a better schedule than all before.
      return floor < best_makespan ? std::min(most, best_makespan - 1) : -1;
    };
    const auto consider = [&](const DisjunctiveGraph::Move& move) {
      choice.Consider(
          move,
          std::max(floor, move.value) + costs[move.alternative] - cost_now,
          random_);
    };
    graph_.ForEachMove(v, blocks_[i], limit, pick, consider);
  }
  const int64_t makespan = graph_.makespan();
  if (graph_.width() > 1 || choice.value <= makespan ||
      !MakeExchange(makespan)) {
    if (choice.value == kNever) ChooseTabu(&choice);
    if (choice.value == kNever) return false;
    Make(choice.best);
  }
  const double level = graph_.makespan() == makespan ? 1 : 0;
  level_share_ += (level - level_share_) / kLevelMemory;
  return true;
}

TabuSearch::Way TabuSearch::WayOf(const DisjunctiveGraph::Move& move) const {
  const uint32_t v = move.operation;
  const uint32_t alternative = graph_.choice(v);
  if (move.alternative != alternative ||
      graph_.machines(v, alternative).size() > 1) {
    return Way::kElsewhere;
  }
  return move.position > graph_.position(v) ? Way::kLater : Way::kEarlier;
}

void TabuSearch::Make(const DisjunctiveGraph::Move& move) {
  const uint32_t v = move.operation;
  const uint32_t left = graph_.choice(v);
  const uint32_t from = graph_.position(v);
  const uint32_t to = move.position;
  const Way way = WayOf(move);
  graph_.Apply(move);
  if (way == Way::kElsewhere) {
    TabuUntil(v, left, way) = UntilAfter(v, tenure_percent_);
    return;
  }
  const uint64_t until = UntilAfter(v, kTenurePercentAlong);
  const bool is_later = way == Way::kLater;
  const absl::Span<const uint32_t> passed =
      graph_.sequence(graph_.machines(v, left)[0])
          .subspan(is_later ? from : to + 1, is_later ? to - from : from - to);
  for (const uint32_t x : passed) TabuUntil(x, graph_.choice(x), way) = until;
  TabuUntil(v, left, is_later ? Way::kEarlier : Way::kLater) = until;
}

bool TabuSearch::MakeExchange(int64_t limit) {
  Choice<DisjunctiveGraph::Exchange> choice;
  choice.value = limit + 1;
  const auto limit_of = [&](uint32_t v, uint32_t alternative) {
    if (TabuUntil(v, alternative, Way::kElsewhere) > steps_) return int64_t{-1};
    return choice.value - CostOf(v, alternative);
  };
  for (const uint32_t v : path_) {
    graph_.ForEachExchange(
        v, limit_of, [&](const DisjunctiveGraph::Exchange& exchange) {
          const int64_t value =
              exchange.length + CostOf(v, exchange.alternative) +
              CostOf(exchange.other, exchange.other_alternative);
          choice.Consider(exchange, value, random_);
        });
  }
  if (choice.value > limit) return false;
  const uint32_t v = choice.best.operation;
  const uint32_t x = choice.best.other;
  const uint32_t left = graph_.choice(v);
  const uint32_t other_left = graph_.choice(x);
  graph_.Apply(choice.best);
  TabuUntil(v, left, Way::kElsewhere) = UntilAfter(v, tenure_percent_);
  TabuUntil(x, other_left, Way::kElsewhere) = UntilAfter(x, tenure_percent_);
  return true;
}

void TabuSearch::ForAllMoves(
    uint32_t v, absl::FunctionRef<void(const DisjunctiveGraph::Move&)> visit) {
  graph_.VisitMoves(
      v, [](uint32_t) { return kNever; },
      [this](uint32_t count) { return random_.Below(count); }, visit);
}

// The move that is allowed the soonest.
void TabuSearch::ChooseTabu(Choice<DisjunctiveGraph::Move>* choice) {
  for (const uint32_t v : path_) {
    ForAllMoves(v, [&](const DisjunctiveGraph::Move& move) {
      const uint64_t until = TabuUntil(v, move.alternative, WayOf(move));
      choice->Consider(move, static_cast<int64_t>(until), random_);
    });
  }
}

void TabuSearch::Perturb(uint32_t move_count, int64_t deadline_ns) {
  const auto pick = [this](uint32_t count) { return random_.Below(count); };
  for (uint32_t i = 0; i < move_count && NowNs() < deadline_ns; ++i) {
    graph_.CriticalPath(pick, &path_);
    if (path_.empty()) return;
    const uint32_t v =
        path_[random_.Below(static_cast<uint32_t>(path_.size()))];
    DisjunctiveGraph::Move chosen;
    uint32_t seen = 0;
    ForAllMoves(v, [&](const DisjunctiveGraph::Move& move) {
      if (random_.Below(++seen) == 0) chosen = move;
    });
    if (seen > 0) graph_.Apply(chosen);
  }
}

}  // namespace takt::solve
