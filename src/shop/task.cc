#include "shop/task.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "exec/expected_time.h"
#include "shop/job_shop.h"

namespace takt::shop {
namespace {

// The intended duration of a piece when several shards share the work: much
// longer than a claim (under a microsecond), and much shorter than a run.
constexpr int64_t kPieceNs = 50'000;
// A shard whose end is nearer than this keeps its core: a decision costs about
// a microsecond.
constexpr int64_t kShrinkLeastNs = 20'000;
// The longest duration of a piece, because no other shard can take a claimed
// piece.
constexpr int64_t kPieceMaxNs = 100'000;

}  // namespace

class Task::Shard final : public exec::Job {
 public:
  Shard(Task* task, uint32_t epoch)
      : task_(Ref<Task>::Retain(task)), epoch_(epoch) {}
  static void* operator new(size_t bytes, BlockPool& blocks) {
    return blocks.Allocate(bytes);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&) {
    BlockPool::Free(block);
  }

  uint32_t RunTiles(uint32_t, uint32_t end, exec::Worker& worker) override {
    outcome_ = task_->RunPieces(*this, epoch_, worker);
    return end;
  }
  void Finish(exec::Worker& worker) override {
    if (outcome_ == Outcome::kGoesOn) {
      task_->executor().Submit(this);
      return;
    }
    const Ref<Task> task = task_;
    const Outcome outcome = outcome_;
    delete this;
    if (outcome != Outcome::kNothingLeft) {
      task->shop_->EndShard(*task, outcome, worker);
    }
  }

 private:
  const Ref<Task> task_;
  const uint32_t epoch_;
  Outcome outcome_ = Outcome::kNothingLeft;
};

Task::Task(JobShop* shop, ScheduledJob* job, Work* work)
    : shop_(shop),
      job_(job),
      work_(work),
      pools_(work->pools),
      tile_count_(work->tile_count),
      is_sequential_(work->sequential) {
  pieces_.push_back({0, work->tile_count});
}

int64_t Task::begin_ns() const {
  MutexLock lock(&mutex_);
  return begin_ns_;
}

int64_t Task::ran_ns() const {
  MutexLock lock(&mutex_);
  return ran_ns_;
}

uint32_t Task::TakeShrunkCount() {
  MutexLock lock(&mutex_);
  is_shrunk_posted_ = false;
  return std::exchange(shrunk_count_, 0);
}

exec::Executor& Task::executor() const {
  MutexLock lock(&mutex_);
  return *executor_;
}

Task::Shard* Task::NewShard() {
  auto* shard = new (shop_->blocks()) Shard(this, epoch_);
  static_cast<exec::JobTraits&>(*shard) = *work_;
  shard->core_lane_max = static_cast<uint8_t>(work_->lane_now());
  shard->lane = std::max(shard->core_lane_max, lane_min_);
  // The workers of a decision are workers of the shop's executor.
  if (workers_ != nullptr && executor_ == &shop_->executor()) {
    shard->allowed = workers_;
  }
  shard->local_bytes = work_->local_bytes;
  shard->grain_ns = work_->expected_tile_ns;
  if (work_->expected_tile_ns > 0) {
    const uint32_t left = tile_count_ - done_count_;
    shard->expected_tile_ns =
        std::max<int64_t>(exec::ExpectedNs(*work_, left) / shard_count_, 1);
  }
  return shard;
}

void Task::Start(uint32_t shard_count, const exec::WorkerSet* workers,
                 bool is_npu, uint8_t lane_min) {
  absl::InlinedVector<Shard*, 8, SpareAllocator<Shard*>> shards;
  exec::Executor* where = nullptr;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(!is_on_ && !is_cancelled_ && !is_given_up_);
    TAKT_CHECK(shard_count > 0);
    if (done_count_ == tile_count_) return;
    work_->OnPlaced(is_npu);
    executor_ =
        work_->executor != nullptr ? work_->executor : &shop_->executor();
    where = executor_;
    is_on_ = true;
    is_on_npu_ = is_npu;
    ++epoch_;
    stop(epoch_).store(false, std::memory_order_relaxed);
    shard_count_ = shard_count;
    shrunk_count_ = 0;
    workers_ = workers;
    lane_min_ = lane_min;
    begin_ns_ = 0;
    // There is no shard without a tile: a shard of an earlier run that returns
    // a piece continues instead.
    uint32_t count = 0;
    for (const Piece& piece : pieces_) count += piece.end - piece.begin;
    if (is_sequential_) count = std::min(count, 1u);
    shards_left_ = std::min(count, shard_count);
    for (uint32_t i = 0; i < shards_left_; ++i) shards.push_back(NewShard());
  }
  for (Shard* shard : shards) where->Submit(shard);
}

void Task::SubmitMissing() {
  Shard* shard = nullptr;
  exec::Executor* where = nullptr;
  {
    MutexLock lock(&mutex_);
    // The task may have yielded again, or other shards may have come.
    if (!is_on_ || pieces_.empty() || shards_left_ >= shard_count_) return;
    ++shards_left_;
    const SpareMemory::Scope scope(&shop_->spare_);
    shard = NewShard();
    where = executor_;
  }
  where->Submit(shard);
}

void Task::CloseRun() {
  TAKT_CHECK(done_count_ < tile_count_);
  is_on_ = false;
  shrunk_count_ = 0;
  ran_ns_ = begin_ns_ == 0 ? 0 : shop_->now_ns() - begin_ns_;
  stop(epoch_).store(true, std::memory_order_relaxed);
}

