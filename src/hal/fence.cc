#include "hal/fence.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/exceptions.h"
#include "base/hash_map.h"
#include "base/lean_error.h"
#include "base/sleeper.h"
#include "base/status.h"
#include "hal/deferred.h"

namespace takt::hal {
namespace {

// What Wait() sleeps on. It is shared, because a wait that has timed out cannot
// always be cancelled.
struct SleepingWait final : FenceWaiter {
  static constexpr uint32_t kDone = 1;  // A flag of the sleeper.

  SleepingWait() : FenceWaiter(&SleepingWait::OnReached) {}

  static void OnReached(FenceWaiter* waiter, const absl::Status& status) {
    auto* self = static_cast<SleepingWait*>(waiter);
    self->status = status;
    self->sleeper.Raise(kDone);
    self->Release();
  }
  void Release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<int> references{2};  // Wait() and OnReached().
  Sleeper sleeper;
  absl::Status status;  // Written before kDone is raised.
};

// What OnReached() keeps until the fence is reached.
struct Callback final : FenceWaiter {
  explicit Callback(absl::AnyInvocable<void(const absl::Status&) &&> function)
      : FenceWaiter(&Callback::Run), call(std::move(function)) {}

  static void Run(FenceWaiter* waiter, const absl::Status& status) {
    auto* self = static_cast<Callback*>(waiter);
    std::move(self->call)(status);
    delete self;
  }

  absl::AnyInvocable<void(const absl::Status&) &&> call;
};

// Collects points. For two points of one timeline the greater value counts.
class PointSet {
 public:
  void Add(const TimelinePoint& point) {
    if (TimelinePoint* old = Find(point.timeline.get())) {
      old->value = std::max(old->value, point.value);
      return;
    }
    if (!positions_.empty()) {
      positions_.emplace(point.timeline.get(), points_.size());
    }
    points_.push_back(point);
    if (points_.size() == kSearchMax) Index();
  }
  absl::Span<TimelinePoint> points() { return absl::MakeSpan(points_); }

 private:
  // Most fences have a few points, for which a linear search is quickest.
  static constexpr size_t kSearchMax = 16;

  TimelinePoint* Find(const Timeline* timeline) {
    if (!positions_.empty()) {
      const auto found = positions_.find(timeline);
      return found != positions_.end() ? &points_[found->second] : nullptr;
    }
    for (TimelinePoint& point : points_) {
      if (point.timeline.get() == timeline) return &point;
    }
    return nullptr;
  }
  void Index() {
    for (size_t i = 0; i < points_.size(); ++i) {
      positions_.emplace(points_[i].timeline.get(), i);
    }
  }

  absl::InlinedVector<TimelinePoint, kSearchMax> points_;
  // By timeline, once there are kSearchMax points; empty before.
  HashMap<const Timeline*, size_t> positions_;
};

}  // namespace

Ref<Fence> Fence::Make(absl::Span<TimelinePoint> points, BlockPool* pool,
                       bool is_barrier) {
  const size_t extra = points.size() * sizeof(TimelinePoint);
  return Ref<Fence>::Adopt(new (pool, extra) Fence(points, is_barrier));
}

Fence::Fence(absl::Span<TimelinePoint> points, bool is_barrier)
    : Object(&kType),
      points_(reinterpret_cast<TimelinePoint*>(this + 1), points.size()),
      is_barrier_(is_barrier) {
  static_assert(sizeof(Fence) % alignof(TimelinePoint) == 0);
  std::uninitialized_move(points.begin(), points.end(), points_.begin());
}

Fence::~Fence() { std::destroy(points_.begin(), points_.end()); }

Ref<Fence> Fence::Create() {
  TimelinePoint point = {Timeline::Create(0), 1};
  return Make(absl::MakeSpan(&point, 1), nullptr);
}

Ref<Fence> Fence::Create(BlockPool& pool) {
  TimelinePoint point = {Timeline::Create(0, pool), 1};
  return Make(absl::MakeSpan(&point, 1), &pool);
}

absl::StatusOr<Ref<Fence>> Fence::FromPoints(
    absl::Span<const TimelinePoint> points) {
  PointSet merged;
  for (const TimelinePoint& point : points) {
    if (point.timeline == nullptr) {
      return absl::InvalidArgumentError("a fence needs a timeline, got null");
    }
    if (point.value > Timeline::kMaxValue) {
      return absl::InvalidArgumentError(absl::StrCat(
          "timeline value ", point.value, " is beyond ", Timeline::kMaxValue));
    }
    merged.Add(point);
  }
  return Make(merged.points(), nullptr);
}

Ref<Fence> Fence::Join(absl::Span<Fence* const> fences, BlockPool* pool) {
  PointSet merged;
  Fence* only = nullptr;
  size_t count = 0;
  for (Fence* fence : fences) {
    if (fence == nullptr) continue;
    only = fence;
    ++count;
  }
  if (count == 0) return nullptr;
  if (count == 1) return Ref<Fence>::Retain(only);
  for (Fence* fence : fences) {
    if (fence == nullptr) continue;
    for (const TimelinePoint& point : fence->points()) merged.Add(point);
  }
  return Make(merged.points(), pool);
}

absl::StatusOr<Ref<Fence>> Fence::CreateBarrier(uint32_t signaller_count) {
  if (signaller_count > kSignallersMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a barrier has at most ", kSignallersMax,
                     " signallers, asked for ", signaller_count));
  }
  std::vector<TimelinePoint> points;
  points.reserve(signaller_count);
  for (uint32_t i = 0; i < signaller_count; ++i) {
    points.push_back({Timeline::Create(0), 1});
  }
  return Make(absl::MakeSpan(points), nullptr, /*is_barrier=*/true);
}

