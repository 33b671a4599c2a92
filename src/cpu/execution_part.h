// An ExecutionPart is one command of the region that an Execution runs: work
// for the executor or the job shop, whose tiles are the workgroups of a
// dispatch or pieces of a transfer.
//
//   Prepare...()          resolves the command, anew for each region
//   OnPlaced()            with a job shop, and a route: binds a target
//   RunTiles(), ...       on any threads
//   Finish() or GiveUp()  once
//
// Thread-safety: Prepare...() by the thread that steps to the region; after
// that, as shop::Work says.
#ifndef TAKT_CPU_EXECUTION_PART_H_
#define TAKT_CPU_EXECUTION_PART_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "base/clock.h"
#include "cpu/command.h"
#include "cpu/command_runner.h"
#include "cpu/dispatch_route.h"
#include "exec/executor.h"
#include "shop/work.h"

namespace takt::cpu {

class Execution;

class ExecutionPart final : public shop::Work {
 public:
  // Where the addresses of a dispatch's bindings are stored.
  struct BindingRoom {
    void** pointers;
    size_t* lengths;
  };

  // Called once, before all other functions. `execution` outlives it.
  void Init(Execution* execution, const exec::JobTraits& traits);

  // Afterwards tile_count is 0 if there is nothing to do. Errors: as Resolve().
  absl::Status PrepareTransfer(const TransferCommand& command);
  absl::Status PrepareDispatch(const DispatchCommand& recorded,
                               const Region& region, const BindingRoom& room);
  bool is_dispatch() const { return is_dispatch_; }
  // Raises the part in flight, as Executor::Raise() does.
  void Raise(int32_t to);

  // shop::Work.
  uint32_t RunTiles(uint32_t begin, uint32_t end,
                    exec::Worker& worker) override;
  void Finish(exec::Worker& worker) override;
  void OnPlaced(bool on_npu) override;
  void GiveUp() override;

 private:
  // Resolves the command of `target`.
  absl::Status Bind(RouteTarget target);
  // Whether the job shop is to choose the target.
  bool IsLeftToShop() const;
  // The executor whose threads run the code for the CPU.
  exec::Executor* CpuExecutor() const;

  uint32_t RunRange(uint32_t begin, uint32_t end, exec::Worker& worker);
  void RunWhole(exec::Worker& worker);
  uint32_t RunTransferTiles(uint32_t begin, uint32_t end,
                            const exec::Worker& worker) const;
  // The tiles [begin, end) are done.
  void Record(const class TileRun& run, uint32_t begin, uint32_t end) const;
  void NoteBegin(int64_t start_ns);

  Execution* execution_ = nullptr;
  bool is_dispatch_ = false;
  ResolvedTransfer transfer_;

  // For a dispatch only:
  const DispatchCommand* recorded_ = nullptr;
  const DispatchRoute* route_ = nullptr;  // Null: one target only.
  RouteTarget target_ = RouteTarget::kOnly;
  BindingRoom room_ = {};
  ResolvedDispatch dispatch_;
  bool is_learned_ = false;  // Its cost is learned.
  bool is_timed_ = false;    // The times of its tiles are measured.
  // The shop chooses the target, until the first tile has begun.
  bool is_offered_ = false;
  std::atomic<bool> has_begun_{false};
  // For an observer: the region of the dispatch, and when the first of its
  // tiles to run began. Each range that runs lowers the time.
  const Region* region_ = nullptr;
  std::atomic<int64_t> begin_ns_{kInfiniteFuture};
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_EXECUTION_PART_H_
