// In place of the job shop. None is ever made, so only Create() is called.
#include <cstdlib>

#include "base/absent.h"
#include "base/check.h"
#include "shop/frequency_monitor.h"
#include "shop/job_shop.h"

// The body of a function of a shop, a stream or a job that does not exist.
#define TAKT_UNREACHABLE                \
  {                                     \
    TAKT_CHECK(!"there is a job shop"); \
    std::abort();                       \
  }

namespace takt::shop {

absl::StatusOr<Ref<JobShop>> JobShop::Create(Ref<exec::Executor>,
                                             const JobShopOptions&) {
  return AbsentError("the scheduler", "TAKT_SCHEDULER");
}

void JobShop::Shutdown() TAKT_UNREACHABLE

    absl::StatusOr<Ref<ScheduledStream>> JobShop::AddStream(StreamRequirements)
        TAKT_UNREACHABLE Ref<ScheduledStream> JobShop::StreamOf(
            uint8_t, const exec::WorkerSet*) TAKT_UNREACHABLE
    Ref<ScheduledJob> JobShop::ReleaseJob(ScheduledStream&, int64_t, int64_t,
                                          bool, uint64_t, bool) TAKT_UNREACHABLE
    void ScheduledStream::Release() const TAKT_UNREACHABLE
    void ScheduledJob::Release() const TAKT_UNREACHABLE

    void JobShop::Submit(ScheduledJob&, Work*) TAKT_UNREACHABLE
    void JobShop::Decide() TAKT_UNREACHABLE
    void JobShop::ReviewLoan(ScheduledJob&) TAKT_UNREACHABLE
    void JobShop::Drop(ScheduledJob&) TAKT_UNREACHABLE

    sched::AdmissionReport JobShop::Assess(ScheduledStream&) TAKT_UNREACHABLE
    sched::AdmissionReport JobShop::Admit(ScheduledStream&) TAKT_UNREACHABLE
    void JobShop::SetStandingAdvisor(sched::PlacementAdvisor*) TAKT_UNREACHABLE
    uint64_t JobShop::lost_advisor_count() const TAKT_UNREACHABLE

    absl::StatusOr<uint32_t> JobShop::AddNpu(const NpuPlace&) TAKT_UNREACHABLE
    void JobShop::RemoveNpu(uint32_t) TAKT_UNREACHABLE
    void JobShop::SetNpuHot(uint32_t, bool) TAKT_UNREACHABLE
    void JobShop::SetNpuWorks(uint32_t, bool) TAKT_UNREACHABLE
    absl::StatusOr<uint32_t> JobShop::FindPool(absl::string_view)
        TAKT_UNREACHABLE absl::Status JobShop::SetSpeed(uint32_t, uint32_t)
            TAKT_UNREACHABLE

    Ref<FrequencyMonitor> FrequencyMonitor::Start(
        Ref<JobShop>, std::shared_ptr<TimerService>,
        topology::SpeedSensor) TAKT_UNREACHABLE

}  // namespace takt::shop