absl::StatusOr<Ref<Fence>> Fence::TakeShare() {
  if (!is_barrier_) return Ref<Fence>::Retain(this);
  const TimelinePoint* point = TakePoint();
  if (point == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "all ", points_.size(), " signallers of the barrier have their share"));
  }
  TimelinePoint share = *point;
  TAKT_TRY { return Make(absl::MakeSpan(&share, 1), nullptr); }
  TAKT_CATCH(const std::bad_alloc&) {}
  // It cannot be given back.
  point->timeline->Fail(OutOfMemory());
  return OutOfMemory();
}

void Fence::SetSignaller(const Ref<const Signaller>& signaller,
                         Borrower* holder) const {
  for (const TimelinePoint& point : points_) {
    point.timeline->SetSignaller(point.value, signaller, holder);
  }
}

uint32_t Fence::shares_taken() const {
  return taken_.load(std::memory_order_relaxed);
}

const TimelinePoint* Fence::TakePoint() const {
  uint32_t index = taken_.load(std::memory_order_relaxed);
  do {
    if (index == points_.size()) return nullptr;
  } while (!taken_.compare_exchange_weak(index, index + 1,
                                         std::memory_order_relaxed));
  return &points_[index];
}

absl::Status Fence::Query(bool* reached) const {
  *reached = true;
  absl::Status result;
  for (const TimelinePoint& point : points_) {
    bool point_reached = false;
    absl::Status status = point.timeline->Query(point.value, &point_reached);
    if (!point_reached) *reached = false;
    if (result.ok()) result = std::move(status);
  }
  return result;
}

absl::Status Fence::Signal() const {
  if (is_barrier_) {
    const TimelinePoint* point = TakePoint();
    if (point != nullptr) return point->timeline->Signal(point->value);
    return absl::FailedPreconditionError(
        absl::StrCat("the barrier has ", points_.size(),
                     " signallers and cannot be signaled once more"));
  }
  absl::Status result;
  for (const TimelinePoint& point : points_) {
    absl::Status status = point.timeline->Signal(point.value);
    if (result.ok()) result = std::move(status);
  }
  return result;
}

void Fence::Fail(const absl::Status& error) const {
  if (is_barrier_) {
    if (const TimelinePoint* point = TakePoint()) {
      point->timeline->Fail(error);
      return;
    }
  }
  for (const TimelinePoint& point : points_) point.timeline->Fail(error);
}

void Fence::Settle(const absl::Status& outcome) const {
  if (outcome.ok()) {
    Signal().IgnoreError();
  } else {
    Fail(outcome);
  }
}

absl::Status Fence::Wait(int64_t deadline_ns) const {
  bool reached = false;
  TAKT_RETURN_IF_ERROR(Query(&reached));
  if (reached) return absl::OkStatus();
  RunDeferred();
  auto* wait = new SleepingWait;
  absl::Status status;
  const Fence* self = this;
  if (!wait->Start({&self, 1}, &status)) {
    delete wait;
    return status;
  }
  if (wait->sleeper.Sleep(deadline_ns) != 0) {
    status = wait->status;
  } else {
    // Cancelled: no notification comes that would drop its reference.
    if (wait->Cancel()) wait->Release();
    status = LeanError(absl::StatusCode::kDeadlineExceeded,
                       [] { return "the fence was not reached in time"; });
  }
  wait->Release();
  return status;
}

void Fence::OnReached(
    absl::AnyInvocable<void(const absl::Status&) &&> callback) const {
  auto* state = new Callback(std::move(callback));
  absl::Status status;
  const Fence* self = this;
  if (!state->Start({&self, 1}, &status)) Callback::Run(state, status);
}

Object* Fence::Clone(Object& object, CloneMap& clones) {
  bool reached = false;
  const absl::Status status = static_cast<Fence&>(object).Query(&reached);
  return status.ok() && reached ? CloneIsSame(object, clones) : nullptr;
}

FenceWaiter::~FenceWaiter() {
  TAKT_DCHECK(pending_.load(std::memory_order_relaxed) == 0);
}