bool Task::Yield() {
  MutexLock lock(&mutex_);
  if (done_count_ == tile_count_) return false;
  CloseRun();
  return true;
}

bool Task::Cancel() {
  MutexLock lock(&mutex_);
  if (done_count_ == tile_count_) return false;
  CloseRun();
  is_cancelled_ = running_count_ > 0;
  return !is_cancelled_;
}

bool Task::GiveUp() {
  MutexLock lock(&mutex_);
  TAKT_CHECK(!is_on_ && !is_given_up_);
  is_given_up_ = true;
  return running_count_ == 0 && done_count_ < tile_count_;
}

uint32_t Task::done_ppm() const {
  MutexLock lock(&mutex_);
  return static_cast<uint32_t>(uint64_t{done_count_} * 1'000'000 / tile_count_);
}

uint32_t Task::CountToClaim(const Piece& from) const {
  const uint32_t left = from.end - from.begin;
  if (is_sequential_ || is_on_npu_) return left;
  const int64_t tile_ns = work_->expected_tile_ns;
  uint32_t count = left;
  if (shard_count_ > 1) {
    // Large pieces first, small ones towards the end: few claims, and all
    // shards end at about the same time.
    count = left / (2 * shard_count_);
    if (tile_ns > 0) {
      count = static_cast<uint32_t>(
          std::max<int64_t>(count, kPieceNs / 4 / tile_ns));
    }
  }
  if (tile_ns > 0) {
    count =
        static_cast<uint32_t>(std::min<int64_t>(count, kPieceMaxNs / tile_ns));
  }
  return std::clamp(count, 1u, left);
}

bool Task::Shrinks() const {
  // With fewer workers than all, the core would have to be that of the shard's
  // worker. The next operation of a job with a deadline may want the core at
  // once, and less urgent work would have to leave it then.
  return shards_left_ > 0 && running_count_ > 0 && !is_on_npu_ &&
         workers_ == nullptr && executor_ == &shop_->executor() &&
         work_->expected_tile_ns >= kShrinkLeastNs &&
         job_->deadline_ns() == kInfiniteFuture;
}

Task::Outcome Task::Claim(uint32_t epoch, bool from_back, Piece* piece) {
  MutexLock lock(&mutex_);
  if (epoch != epoch_ || !is_on_) return Outcome::kNothingLeft;
  if (pieces_.empty()) {
    TAKT_CHECK(shards_left_ > 0);
    --shards_left_;
    if (!Shrinks()) return Outcome::kNothingLeft;
    TAKT_CHECK(shard_count_ > shards_left_);
    --shard_count_;
    ++shrunk_count_;
    if (std::exchange(is_shrunk_posted_, true)) return Outcome::kNothingLeft;
    return Outcome::kShrunk;
  }
  Piece& last = pieces_.back();
  const uint32_t count = CountToClaim(last);
  TAKT_DCHECK(count > 0 && count <= last.end - last.begin);
  if (from_back) {
    *piece = {last.end - count, last.end};
    last.end -= count;
  } else {
    *piece = {last.begin, last.begin + count};
    last.begin += count;
  }
  if (last.begin == last.end) pieces_.pop_back();
  ++running_count_;
  if (begin_ns_ == 0) begin_ns_ = shop_->now_ns();
  return Outcome::kMore;
}

Task::Outcome Task::Return(uint32_t epoch, Piece piece, uint32_t reached) {
  MutexLock lock(&mutex_);
  TAKT_CHECK(running_count_ > 0);
  TAKT_CHECK(piece.begin < reached && reached <= piece.end);
  done_count_ += reached - piece.begin;
  --running_count_;
  TAKT_CHECK(done_count_ <= tile_count_);
  if (reached < piece.end) {
    if (!pieces_.empty() && pieces_.back().begin == piece.end) {
      pieces_.back().begin = reached;
    } else {
      const SpareMemory::Scope scope(&shop_->spare_);
      pieces_.push_back({reached, piece.end});
    }
  }
  if (done_count_ == tile_count_) {
    TAKT_CHECK(pieces_.empty() && running_count_ == 0);
    is_on_ = false;
    ran_ns_ = shop_->now_ns() - begin_ns_;
    return is_given_up_ ? Outcome::kGivenUp : Outcome::kDone;
  }
  if (running_count_ == 0 && is_given_up_) return Outcome::kGivenUp;
  if (running_count_ == 0 && is_cancelled_) {
    is_cancelled_ = false;
    return Outcome::kStopped;
  }
  if (!is_on_) return Outcome::kNothingLeft;
  if (epoch == epoch_) return Outcome::kMore;
  return Outcome::kGivenBack;
}

Task::Outcome Task::RunPieces(const Shard& shard, uint32_t epoch,
                              exec::Worker& worker) {
  Piece piece{};
  // The work of a shard that starts late may be gone.
  const bool from_back = !is_sequential_ && shop_->executor().TakesFromBack();
  Outcome claimed = Claim(epoch, from_back, &piece);
  for (; claimed == Outcome::kMore; claimed = Claim(epoch, from_back, &piece)) {
    const std::atomic<bool>* const outer =
        std::exchange(worker.stop, &stop(epoch));
    const uint32_t reached = work_->RunTiles(piece.begin, piece.end, worker);
    worker.stop = outer;
    const Outcome outcome = Return(epoch, piece, reached);
    if (outcome != Outcome::kMore) return outcome;
    if (shop_->executor().EndRange(shard) || worker.IsPreempted()) {
      return Outcome::kGoesOn;
    }
  }
  return claimed;
}

}  // namespace takt::shop
