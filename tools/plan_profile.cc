#include "tools/plan_profile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "tools/common/drivers.h"
#include "tools/common/file.h"
#include "tools/common/input.h"
#include "tools/common/session.h"
#include "tools/plan_machine.h"
#include "tools/plan_workload.h"
#include "tools/profile_data.h"
#include "tools/profile_json.h"
#include "tools/profile_recorder.h"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

// The first call loads code and allocates memory; the next ones fill caches.
constexpr int kWarmUpCalls = 3;
// A function on one device, with the arguments of its calls.
struct Subject {
  std::string name;  // "module.function".
  Context context;
  Function function;
  std::vector<Value> arguments;
  std::vector<Value> results;

  Status Call(const CpuMask& mask, int32_t priority) {
    takt_invoke_options_t options;
    takt_invoke_options_init(&options);
    options.cpu_words = mask.data();
    options.cpu_word_count = mask.size();
    options.priority = priority;
    options.deadline_ns = TAKT_INFINITE_FUTURE;
    const Status status = function.Invoke(arguments, results, &options);
    for (Value& result : results) result = Value();
    return Annotate(status, name);
  }
};

class Profiler {
 public:
  Profiler(const takt_workload_t* workload, MeasuredMachine machine,
           std::string folder, int64_t samples)
      : workload_(workload),
        machine_(std::move(machine)),
        folder_(std::move(folder)),
        samples_(samples),
        data_(machine_) {}

  Result<Json> Run() {
    ListCpus();
    TAKT_TOOLS_RETURN_IF_ERROR(SetUp());
    const size_t count = takt_workload_info(workload_).function_count;
    for (size_t i = 0; i < count; ++i) {
      TAKT_TOOLS_RETURN_IF_ERROR(ProfileFunction(i, count));
    }
    if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
    return ProfileJson(data_, workload_, machine_, modules_);
  }

 private:
  // "0,1,4": all CPUs of the machine.
  void ListCpus() {
    std::vector<uint32_t> all;
    for (const MeasuredCluster& cluster : machine_.clusters) {
      all.insert(all.end(), cluster.cpus.begin(), cluster.cpus.end());
    }
    std::sort(all.begin(), all.end());
    for (const uint32_t cpu : all) {
      if (!all_cpus_.empty()) all_cpus_ += ',';
      all_cpus_ += std::to_string(cpu);
    }
  }

