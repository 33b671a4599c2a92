// Plan runs: what they are made of, and how they begin and end.
#include "api/plan_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/blocking_wait.h"
#include "api/handle.h"
#include "api/quantiles.h"
#include "api/value.h"
#include "base/clock.h"
#include "base/content_hash.h"
#include "follow/plan_alignment.h"
#include "sched/priority.h"
#include "takt/inspect.h"

namespace takt::api {
namespace {

constexpr char kPolicy[] = "job-shop";

absl::Status Wrong(const std::string& stream, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("stream \"", stream, "\": ", reason));
}

// What plans know the function's module by; "" for one that they do not know.
std::string HashOf(const Function& function) {
  vm::Module& module =
      *function.context().vm().modules()[function.ref().module];
  const uint64_t hash = takt_module_content_hash(Wrap(&module));
  return hash != 0 ? ContentHashText(hash) : "";
}

// Jobs that come from no workload are streams of their own.
plan::Plan WithStreams(plan::Plan plan) {
  for (plan::PlannedJob& job : plan.jobs) {
    if (!job.stream.empty()) continue;
    job.stream = job.name;
    job.instance = 0;
  }
  return plan;
}

takt_plan_errors_t ToErrors(const follow::DivergenceSummary& summary) {
  return {summary.count, summary.min, summary.max, summary.q50, summary.q99};
}

absl::Status CheckOptions(const takt_plan_run_options_t& options) {
  if (static_cast<unsigned>(options.mode) > TAKT_PLAN_MODE_ADAPTIVE) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: mode is ", options.mode));
  }
  if (static_cast<unsigned>(options.late) > TAKT_PLAN_LATE_FAIL) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: late is ", options.late));
  }
  const std::pair<const char*, int64_t> times[] = {
      {"tolerance_ns", options.timing.tolerance_ns},
      {"patience_ns", options.timing.patience_ns},
      {"divergence_ns", options.timing.divergence_ns},
      {"lead_ns", options.timing.lead_ns},
      {"repair_budget_ns", options.timing.repair_budget_ns},
      {"repair_horizon_ns", options.timing.repair_horizon_ns},
      {"small_ns", options.timing.small_ns}};
  for (const auto& [name, time_ns] : times) {
    if (time_ns >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("options: ", name, ": expected 0 or more, got ", time_ns));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ref<PlanRun>> PlanRun::Create(
    Instance& instance, PlanFile& plan,
    absl::Span<const takt_plan_binding_t> bindings,
    const takt_plan_run_options_t& options) {
  TAKT_RETURN_IF_ERROR(CheckOptions(options));
  TAKT_ASSIGN_OR_RETURN(Ref<shop::JobShop> shop, instance.GetShop());
  if (shop == nullptr || absl::string_view(shop->policy_name()) != kPolicy) {
    return absl::FailedPreconditionError(
        absl::StrCat("plans need a scheduler with the policy \"", kPolicy,
                     "\"; the instance's is \"", instance.policy_name(), "\""));
  }
  auto run =
      Ref<PlanRun>::Adopt(new PlanRun(instance, std::move(shop), options));
  for (const takt_plan_binding_t& binding : bindings) {
    TAKT_RETURN_IF_ERROR(run->Bind(binding));
  }
  TAKT_ASSIGN_OR_RETURN(Part part, run->MakePart(plan));
  // Whether it can be followed.
  TAKT_RETURN_IF_ERROR(run->MakeFollower(plan.plan()).status());
  MutexLock lock(&run->mutex_);
  run->part_ = std::move(part);
  return run;
}

PlanRun::PlanRun(Instance& instance, Ref<shop::JobShop> shop,
                 const takt_plan_run_options_t& options)
    : Object(&kType),
      instance_(Ref<Instance>::Retain(&instance)),
      shop_(std::move(shop)),
      timers_(instance.timers()),
      options_(options),
      planner_(instance.CreateBackground("takt-plan")),
      conductor_([](const sched::KernelKey& key) {
        return key.module_hash != shop::kTransferHash;
      }) {
  release_timer_.run = notice_timer_.run = this;
  release_timer_.fire = &PlanRun::OnReleaseTime;
  notice_timer_.fire = &PlanRun::OnNoticeTime;
}

PlanRun::~PlanRun() {
  for (const auto& binding : bindings_) {
    takt_values_release(binding->arguments.size(), binding->arguments.data());
  }
}

const PlanRun::Binding* PlanRun::FindBinding(const std::string& stream) const {
  for (const auto& binding : bindings_) {
    if (binding->name == stream) return binding.get();
  }
  return nullptr;
}

absl::Status PlanRun::Bind(const takt_plan_binding_t& given) {
  TAKT_RETURN_IF_ERROR(Require(given.stream, "bindings: stream"));
  if (FindBinding(given.stream) != nullptr) {
    return Wrong(given.stream, "it is bound twice");
  }
  auto binding = std::make_unique<Binding>();
  binding->name = given.stream;
  binding->on_done = given.on_done;
  binding->user_data = given.user_data;
  if ((given.to != nullptr) == (given.function_count > 0)) {
    return Wrong(given.stream, "expected a stream, or functions, to bind to");
  }
  TAKT_RETURN_IF_ERROR(given.to != nullptr
                           ? BindStream(given, binding.get())
                           : BindFunctions(given, binding.get()));
  bindings_.push_back(std::move(binding));
  return absl::OkStatus();
}

absl::Status PlanRun::BindStream(const takt_plan_binding_t& given,
                                 Binding* binding) {
  binding->to = Ref<Stream>::Retain(Unwrap(given.to));
  if (binding->to->arrival() != stream::Arrival::kPeriodic &&
      binding->to->arrival() != stream::Arrival::kAfter) {
    return Wrong(given.stream,
                 "expected a PERIODIC stream, or one AFTER "
                 "another");
  }
  binding->shop_stream = Ref<shop::Stream>::Retain(binding->to->shop_stream());
  binding->functions.push_back(Ref<Function>::Retain(&binding->to->function()));
  if (binding->shop_stream == nullptr ||
      binding->to->function().context().shop() != shop_.get()) {
    return Wrong(given.stream, "the instance does not schedule its context");
  }
  return absl::OkStatus();
}

absl::Status PlanRun::BindFunctions(const takt_plan_binding_t& given,
                                    Binding* binding) {
  TAKT_RETURN_IF_ERROR(Require(given.functions, "bindings: functions"));
  if (given.argument_count > 0) {
    TAKT_RETURN_IF_ERROR(Require(given.arguments, "bindings: arguments"));
  }
  if (static_cast<unsigned>(given.criticality) > TAKT_CRITICALITY_BEST_EFFORT) {
    return Wrong(given.stream,
                 absl::StrCat("criticality is ", given.criticality));
  }
  const absl::Span<const takt_value_t> arguments(given.arguments,
                                                 given.argument_count);
  for (size_t i = 0; i < given.function_count; ++i) {
    TAKT_RETURN_IF_ERROR(
        Require(given.functions[i], absl::StrCat("functions[", i, "]")));
    Function& function = *Unwrap(given.functions[i]);
    if (function.context().shop() != shop_.get()) {
      return Wrong(given.stream, "the instance does not schedule its context");
    }
    TAKT_RETURN_IF_ERROR(
        function.CheckArguments(ToValues(arguments), /*fences=*/false));
    if (HashOf(function) != HashOf(*Unwrap(given.functions[0]))) {
      return Wrong(given.stream, "its functions are of several modules");
    }
    binding->functions.push_back(Ref<Function>::Retain(&function));
  }
  for (const takt_value_t& argument : arguments) {
    binding->arguments.push_back(RetainValue(argument));
  }
  binding->criticality = static_cast<sched::Criticality>(given.criticality);
  shop::StreamRequirements terms;
  terms.name = binding->name;
  terms.criticality = binding->criticality == sched::Criticality::kHard
                          ? sched::Criticality::kSoft
                          : binding->criticality;
  terms.priority = sched::PriorityOf(binding->criticality);
  const auto job = binding->functions[0]->FindJob(CallOptions());
  if (job.ok()) terms.allowed = job->traits.allowed;
  TAKT_ASSIGN_OR_RETURN(binding->shop_stream,
                        shop_->AddStream(std::move(terms)));
  return absl::OkStatus();
}

// Of the operations that it has to do.
absl::Status PlanRun::CheckModules(const plan::Plan& plan) const {
  for (const plan::PlannedOperation& operation : plan.operations) {
    const plan::PlannedModule& planned = plan.modules[operation.module];
    if (planned.content_hash.empty()) continue;
    const Binding& binding = *FindBinding(plan.jobs[operation.job].stream);
    const Function& function = *binding.functions[0];
    const std::string hash = HashOf(function);
    if (hash == planned.content_hash) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "stream \"", binding.name, "\": ", function.name(),
        " is of a module with the content ", hash.empty() ? "(none)" : hash,
        ", and the plan was made for ", planned.name, " with the content ",
        planned.content_hash));
  }
  return absl::OkStatus();
}

