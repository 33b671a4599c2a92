// Instances that elements of one process share by name, so that one scheduler
// orders the work of all pipelines.
#ifndef TAKT_INTEGRATIONS_GSTREAMER_SHARED_INSTANCE_H_
#define TAKT_INTEGRATIONS_GSTREAMER_SHARED_INSTANCE_H_

#include <memory>
#include <string>
#include <takt/takt.hpp>

struct SharedInstance {
  std::string policy;
  takt::Instance instance;
  takt::Device device;
};

// Returns the instance of that name. It is made if no element uses it, and goes
// with the last element that does.
//
// Errors: INVALID_ARGUMENT  the policy is none, or the instance has another.
// Thread-safety: may run on any thread.
takt::Result<std::shared_ptr<SharedInstance>> ShareInstance(
    const std::string& name, const std::string& policy);

#endif  // TAKT_INTEGRATIONS_GSTREAMER_SHARED_INSTANCE_H_