  Status SetUp() {
    takt_instance_options_t options;
    takt_instance_options_init(&options);
    options.worker_cpus = all_cpus_.c_str();
    TAKT_TOOLS_ASSIGN_OR_RETURN(instance_, Instance::Create(&options));
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        device_,
        Device::Create(instance_, "local-task", recorder_.OptionsOf(kNoNpu)));
    TAKT_TOOLS_RETURN_IF_ERROR(OpenNpus());
    return LoadModules();
  }

  // A dispatch with two routes has to take the NPU here.
  Status OpenNpus() {
    for (size_t n = 0; n < machine_.npus.size(); ++n) {
      const MeasuredNpu& npu = machine_.npus[n];
      npu_devices_.emplace_back();
      if (npu.device.empty()) {
        std::fprintf(stderr,
                     "takt-plan: NPU %s is not measured; --npu=%s=DEVICE says "
                     "what it is\n",
                     npu.name.c_str(), npu.name.c_str());
        continue;
      }
      const takt_device_options_t observed =
          recorder_.OptionsOf(static_cast<int32_t>(n));
      takt_npu_options_t options;
      takt_npu_options_init(&options);
      options.device_options = &observed;
      options.may_route_to_cpu = false;
      Result<Device> device = CreateNpu(instance_, npu.device, options);
      if (!device.ok()) {
        return Annotate(device.status(),
                        "--npu=" + npu.name + "=" + npu.device);
      }
      npu_devices_.back() = *std::move(device);
    }
    return Status();
  }

  Status LoadModules() {
    const takt_workload_info_t info = takt_workload_info(workload_);
    for (size_t i = 0; i < info.module_count; ++i) {
      const takt_workload_module_t given = takt_workload_module(workload_, i);
      const std::string path =
          given.file[0] == '/' ? given.file : folder_ + given.file;
      TAKT_TOOLS_ASSIGN_OR_RETURN(
          Module module, LoadModule(instance_, path, TAKT_MODULE_MODE_PRELOAD));
      if (module.name() != given.name) {
        return InvalidArgument(path + ": is module " +
                               std::string(module.name()) + ", not " +
                               given.name);
      }
      modules_.push_back(std::move(module));
      std::vector<Parameters> parameters;
      for (size_t p = 0; p < given.parameters_count; ++p) {
        TAKT_TOOLS_ASSIGN_OR_RETURN(
            Parameters opened,
            OpenParameters(instance_,
                           takt_workload_module_parameters(workload_, i, p),
                           /*preload=*/true));
        parameters.push_back(std::move(opened));
      }
      parameters_.push_back(std::move(parameters));
    }
    return Status();
  }

  Result<Subject> MakeSubject(size_t index,
                              const std::vector<Device>& devices) {
    const takt_workload_function_t given =
        takt_workload_function(workload_, index);
    Subject subject;
    subject.name = given.name;
    Result<Context> context =
        Context::Create(instance_, {modules_[given.module]}, devices,
                        parameters_[given.module]);
    if (!context.ok()) return Annotate(context.status(), subject.name);
    subject.context = *std::move(context);
    const std::string local = subject.name.substr(subject.name.find('.') + 1);
    TAKT_TOOLS_ASSIGN_OR_RETURN(subject.function,
                                subject.context.FindFunction(local));
    std::vector<std::string> texts;
    for (size_t i = 0; i < given.input_count; ++i) {
      texts.emplace_back(takt_workload_function_input(workload_, index, i));
    }
    const Signature signature = subject.function.signature();
    InputFiles files;
    Result<std::vector<Input>> inputs =
        ParseInputs(devices[0], ArgumentKinds(signature), texts, &files);
    if (!inputs.ok()) return Annotate(inputs.status(), subject.name);
    for (Input& input : *inputs) {
      subject.arguments.push_back(std::move(input.value));
    }
    subject.results.resize(signature.result_count());
    return subject;
  }

  // The function on the CPU alone, or else with the first NPU that can run it,
  // which *npu receives; kNoNpu: the CPU alone.
  Result<Subject> MakeBase(size_t index, const Device& cpu, int32_t* npu) {
    Result<Subject> base = MakeSubject(index, {cpu});
    *npu = kNoNpu;
    for (size_t n = 0; !base.ok() && n < npu_devices_.size(); ++n) {
      if (!npu_devices_[n]) continue;
      Result<Subject> other = MakeSubject(index, {cpu, *npu_devices_[n]});
      if (!other.ok()) continue;
      *npu = static_cast<int32_t>(n);
      return other;
    }
    return base;
  }

  Status ProfileFunction(size_t index, size_t count) {
    int32_t base_npu = kNoNpu;
    TAKT_TOOLS_ASSIGN_OR_RETURN(Subject subject,
                                MakeBase(index, device_, &base_npu));
    data_.Begin(subject.name);
    for (size_t a = 0; a < data_.alternatives().size(); ++a) {
      const int32_t npu = data_.alternatives()[a].npu;
      if (npu != kNoNpu) {
        if (!npu_devices_[static_cast<size_t>(npu)]) continue;
        TAKT_TOOLS_ASSIGN_OR_RETURN(
            subject,
            MakeSubject(index,
                        {device_, *npu_devices_[static_cast<size_t>(npu)]}));
        TAKT_TOOLS_ASSIGN_OR_RETURN(const bool is_used, UsesNpu(&subject, a));
        if (!is_used) continue;
      }
      Show(index, count, subject.name, a);
      TAKT_TOOLS_RETURN_IF_ERROR(Measure(&subject, a));
    }
    const size_t module = takt_workload_function(workload_, index).module;
    data_.End(takt_workload_module(workload_, module).name);
    return Status();
  }

  // Whether a call uses the NPU of alternative `a`.
  Result<bool> UsesNpu(Subject* subject, size_t a) {
    TAKT_TOOLS_RETURN_IF_ERROR(
        subject->Call(data_.alternatives()[a].mask, TAKT_PRIORITY_DEFAULT));
    const std::vector<Dispatch> dispatches = recorder_.Take();
    return std::any_of(dispatches.begin(), dispatches.end(),
                       [&](const Dispatch& each) {
                         return each.npu == data_.alternatives()[a].npu;
                       });
  }

  void Show(size_t index, size_t count, const std::string& name,
            size_t a) const {
    if (isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\r\033[K[%zu/%zu] %s on %u of %s", index + 1, count,
                 name.c_str(), data_.alternatives()[a].shards,
                 data_.alternatives()[a].pool.c_str());
  }

  Status Measure(Subject* subject, size_t a) {
    for (int64_t i = -kWarmUpCalls; i < samples_; ++i) {
      const int64_t begin_ns = takt_clock_now_ns();
      TAKT_TOOLS_RETURN_IF_ERROR(
          subject->Call(data_.alternatives()[a].mask, TAKT_PRIORITY_DEFAULT));
      const int64_t took_ns = takt_clock_now_ns() - begin_ns;
      const std::vector<Dispatch> dispatches = recorder_.Take();
      if (i == -kWarmUpCalls && a == 0) data_.SetShape(dispatches);
      if (i >= 0) data_.Add(a, took_ns, dispatches);
    }
    return Status();
  }

  const takt_workload_t* const workload_;
  const MeasuredMachine machine_;
  const std::string folder_;
  const int64_t samples_;
  std::string all_cpus_;
  ProfileData data_;
  ProfileRecorder recorder_;  // Outlives the devices.
  Instance instance_;
  Device device_;
  std::vector<std::optional<Device>> npu_devices_;  // By NPU.
  std::vector<Module> modules_;
  std::vector<std::vector<Parameters>> parameters_;  // By module.
};

}  // namespace

Result<int> ProfileWorkload(const std::string& path, int64_t samples,
                            const std::vector<std::string>& npu_devices,
                            const std::string& output, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string workload_text, ReadFile(path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(MeasuredMachine machine,
                              FindMachine(workload_text, npu_devices));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Workload workload,
                              LoadWorkload(path, "", machine.topology.get()));
  if (takt_workload_info(workload.get()).function_count == 0) {
    return InvalidArgument(path + ": no stream calls a function of a module");
  }
  const size_t slash = path.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const Json profile,
      Profiler(workload.get(), std::move(machine), folder, samples).Run());
  const std::string text = profile.dump(1) + "\n";
  if (output.empty()) {
    std::fputs(text.c_str(), stdout);
    return kSuccess;
  }
  const Status written = WriteFile(OutputPath(output), text, /*append=*/false);
  if (!written.ok()) return written;
  if (is_json) {
    const Json summary = {{"output", output},
                          {"functions", profile["functions"].size()},
                          {"kernels", profile["kernels"].size()},
                          {"programs", profile["programs"].size()}};
    std::printf("%s\n", summary.dump(2).c_str());
  } else if (output != "-") {
    PrintProfile(profile);
  }
  return kSuccess;
}

}  // namespace takt::tools
