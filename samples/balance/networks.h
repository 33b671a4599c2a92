// The robot's three networks as streams, in one of four ways.
#ifndef TAKT_SAMPLES_BALANCE_NETWORKS_H_
#define TAKT_SAMPLES_BALANCE_NETWORKS_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <takt/takt.hpp>
#include <vector>

enum class Way {
  // One instance, all jobs are of the same class: first come, first served.
  kFirstCome,
  // An instance for each network, with threads of its own; the kernel shares
  // out the processors.
  kThreads,
  // The same, with real-time threads for the estimator and the policy.
  kFifoThreads,
  // One instance with Takt's scheduler: control jobs are hard, the detector's
  // are best effort. A worker is a real-time thread only while it runs hard
  // jobs.
  kTakt,
};

inline void Check(const takt::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "balance: %s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Take(takt::Result<T> result) {
  Check(result.status());
  return std::move(result).value();
}

class Networks {
 public:
  // Loads detector.vmfb, estimator.vmfb and policy.vmfb of `directory`.
  Networks(Way way, const std::string& directory);

  // Whether their inputs are for a robot with so many sensor values and motors.
  bool Fit(int sensor_count, int force_count) const;

  // The estimator's jobs begin at `start_ns` + 0.3 ms, every 2 ms: after the
  // sensors were read. The policy's begin 1 ms later, every 5 ms.
  void Start(int64_t start_ns);
  void Stop();

  const takt::Stream& detector() const { return detector_; }
  const takt::Stream& estimator() const { return estimator_; }
  const takt::Stream& policy() const { return policy_; }

 private:
  std::vector<takt::Instance> instances_;
  takt::Stream detector_, estimator_, policy_;
};

#endif  // TAKT_SAMPLES_BALANCE_NETWORKS_H_