// Whether a stream releases when the plan has it.
absl::Status PlanRun::CheckPeriods(const plan::Plan& plan,
                                   const Binding& binding) const {
  if (plan.period == 0) {
    return Wrong(binding.name, "a single shot is bound to functions");
  }
  if (binding.to->arrival() != stream::Arrival::kPeriodic)
    return absl::OkStatus();
  const int64_t period_ns = binding.to->period_ns();
  int64_t count = 0;
  int64_t first_ns = 0;
  for (const plan::PlannedJob& job : plan.jobs) {
    if (job.stream != binding.name) continue;
    if (count == 0) first_ns = job.release;
    if (job.release != first_ns + count * period_ns) {
      return Wrong(binding.name,
                   absl::StrCat("its period of ", period_ns,
                                " ns is not the plan's: ", job.name,
                                " is released at ", job.release));
    }
    ++count;
  }
  if (count * period_ns == plan.period) return absl::OkStatus();
  return Wrong(binding.name,
               absl::StrCat("it releases ", plan.period / period_ns,
                            " jobs in the plan's period, which has ", count));
}

absl::StatusOr<PlanRun::Part> PlanRun::MakePart(PlanFile& file) const {
  const plan::Plan plan = WithStreams(file.plan());
  Part part;
  part.plan = Ref<PlanFile>::Retain(&file);
  for (uint32_t j = 0; j < plan.jobs.size(); ++j) {
    const plan::PlannedJob& job = plan.jobs[j];
    const Binding* const binding = FindBinding(job.stream);
    if (binding == nullptr) return Wrong(job.stream, "it is not bound");
    if (binding->to == nullptr) {
      part.releases.push_back({job.release, j, binding});
      continue;
    }
    if (std::find(part.streams.begin(), part.streams.end(), binding) !=
        part.streams.end()) {
      continue;
    }
    TAKT_RETURN_IF_ERROR(CheckPeriods(plan, *binding));
    part.streams.push_back(binding);
  }
  std::stable_sort(part.releases.begin(), part.releases.end(),
                   [](const PlannedCall& a, const PlannedCall& b) {
                     return a.offset_ns < b.offset_ns;
                   });
  TAKT_RETURN_IF_ERROR(CheckModules(plan));
  return part;
}

