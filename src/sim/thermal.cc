#include "sim/thermal.h"

#include <algorithm>

namespace takt::sim {

Thermal::Thermal(const Workload& workload)
    : workload_(workload), permille_(workload.machine.pools.size(), 1000) {
  for (const ThermalModel& model : workload.thermal_models) {
    State state;
    state.temperature_c = model.ambient_c;
    states_.push_back(state);
  }
}

void Thermal::Step(uint32_t index, const Board& board, int64_t now_ns) {
  const ThermalModel& model = workload_.thermal_models[index];
  State& state = states_[index];
  const sched::Machine& machine = workload_.machine;
  int64_t busy_ns = 0;
  machine.ResourcesOf(model.pool).ForEach([&](uint32_t resource) {
    busy_ns += board.busy_ns(resource, now_ns);
  });
  const int64_t step_ns = now_ns - state.at_ns;
  if (step_ns <= 0) return;
  const double load = static_cast<double>(busy_ns - state.busy_ns) /
                      static_cast<double>(step_ns) /
                      machine.pools[model.pool].count;
  const double target_c = model.ambient_c + model.heating_c * load;
  // The exponential's first terms, good for steps far below the constant.
  const double part = std::min(static_cast<double>(step_ns) /
                                   static_cast<double>(model.time_constant_ns),
                               1.0);
  state.temperature_c += (target_c - state.temperature_c) * part;
  state.at_ns = now_ns;
  state.busy_ns = busy_ns;
  if (state.temperature_c >= model.trip_c) state.is_hot = true;
  if (state.temperature_c < model.trip_c - model.hysteresis_c) {
    state.is_hot = false;
  }
  permille_[model.pool] = state.is_hot ? model.permille : 1000;
}

}  // namespace takt::sim