bool FenceWaiter::Start(absl::Span<const Fence* const> fences,
                        absl::Status* status, Borrower* borrower) {
  TAKT_DCHECK(pending_.load(std::memory_order_relaxed) == 0);
  failed_.store(false, std::memory_order_relaxed);
  status_ = absl::OkStatus();
  *status = Attempt([&] { return CollectNodes(fences); });
  if (!status->ok()) nodes_.clear();
  if (nodes_.empty()) return false;

  // Start() counts as one, so that the wait cannot end while it registers.
  pending_.store(static_cast<int32_t>(nodes_.size()) + 1,
                 std::memory_order_relaxed);
  const int32_t unregistered = RegisterNodes(borrower);
  if (borrower != nullptr) Lend(*borrower);
  if (!Drop(unregistered + 1)) return true;
  // The registered nodes have been notified, but none was the last to drop, so
  // no thread has called Notify, and none will.
  *status = status_;
  return false;
}

absl::Status FenceWaiter::CollectNodes(absl::Span<const Fence* const> fences) {
  nodes_.clear();
  absl::InlinedVector<const TimelinePoint*, 8> open;
  for (const Fence* fence : fences) {
    if (fence == nullptr) continue;
    for (const TimelinePoint& point : fence->points()) {
      bool reached = false;
      TAKT_RETURN_IF_ERROR(point.timeline->Query(point.value, &reached));
      if (!reached) open.push_back(&point);
    }
  }
  nodes_.reserve(open.size());
  for (const TimelinePoint* point : open) {
    Node& node = nodes_.emplace_back();
    node.value = point->value;
    node.notify = &FenceWaiter::OnTimeline;
    node.owner = this;
    node.timeline = Timeline::Anchor(*point->timeline);
  }
  return absl::OkStatus();
}

int32_t FenceWaiter::RegisterNodes(Borrower* borrower) {
  const auto node_count = static_cast<int32_t>(nodes_.size());
  int32_t unregistered = 0;
  for (int32_t i = 0; i < node_count; ++i) {
    absl::Status outcome;
    if (borrower != nullptr) BeginLoan(nodes_[i], borrower);
    if (nodes_[i].timeline->AddWaiter(&nodes_[i], &outcome)) continue;
    Borrower::End(&nodes_[i].loan);
    ++unregistered;
    if (outcome.ok()) continue;
    SetError(outcome);
    unregistered += node_count - i - 1;
    break;
  }
  if (failed_.load(std::memory_order_acquire)) unregistered += CancelNodes();
  TAKT_DCHECK(unregistered <= node_count);
  return unregistered;
}

bool FenceWaiter::Cancel(absl::Status reason) {
  const int32_t cancelled = CancelNodes();
  if (cancelled == 0) return false;
  // Set before the drop: a thread that drops later may call Notify.
  SetError(reason);
  return Drop(cancelled);
}

void FenceWaiter::BeginLoan(Node& node, Borrower* borrower) {
  node.loan.waiter = &node;
  node.loan.find_holder = [](Borrower::Wait* wait) {
    const auto& loan = *static_cast<TimelineWaiter::Loan*>(wait);
    Node& waiting = *static_cast<Node*>(loan.waiter);
    return waiting.timeline->FindHolder(waiting.value);
  };
  borrower->Begin(&node.loan);
}

void FenceWaiter::Lend(Borrower& borrower) {
  for (const Node& node : nodes_) {
    const Ref<Borrower> holder = node.timeline->FindHolder(node.value);
    if (borrower.ShouldLendTo(holder.get())) borrower.Review();
  }
}

void FenceWaiter::OnTimeline(TimelineWaiter* waiter,
                             const absl::Status& status) {
  Borrower::End(&waiter->loan);
  FenceWaiter* self = static_cast<Node*>(waiter)->owner;
  int32_t count = 1;
  if (!status.ok()) {
    self->SetError(status);
    count += self->CancelNodes();
  }
  if (!self->Drop(count)) return;
  // A copy, because the call may destroy the waiter.
  const absl::Status outcome = self->status_;
  self->notify_(self, outcome);
}

int32_t FenceWaiter::CancelNodes() {
  int32_t count = 0;
  for (Node& node : nodes_) {
    if (!node.timeline->Cancel(&node)) continue;
    Borrower::End(&node.loan);
    ++count;
  }
  return count;
}

absl::Status FenceWaiter::NotWaitedFor() {
  return LeanError(absl::StatusCode::kCancelled,
                   [] { return "no longer waited for"; });
}

void FenceWaiter::SetError(const absl::Status& status) {
  if (!failed_.exchange(true, std::memory_order_acq_rel)) status_ = status;
}

bool FenceWaiter::Drop(int32_t count) {
  // Acquire: the thread that drops last sees the error that another has set.
  const int32_t before = pending_.fetch_sub(count, std::memory_order_acq_rel);
  TAKT_CHECK(before >= count);
  return before == count;
}

}  // namespace takt::hal