// Whether what the plan has on an NPU can get there: its function's context has
// a device of it. The plan's resources are the machine's.
absl::Status PlanRun::CheckDevices(const plan::Plan& aligned) const {
  for (const plan::PlannedOperation& operation : aligned.operations) {
    const Binding& binding = *FindBinding(aligned.jobs[operation.job].stream);
    const Function& function = *binding.functions[0];
    for (const uint32_t index : operation.resources) {
      const plan::PlannedResource& resource = aligned.resources[index];
      if (resource.kind != plan::PlannedResource::Kind::kNpu) continue;
      if ((function.context().shop_pools() >> resource.cluster & 1) != 0) {
        continue;
      }
      return absl::FailedPreconditionError(absl::StrCat(
          "stream \"", binding.name, "\": operation \"", operation.name,
          "\" is planned for the NPU \"", resource.name,
          "\", and the context of ", function.name(), " has no device of it"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<follow::PlanFollower>> PlanRun::MakeFollower(
    const plan::Plan& plan) {
  sched::Machine machine;  // As it is now.
  shop_->Run([&](sched::Scheduler& scheduler, int64_t) {
    scheduler_ = &scheduler;
    machine = scheduler.machine();
  });
  TAKT_ASSIGN_OR_RETURN(
      const plan::Plan aligned,
      follow::AlignPlan(WithStreams(plan), machine, shop_->gone()));
  TAKT_RETURN_IF_ERROR(CheckDevices(aligned));
  absl::flat_hash_map<std::string, sched::StreamId> streams;
  for (const auto& binding : bindings_) {
    streams[binding->name] = shop_->IdOf(*binding->shop_stream);
  }
  follow::FollowerOptions options;
  options.mode = options_.mode == TAKT_PLAN_MODE_STRICT
                     ? follow::FollowMode::kStrict
                     : follow::FollowMode::kAdaptive;
  options.falls_back = options_.late == TAKT_PLAN_LATE_FALL_BACK;
  options.tolerance_ns = options_.timing.tolerance_ns;
  options.patience_ns = options_.timing.patience_ns;
  options.small_ns = options_.timing.small_ns;
  options.divergence_ns = options_.timing.divergence_ns;
  options.repair.budget_ns = options_.timing.repair_budget_ns;
  options.repair.background = [planner = planner_](std::function<void()> job) {
    planner->Post(std::move(job));
  };
  options.repair_horizon_ns = options_.timing.repair_horizon_ns;
  options.on_violation = [this](const follow::PlanEvent& v) { Note(v); };
  options.on_divergence = [this](const follow::PlanEvent& v) { Note(v); };
  options.longest_ns = [this](sched::KernelId kernel, uint32_t pool) {
    int64_t longest_ns = 0;
    for (const auto& way : scheduler_->costs().kernel(kernel).alternatives) {
      if (way.pool != pool) continue;
      longest_ns =
          std::max(longest_ns, way.duration.quantile_ns(sched::Quantile::k99));
    }
    return longest_ns;
  };
  return follow::PlanFollower::Create(aligned, machine, streams,
                                      std::move(options));
}

absl::Status PlanRun::StartStreams(const Part& part) {
  for (const Binding* binding : part.streams) {
    int64_t first_ns = 0;
    for (const plan::PlannedJob& job : part.plan->plan().jobs) {
      if (job.stream != binding->name) continue;
      first_ns = job.release;
      break;
    }
    const absl::Status status = binding->to->Start(part.origin_ns + first_ns);
    if (status.ok()) continue;
    // Those before it.
    for (const Binding* started : part.streams) {
      if (started == binding) break;
      started->to->Stop();
    }
    return status;
  }
  return absl::OkStatus();
}

void PlanRun::StopStreams() {
  for (const auto& binding : bindings_) {
    if (binding->to != nullptr) binding->to->Stop();
  }
}

absl::Status PlanRun::Start(int64_t start_ns) {
  MutexLock control(&control_mutex_);
  Part part;
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kNew) {
      return absl::FailedPreconditionError("the run has been started");
    }
    part_.origin_ns = start_ns;
    part = part_;
  }
  if (start_ns < NowNs()) {
    return absl::InvalidArgumentError(
        absl::StrCat("start_ns has passed, by ", NowNs() - start_ns, " ns"));
  }
  TAKT_ASSIGN_OR_RETURN(auto follower, MakeFollower(part.plan->plan()));
  conductor_.Follow(std::move(follower), start_ns);
  const bool sees_all =
      options_.mode == TAKT_PLAN_MODE_STRICT || options_.timing.small_ns == 0;
  if (!shop_->SwapGuide(nullptr, &conductor_, sees_all)) {
    return absl::FailedPreconditionError(
        "another plan is being carried out on this instance");
  }
  const absl::Status status = StartStreams(part);
  if (!status.ok()) {
    shop_->SwapGuide(&conductor_, nullptr, false);
    return status;
  }
  Retain();  // Until it is over.
  {
    MutexLock lock(&mutex_);
    phase_ = Phase::kRunning;
  }
  ReleaseDue();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PlanRun::Replace(PlanFile& plan, int64_t at_ns) {
  MutexLock control(&control_mutex_);
  TAKT_ASSIGN_OR_RETURN(Part part, MakePart(plan));
  TAKT_ASSIGN_OR_RETURN(auto follower, MakeFollower(plan.plan()));
  const int64_t now_ns = NowNs();
  if (at_ns < now_ns) {
    return absl::InvalidArgumentError(
        absl::StrCat("at_ns has passed, by ", now_ns - at_ns, " ns"));
  }
  bool is_busy = false;
  shop_->Run([&](sched::Scheduler&, int64_t) {
    is_busy = conductor_.is_taking_over();
  });
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kRunning) {
      return absl::FailedPreconditionError("the run is not under way");
    }
    if (is_busy || next_part_.plan != nullptr) {
      return absl::FailedPreconditionError("another plan is just taking over");
    }
    TAKT_RETURN_IF_ERROR(CheckTakeOver(part));
    at_ns = std::max(at_ns, last_issued_ns_ + 1);
    const int64_t period = part_.plan->plan().period;
    if (period > 0) {
      const int64_t past = std::max<int64_t>(at_ns - part_.origin_ns, 0);
      at_ns = part_.origin_ns + (past + period - 1) / period * period;
    }
    part.origin_ns = at_ns;
    part_.end_ns = at_ns;
    is_replacing_ = true;
  }
  // It is to know of the plan before any call of it is made.
  shop_->Run([&](sched::Scheduler& scheduler, int64_t decided_ns) {
    conductor_.TakeOver(std::move(follower), at_ns);
    scheduler.ReviewGuided(decided_ns);
  });
  {
    MutexLock lock(&mutex_);
    next_part_ = std::move(part);
    is_replacing_ = false;
  }
  ReleaseDue();
  return at_ns;
}

absl::Status PlanRun::CheckTakeOver(const Part& part) const {
  const plan::Plan& before = part_.plan->plan();
  const plan::Plan& after = part.plan->plan();
  if ((before.period > 0) != (after.period > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan \"", after.name, "\": a ",
                     after.period > 0 ? "cyclic plan" : "single shot",
                     " cannot take over from a ",
                     after.period > 0 ? "single shot" : "cyclic plan"));
  }
  const auto first_of = [](const plan::Plan& plan, const std::string& name) {
    for (const plan::PlannedJob& job : plan.jobs) {
      if (job.stream == name) return job.release;
    }
    return int64_t{-1};
  };
  for (const auto& binding : bindings_) {
    if (binding->to == nullptr) continue;
    if (first_of(before, binding->name) != first_of(after, binding->name)) {
      return Wrong(binding->name, absl::StrCat("its first release is at ",
                                               first_of(before, binding->name),
                                               ", and of the new plan at ",
                                               first_of(after, binding->name)));
    }
  }
  return absl::OkStatus();
}

void PlanRun::Stop() { End(absl::OkStatus()); }

void PlanRun::End(const absl::Status& status) {
  MutexLock control(&control_mutex_);
  bool has_timer = false;
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kRunning) return;
    phase_ = Phase::kEnding;
    status_ = status;
    has_timer = is_release_armed_ && timers_->Cancel(&release_timer_);
    if (has_timer) is_release_armed_ = false;
  }
  StopStreams();
  shop_->SwapGuide(&conductor_, nullptr, false);
  if (has_timer) Release();  // The timer's; the run holds another.
  EndIfIdle();
}

