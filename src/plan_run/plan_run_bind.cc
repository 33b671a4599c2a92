// Plan runs: what they are made of.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/content_hash.h"
#include "base/hash_map.h"
#include "base/status.h"
#include "follow/plan_alignment.h"
#include "plan_run/plan_run.h"
#include "sched/priority.h"
#include "vm/bytecode_module.h"

namespace takt::plan_run {

namespace {

constexpr char kPolicy[] = "job-shop";

std::string ContentHashOf(const runtime::Function& function) {
  vm::Module& module =
      *function.context().vm().modules()[function.ref().module];
  const uint64_t hash = vm::ContentHashOf(module);
  return hash != 0 ? ContentHashText(hash) : "";
}

BoundStream Describe(const runtime::Function& function,
                     const stream::Stream* stream) {
  BoundStream result;
  result.function = function.name();
  result.content_hash = ContentHashOf(function);
  result.npu_pools = function.context().shop_pools();
  if (stream == nullptr) return result;
  result.released_by = stream->arrival() == stream::Arrival::kPeriodic
                           ? ReleasedBy::kClock
                           : ReleasedBy::kOtherStream;
  result.period_ns = stream->period_ns();
  return result;
}

absl::Status CheckTiming(const PlanTiming& timing) {
  const std::pair<const char*, int64_t> times[] = {
      {"tolerance_ns", timing.tolerance_ns},
      {"patience_ns", timing.patience_ns},
      {"divergence_ns", timing.divergence_ns},
      {"lead_ns", timing.lead_ns},
      {"repair_budget_ns", timing.repair_budget_ns},
      {"repair_horizon_ns", timing.repair_horizon_ns},
      {"small_ns", timing.small_ns}};
  for (const auto& [name, time_ns] : times) {
    if (time_ns >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("options: ", name, ": expected 0 or more, got ", time_ns));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<PlanRun>> PlanRun::Create(
    runtime::Instance& instance, const plan::Plan& plan,
    absl::Span<const PlanBinding> bindings, PlanRunOptions options) {
  TAKT_RETURN_IF_ERROR(CheckTiming(options.timing));
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, instance.GetShop());
  if (shop == nullptr || absl::string_view(shop->policy_name()) != kPolicy) {
    return absl::FailedPreconditionError(
        absl::StrCat("plans need a scheduler with the policy \"", kPolicy,
                     "\"; the instance's is \"", instance.policy_name(), "\""));
  }
  auto run = Ref<PlanRun>::Adopt(
      new PlanRun(instance, std::move(shop), std::move(options)));
  for (const PlanBinding& binding : bindings) {
    TAKT_RETURN_IF_ERROR(run->Bind(binding));
  }
  TAKT_ASSIGN_OR_RETURN(Part part, run->MakePart(plan));
  // Start() makes another follower, for the machine as it is then.
  TAKT_RETURN_IF_ERROR(run->MakeFollower(*part.plan).status());
  MutexLock lock(&run->mutex_);
  run->part_ = std::move(part);
  return run;
}

PlanRun::PlanRun(runtime::Instance& instance, Ref<shop::JobShop> shop,
                 PlanRunOptions options)
    : Object(&kType),
      instance_(Ref<runtime::Instance>::Retain(&instance)),
      shop_(std::move(shop)),
      timers_(instance.timers()),
      options_(std::move(options)),
      planner_(instance.CreateBackground("takt-plan")),
      switcher_([](const sched::KernelKey& key) {
        return key.module_hash != shop::kTransferHash;
      }) {
  release_timer_.run = event_timer_.run = this;
  release_timer_.fire = &PlanRun::OnReleaseTime;
  event_timer_.fire = &PlanRun::OnEventTime;
}

absl::Status PlanRun::Bind(const PlanBinding& given) {
  if (bound_.contains(given.name)) {
    return StreamError(given.name, "it is bound twice");
  }
  TAKT_CHECK((given.to != nullptr) == given.functions.empty());
  auto binding = std::make_unique<Binding>();
  binding->name = given.name;
  binding->on_done = given.on_done;
  TAKT_RETURN_IF_ERROR(given.to != nullptr
                           ? BindStream(given, binding.get())
                           : BindFunctions(given, binding.get()));
  TAKT_CHECK(!binding->functions.empty() && binding->shop_stream != nullptr);
  bound_[given.name] = Describe(*binding->functions[0], given.to);
  bindings_.push_back(std::move(binding));
  return absl::OkStatus();
}

absl::Status PlanRun::BindStream(const PlanBinding& given, Binding* binding) {
  stream::Stream& stream = *given.to;
  if (stream.arrival() != stream::Arrival::kPeriodic &&
      stream.arrival() != stream::Arrival::kAfter) {
    return StreamError(given.name,
                       "expected a PERIODIC stream, or one AFTER another");
  }
  if (stream.shop_stream() == nullptr ||
      stream.function().context().shop() != shop_.get()) {
    return StreamError(given.name,
                       "the instance does not schedule its context");
  }
  binding->to = Ref<stream::Stream>::Retain(&stream);
  binding->shop_stream =
      Ref<shop::ScheduledStream>::Retain(stream.shop_stream());
  binding->functions.push_back(
      Ref<runtime::Function>::Retain(&stream.function()));
  return absl::OkStatus();
}

absl::Status PlanRun::BindFunctions(const PlanBinding& given,
                                    Binding* binding) {
  for (runtime::Function* const function : given.functions) {
    if (function->context().shop() != shop_.get()) {
      return StreamError(given.name,
                         "the instance does not schedule its context");
    }
    TAKT_RETURN_IF_ERROR(
        function->CheckArguments(given.arguments, /*fences=*/false));
    if (ContentHashOf(*function) != ContentHashOf(*given.functions[0])) {
      return StreamError(given.name, "its functions are of several modules");
    }
    binding->functions.push_back(Ref<runtime::Function>::Retain(function));
  }
  binding->arguments.assign(given.arguments.begin(), given.arguments.end());
  binding->criticality = given.criticality;
  shop::StreamRequirements requirements;
  requirements.name = given.name;
  // A stream without a deadline of its own is never late, so it cannot be
  // hard; its jobs have the plan's deadlines.
  requirements.criticality = given.criticality == sched::Criticality::kHard
                                 ? sched::Criticality::kSoft
                                 : given.criticality;
  requirements.priority = sched::PriorityOf(given.criticality);
  const auto job = binding->functions[0]->FindJob(runtime::CallOptions());
  if (job.ok()) requirements.allowed = job->traits.allowed;
  TAKT_ASSIGN_OR_RETURN(binding->shop_stream,
                        shop_->AddStream(std::move(requirements)));
  return absl::OkStatus();
}

const PlanRun::Binding& PlanRun::BindingOf(const plan::PlannedJob& job) const {
  const auto found = std::find_if(
      bindings_.begin(), bindings_.end(),
      [&](const auto& binding) { return binding->name == job.stream; });
  TAKT_CHECK(found != bindings_.end());
  return **found;
}

absl::StatusOr<PlanRun::Part> PlanRun::MakePart(const plan::Plan& plan) const {
  Part part;
  part.plan = std::make_shared<const plan::Plan>(WithStreams(plan));
  TAKT_RETURN_IF_ERROR(CheckStreams(*part.plan, bound_));
  TAKT_RETURN_IF_ERROR(CheckModules(*part.plan, bound_));
  std::vector<PlannedRelease> releases;
  for (uint32_t j = 0; j < part.plan->jobs.size(); ++j) {
    const plan::PlannedJob& job = part.plan->jobs[j];
    const Binding& binding = BindingOf(job);
    if (binding.to == nullptr) {
      releases.push_back({job.release, j});
    } else if (std::find(part.streams.begin(), part.streams.end(), &binding) ==
               part.streams.end()) {
      part.streams.push_back(&binding);
    }
  }
  part.cursor = ReleaseCursor(std::move(releases), part.plan->period);
  return part;
}

absl::StatusOr<std::unique_ptr<follow::PlanFollower>> PlanRun::MakeFollower(
    const plan::Plan& plan) {
  sched::Machine machine;  // As it is now.
  shop_->Run([&](sched::Scheduler& scheduler, int64_t) {
    scheduler_ = &scheduler;
    machine = scheduler.machine();
  });
  TAKT_ASSIGN_OR_RETURN(const plan::Plan aligned,
                        follow::AlignPlan(plan, machine, shop_->gone()));
  TAKT_RETURN_IF_ERROR(CheckDevices(aligned, bound_));
  HashMap<std::string, sched::StreamId> streams;
  for (const auto& binding : bindings_) {
    streams[binding->name] = shop_->IdOf(*binding->shop_stream);
  }
  return follow::PlanFollower::Create(aligned, machine, streams,
                                      MakeFollowerOptions());
}

follow::FollowerOptions PlanRun::MakeFollowerOptions() {
  const PlanTiming& timing = options_.timing;
  follow::FollowerOptions options;
  options.mode = options_.mode;
  options.falls_back = options_.violations == ViolationPolicy::kFallBack;
  options.tolerance_ns = timing.tolerance_ns;
  options.patience_ns = timing.patience_ns;
  options.small_ns = timing.small_ns;
  options.divergence_ns = timing.divergence_ns;
  options.repair.budget_ns = timing.repair_budget_ns;
  options.repair.background = [planner = planner_](std::function<void()> job) {
    planner->Post(std::move(job));
  };
  options.repair_horizon_ns = timing.repair_horizon_ns;
  const auto add_event = [this](const follow::PlanEvent& event) {
    AddEvent(event);
  };
  options.on_violation = add_event;
  options.on_divergence = add_event;
  options.longest_ns = [this](sched::KernelId kernel, uint32_t pool) {
    int64_t longest_ns = 0;
    for (const auto& way : scheduler_->costs().kernel(kernel).alternatives) {
      if (way.pool != pool) continue;
      longest_ns =
          std::max(longest_ns, way.duration.quantile_ns(sched::Quantile::k99));
    }
    return longest_ns;
  };
  return options;
}

}  // namespace takt::plan_run
