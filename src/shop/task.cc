#include "shop/task.h"

#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "shop/job_shop.h"

namespace takt::shop {
namespace {

// About how long a piece takes, where others take pieces as well.
constexpr int64_t kPieceNs = 50'000;

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
    outcome_ = task_->RunPieces(epoch_, worker);
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
    if (outcome == Outcome::kNothingLeft) return;
    task->shop_->EndRun(*task, outcome == Outcome::kDone, worker);
  }

 private:
  const Ref<Task> task_;
  const uint32_t epoch_;
  Outcome outcome_ = Outcome::kNothingLeft;
};

Task::Task(JobShop* shop, Job* job, Work* work)
    : shop_(shop), job_(job), work_(work) {
  pieces_.push_back({0, work->tile_count});
  event_.task = this;
}

void Task::PostReady(EventQueue& queue) {
  event_.apply = [](Event* event) {
    Task& task = *static_cast<TaskEvent*>(event)->task;
    task.shop_->ApplyReady(task);
  };
  queue.Post(&event_);
}

void Task::PostEnd(EventQueue& queue, bool is_done) {
  event_.apply = is_done ? +[](Event* event) {
    Task& task = *static_cast<TaskEvent*>(event)->task;
    task.shop_->ApplyDone(task);
  }
                         : +[](Event* event) {
    Task& task = *static_cast<TaskEvent*>(event)->task;
    task.shop_->ApplyStopped(task);
  };
  queue.Post(&event_);
}

int64_t Task::begin_ns() const {
  MutexLock lock(&mutex_);
  return begin_ns_;
}

int64_t Task::ran_ns() const {
  MutexLock lock(&mutex_);
  return ran_ns_;
}

exec::Executor& Task::executor() const {
  return work_->executor != nullptr ? *work_->executor : shop_->executor();
}

void Task::Start(uint32_t shard_count, const exec::WorkerSet* workers) {
  uint32_t epoch = 0;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(epoch_ % 2 == 0 && !pieces_.empty());
    epoch = ++epoch_;
    shard_count_ = shard_count;
    begin_ns_ = 0;
    stop_.store(false, std::memory_order_relaxed);
  }
  // Once the last shard is submitted, the task may be done.
  const Ref<Task> self = Ref<Task>::Retain(this);
  exec::Standing standing = *work_;
  exec::Executor& where = executor();
  // They are the shop's.
  if (workers != nullptr && &where == &shop_->executor()) {
    standing.allowed = workers;
  }
  const uint32_t local_bytes = work_->local_bytes;
  const int64_t expected_ns =
      work_->expected_tile_ns > 0
          ? std::max<int64_t>(
                work_->expected_tile_ns * (work_->tile_count / shard_count), 1)
          : 0;
  for (uint32_t i = 0; i < shard_count; ++i) {
    auto* shard = new (shop_->blocks()) Shard(this, epoch);
    static_cast<exec::Standing&>(*shard) = standing;
    shard->local_bytes = local_bytes;
    shard->expected_tile_ns = expected_ns;
    where.Submit(shard);
  }
}

bool Task::Stop() {
  MutexLock lock(&mutex_);
  if (epoch_ % 2 == 0) return false;  // Its end is posted.
  stop_.store(true, std::memory_order_relaxed);
  if (running_count_ > 0) return false;
  ++epoch_;
  return true;
}

uint32_t Task::done_ppm() const {
  MutexLock lock(&mutex_);
  return static_cast<uint32_t>(uint64_t{done_count_} * 1'000'000 /
                               work_->tile_count);
}

bool Task::Claim(uint32_t epoch, Piece* piece) {
  MutexLock lock(&mutex_);
  if (epoch != epoch_ || pieces_.empty() ||
      stop_.load(std::memory_order_relaxed)) {
    return false;
  }
  Piece& last = pieces_.back();
  const uint32_t left = last.end - last.begin;
  uint32_t count = left;
  if (shard_count_ > 1 && !work_->sequential) {
    // Large pieces first, small ones towards the end: few claims, and all end
    // at about the same time.
    count = left / (2 * shard_count_);
    if (work_->expected_tile_ns > 0) {
      count = static_cast<uint32_t>(
          std::max<int64_t>(count, kPieceNs / 4 / work_->expected_tile_ns));
    }
    count = std::clamp(count, 1u, left);
  }
  *piece = {last.begin, last.begin + count};
  last.begin += count;
  if (last.begin == last.end) pieces_.pop_back();
  ++running_count_;
  if (begin_ns_ == 0) begin_ns_ = shop_->now_ns();
  return true;
}

Task::Outcome Task::Return(Piece piece, uint32_t reached) {
  MutexLock lock(&mutex_);
  done_count_ += reached - piece.begin;
  --running_count_;
  if (reached < piece.end) {
    if (!pieces_.empty() && pieces_.back().begin == piece.end) {
      pieces_.back().begin = reached;
    } else {
      pieces_.push_back({reached, piece.end});
    }
  }
  if (running_count_ > 0) return Outcome::kNothingLeft;
  const bool is_done = done_count_ == work_->tile_count;
  if (!is_done && !stop_.load(std::memory_order_relaxed)) {
    return Outcome::kGoesOn;
  }
  ++epoch_;
  ran_ns_ = shop_->now_ns() - begin_ns_;
  return is_done ? Outcome::kDone : Outcome::kStopped;
}

Task::Outcome Task::RunPieces(uint32_t epoch, exec::Worker& worker) {
  Piece piece{};
  while (Claim(epoch, &piece)) {
    const std::atomic<bool>* const outer = std::exchange(worker.stop, &stop_);
    const uint32_t reached = work_->RunTiles(piece.begin, piece.end, worker);
    worker.stop = outer;
    const Outcome outcome = Return(piece, reached);
    if (outcome == Outcome::kDone || outcome == Outcome::kStopped) {
      return outcome;
    }
    if (worker.IsPreempted()) return Outcome::kGoesOn;
  }
  return Outcome::kNothingLeft;
}

}  // namespace takt::shop