void PlanRun::EndIfIdle() {
  absl::Status status;
  {
    MutexLock lock(&mutex_);
    if (phase_ != Phase::kEnding || in_flight_ > 0) return;
    phase_ = Phase::kOver;
    status = status_;
  }
  if (status.ok()) {
    over_->Signal().IgnoreError();
  } else {
    over_->Fail(status);
  }
  Release();  // Start()'s.
}

absl::Status PlanRun::Wait(int64_t deadline_ns) {
  {
    MutexLock lock(&mutex_);
    if (phase_ == Phase::kNew) {
      return absl::FailedPreconditionError("the run has not been started");
    }
  }
  // What is planned has its places, and a waiter none of them: where there are
  // workers, it would only be in their way.
  const Ref<exec::Executor> executor = instance_->FindExecutor();
  const bool helps = executor != nullptr && executor->worker_count() == 0;
  BlockingWait thread(helps ? executor.get() : nullptr);
  return WaitForFence(*over_, thread, deadline_ns);
}

takt_plan_run_report_t PlanRun::Query() {
  takt_plan_run_report_t result = {};
  shop_->Run([&](sched::Scheduler&, int64_t) {
    const follow::FollowReport report = conductor_.report();
    result.started_count = report.started_count;
    result.in_place_count = report.in_place_count;
    result.violation_count = report.violation_count;
    result.divergence_count = report.divergence_count;
    result.repair_count = report.repair_count;
    result.resolve_count = report.resolve_count;
    result.refused_count = report.refused_count;
    result.first_release_ns = conductor_.first_release_ns();
    result.last_end_ns = conductor_.last_end_ns();
    if (conductor_.follower() == nullptr) return;
    const follow::Divergence& divergence = conductor_.follower()->divergence();
    result.late_start = ToQuantiles(divergence.late_starts().quantiles());
    result.late_end = ToQuantiles(divergence.late_ends().quantiles());
  });
  MutexLock lock(&mutex_);
  result.is_running = phase_ == Phase::kRunning;
  result.call_count = call_count_;
  result.failed_count = failed_count_;
  return result;
}

