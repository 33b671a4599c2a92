#include "takt/statistics.h"

#include <cstring>

#include "abi/guard.h"
#include "api/handle.h"
#include "hal/device.h"
#include "runtime/context.h"
#include "vm/bytecode_module.h"

using takt::api::Unwrap;

void takt_device_query_statistics(const takt_device_t* device,
                                  takt_device_statistics_t* out_statistics) {
  TAKT_IGNORE_NULL(device, out_statistics);
  TAKT_TRY {
    const auto given = Unwrap(device)->allocation_statistics();
    takt_device_statistics_t statistics;
    std::memset(&statistics, 0, sizeof(statistics));
    statistics.bytes_reserved = given.bytes_reserved;
    statistics.bytes_committed = given.bytes_committed;
    statistics.bytes_peak = given.bytes_peak;
    statistics.allocation_count = given.allocation_count;
    statistics.bytes_idle = given.bytes_idle;
    statistics.bytes_budget = given.bytes_budget;
    statistics.bytes_waiting = given.bytes_waiting;
    statistics.waiting_count = given.waiting_count;
    statistics.wait_count = given.wait_count;
    takt::api::WriteSized(statistics, out_statistics);
  }
  TAKT_CATCH_ALL_OR(, device, out_statistics);
}

void takt_device_visit_dispatch_costs(takt_device_t* device,
                                      takt_dispatch_cost_visitor_t visitor,
                                      void* user_data) {
  TAKT_IGNORE_NULL(device, visitor);
  TAKT_TRY {
    Unwrap(device)->VisitDispatchCosts(
        [&](const takt::hal::DispatchCostInfo& info) {
          const takt_dispatch_cost_t cost = {
              info.function.c_str(),
              {info.workgroup_count[0], info.workgroup_count[1],
               info.workgroup_count[2]},
              info.alone_ns,
              info.alone_count,
              info.shared_ns,
              info.shared_count};
          visitor(user_data, &cost);
        });
  }
  TAKT_CATCH_ALL_OR(, device, visitor);
}

void takt_context_query_statistics(const takt_context_t* context,
                                   takt_context_statistics_t* out_statistics) {
  TAKT_IGNORE_NULL(context, out_statistics);
  TAKT_TRY {
    takt_context_statistics_t statistics;
    std::memset(&statistics, 0, sizeof(statistics));
    const takt::vm::Context& vm = Unwrap(context)->vm();
    statistics.memory_bytes =
        sizeof(takt::runtime::Context) + vm.memory_bytes();
    for (const auto& module : vm.modules()) {
      auto* bytecode = takt::DynCast<takt::vm::BytecodeModule>(module.get());
      if (bytecode == nullptr) continue;
      statistics.global_bytes += bytecode->archive().global_bytes;
      statistics.global_ref_count += bytecode->archive().global_ref_count;
    }
    takt::api::WriteSized(statistics, out_statistics);
  }
  TAKT_CATCH_ALL_OR(, context, out_statistics);
}