absl::Status PlanRun::QueryOperation(size_t operation,
                                     takt_plan_errors_t* start,
                                     takt_plan_errors_t* end) {
  size_t count = 0;
  {
    MutexLock lock(&mutex_);
    const Part& part = next_part_.plan != nullptr ? next_part_ : part_;
    count = part.plan->plan().operations.size();
  }
  if (operation >= count) {
    return absl::OutOfRangeError(
        absl::StrCat("operation ", operation, ": the plan has ", count));
  }
  follow::DivergenceSummary starts;
  follow::DivergenceSummary ends;
  shop_->Run([&](sched::Scheduler&, int64_t) {
    if (conductor_.follower() == nullptr) return;
    const follow::Divergence& divergence = conductor_.follower()->divergence();
    if (operation >= divergence.operation_count()) return;
    starts = divergence.starts(static_cast<uint32_t>(operation));
    ends = divergence.ends(static_cast<uint32_t>(operation));
  });
  if (start != nullptr) *start = ToErrors(starts);
  if (end != nullptr) *end = ToErrors(ends);
  return absl::OkStatus();
}

namespace {

absl::StatusOr<Ref<PlanRun>> CreateRun(Instance* instance, PlanFile* plan,
                                       size_t binding_count,
                                       const takt_plan_binding_t* bindings,
                                       const takt_plan_run_options_t* options) {
  TAKT_ASSIGN_OR_RETURN(const takt_plan_run_options_t given,
                        ReadOptions(options, &takt_plan_run_options_init));
  return PlanRun::Create(*instance, *plan, {bindings, binding_count}, given);
}

absl::Status ReplacePlan(PlanRun* run, PlanFile* plan, int64_t at_ns,
                         int64_t* out_at_ns) {
  TAKT_ASSIGN_OR_RETURN(const int64_t chosen_ns, run->Replace(*plan, at_ns));
  if (out_at_ns != nullptr) *out_at_ns = chosen_ns;
  return absl::OkStatus();
}

absl::Status QueryRun(PlanRun* run, takt_plan_run_report_t* out) {
  TAKT_RETURN_IF_ERROR(RequireSized(out, "out_report"));
  WriteSized(run->Query(), out);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_plan_run_create(takt_instance_t* instance, takt_plan_t* plan,
                                   size_t binding_count,
                                   const takt_plan_binding_t* bindings,
                                   const takt_plan_run_options_t* options,
                                   takt_plan_run_t** out_run) {
  TAKT_REQUIRE(instance, plan, Items(binding_count, bindings), out_run);
  return takt::api::Give(__func__,
                         takt::api::CreateRun(Unwrap(instance), Unwrap(plan),
                                              binding_count, bindings, options),
                         out_run);
}

void takt_plan_run_retain(takt_plan_run_t* run) {
  takt::api::RetainHandle(run);
}

void takt_plan_run_release(takt_plan_run_t* run) {
  takt::api::ReleaseHandle(run);
}

takt_status_t takt_plan_run_start(takt_plan_run_t* run, int64_t start_ns) {
  TAKT_REQUIRE(run);
  return ToStatus(__func__, Unwrap(run)->Start(start_ns));
}

takt_status_t takt_plan_run_replace(takt_plan_run_t* run, takt_plan_t* plan,
                                    int64_t at_ns, int64_t* out_at_ns) {
  TAKT_REQUIRE(run, plan, Optional(out_at_ns));
  return ToStatus(__func__, takt::api::ReplacePlan(Unwrap(run), Unwrap(plan),
                                                   at_ns, out_at_ns));
}

void takt_plan_run_stop(takt_plan_run_t* run) {
  TAKT_IGNORE_NULL(run);
  Unwrap(run)->Stop();
}

takt_status_t takt_plan_run_wait(takt_plan_run_t* run, int64_t deadline_ns) {
  TAKT_REQUIRE(run);
  return ToStatus(__func__, Unwrap(run)->Wait(deadline_ns));
}

takt_status_t takt_plan_run_query(takt_plan_run_t* run,
                                  takt_plan_run_report_t* out_report) {
  TAKT_REQUIRE(run, out_report);
  return ToStatus(__func__, takt::api::QueryRun(Unwrap(run), out_report));
}

takt_status_t takt_plan_run_query_operation(takt_plan_run_t* run,
                                            size_t operation,
                                            takt_plan_errors_t* out_start,
                                            takt_plan_errors_t* out_end) {
  TAKT_REQUIRE(run, Optional(out_start), Optional(out_end));
  return ToStatus(__func__,
                  Unwrap(run)->QueryOperation(operation, out_start, out_end));
}
