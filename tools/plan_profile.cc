#include "tools/plan_profile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "tools/common/file.h"
#include "tools/common/input.h"
#include "tools/common/session.h"
#include "tools/plan_machine.h"
#include "tools/plan_workload.h"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kWarmUpCalls = 3;
constexpr int32_t kNoNpu = -1;

using CpuMask = std::vector<uint64_t>;

CpuMask MaskOf(const std::vector<uint32_t>& cpus) {
  CpuMask mask;
  for (const uint32_t cpu : cpus) {
    if (mask.size() <= cpu / 64) mask.resize(cpu / 64 + 1);
    mask[cpu / 64] |= uint64_t{1} << (cpu % 64);
  }
  return mask;
}

// One dispatch of a call.
struct Dispatch {
  int32_t npu;  // That ran it; kNoNpu: cores did.
  std::string function;
  uint32_t grid[3];
  int64_t begin_ns;
  int64_t end_ns;
  uint64_t group;

  std::string Name() const {
    return function + " " + std::to_string(grid[0]) + "x" +
           std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
  }
};

// What devices tell while calls run.
class Recorder {
 public:
  // Has the device told of tell it.
  takt_device_options_t OptionsOf(int32_t npu) {
    taps_.push_back({this, npu});
    takt_device_options_t options;
    takt_device_options_init(&options);
    options.on_dispatch = &Recorder::Observe;
    options.on_dispatch_user_data = &taps_.back();
    return options;
  }

  // Those since the last time, in the order in which they began.
  std::vector<Dispatch> Take() {
    std::vector<Dispatch> taken;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken.swap(dispatches_);
    }
    std::stable_sort(taken.begin(), taken.end(),
                     [](const Dispatch& a, const Dispatch& b) {
                       return a.begin_ns < b.begin_ns;
                     });
    return taken;
  }

 private:
  struct Tap {
    Recorder* recorder;
    int32_t npu;
  };

  static void Observe(void* user_data, const takt_dispatch_event_t* event) {
    const auto* const tap = static_cast<const Tap*>(user_data);
    Recorder* const self = tap->recorder;
    Dispatch dispatch;
    dispatch.npu = tap->npu;
    dispatch.function = event->function;
    std::copy_n(event->workgroup_count, 3, dispatch.grid);
    dispatch.begin_ns = event->begin_ns;
    dispatch.end_ns = event->end_ns;
    dispatch.group = event->group;
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->dispatches_.push_back(std::move(dispatch));
  }

  std::deque<Tap> taps_;  // Addresses stay.
  std::mutex mutex_;
  std::vector<Dispatch> dispatches_;
};

// What a function is called with, on one device.
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

// How long one operation or kernel took under one alternative, in ns.
using Samples = std::vector<int64_t>;

int64_t Quantile(const std::vector<int64_t>& sorted, int percent) {
  const size_t rank = (sorted.size() * static_cast<size_t>(percent) + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

double Us(int64_t time_ns) {
  return static_cast<double>(std::max<int64_t>(time_ns, 1)) / 1e3;
}

Json QuantilesJson(std::vector<int64_t> samples_ns) {
  std::sort(samples_ns.begin(), samples_ns.end());
  return {{"q50_us", Us(Quantile(samples_ns, 50))},
          {"q90_us", Us(Quantile(samples_ns, 90))},
          {"q99_us", Us(Quantile(samples_ns, 99))},
          {"samples", samples_ns.size()}};
}

struct Alternative {
  std::string pool;
  uint32_t shards;
  CpuMask mask;  // Empty: anywhere, which is where an NPU's threads are.
  CpuMask rest;  // The other CPUs; all of them if there is no other.
  int32_t npu = kNoNpu;
};

struct Kernel {
  std::string module;
  std::string function;
  uint32_t grid[3];
  std::vector<Samples> samples;  // By alternative.
};

// The operations of a function: what the first call did.
struct Program {
  std::string name;
  std::vector<Dispatch> shape;
  std::vector<std::string> kernels;        // By operation.
  std::vector<std::vector<size_t>> after;  // By operation.
  bool is_whole = false;  // Calls differ: the whole call is one operation.
};

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// What sysfs says of the machine now; what it does not say is left out.
Json ConditionsJson(const std::vector<MeasuredCluster>& clusters) {
  Json conditions = {{"cpus", Json::array()},
                     {"temperatures_c", Json::array()}};
  for (const MeasuredCluster& cluster : clusters) {
    for (const uint32_t cpu : cluster.cpus) {
      const std::string folder =
          "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
      Json one = {{"cpu", cpu}};
      const std::string frequency = ReadLine(folder + "scaling_cur_freq");
      if (!frequency.empty()) one["frequency_khz"] = frequency;
      const std::string governor = ReadLine(folder + "scaling_governor");
      if (!governor.empty()) one["governor"] = governor;
      conditions["cpus"].push_back(std::move(one));
    }
  }
  for (int zone = 0; zone < 64; ++zone) {
    const std::string text = ReadLine("/sys/class/thermal/thermal_zone" +
                                      std::to_string(zone) + "/temp");
    if (text.empty()) break;
    conditions["temperatures_c"].push_back(std::atof(text.c_str()) / 1000);
  }
  return conditions;
}

class Profiler {
 public:
  Profiler(const takt_workload_t* workload, MeasuredMachine machine,
           std::string folder, int64_t samples)
      : workload_(workload),
        machine_(std::move(machine)),
        folder_(std::move(folder)),
        samples_(samples) {}

  Result<Json> Run() {
    AddAlternatives();
    TAKT_TOOLS_RETURN_IF_ERROR(SetUp());
    const size_t count = takt_workload_info(workload_).function_count;
    for (size_t i = 0; i < count; ++i) {
      TAKT_TOOLS_RETURN_IF_ERROR(ProfileFunction(i, count));
    }
    if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
    return ToJson();
  }

 private:
  void AddAlternatives() {
    std::vector<uint32_t> all;
    for (const MeasuredCluster& cluster : machine_.clusters) {
      all.insert(all.end(), cluster.cpus.begin(), cluster.cpus.end());
    }
    for (const MeasuredCluster& cluster : machine_.clusters) {
      for (uint32_t k = 1; k <= cluster.cpus.size(); ++k) {
        const std::vector<uint32_t> cpus(cluster.cpus.begin(),
                                         cluster.cpus.begin() + k);
        std::vector<uint32_t> rest;
        for (const uint32_t cpu : all) {
          if (std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) {
            rest.push_back(cpu);
          }
        }
        alternatives_.push_back(
            {cluster.name, k, MaskOf(cpus), MaskOf(rest.empty() ? all : rest)});
      }
    }
    core_alternative_count_ = alternatives_.size();
    for (size_t n = 0; n < machine_.npus.size(); ++n) {
      alternatives_.push_back({machine_.npus[n].name, 1, CpuMask(), MaskOf(all),
                               static_cast<int32_t>(n)});
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

  // What may go either way is to go there.
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
      options.either_way = false;
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

  // On the CPU alone if that can be, else with the first NPU that does it. It
  // is that NPU's only way then, which is told in `*npu`; kNoNpu: there is
  // none.
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
    Program program;
    program.name = subject.name;
    whole_.assign(alternatives_.size(), Samples());
    rows_.clear();
    for (size_t a = 0; a < alternatives_.size(); ++a) {
      const int32_t npu = alternatives_[a].npu;
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
      TAKT_TOOLS_RETURN_IF_ERROR(Measure(&subject, a, &program));
    }
    Keep(index, &program);
    return Status();
  }

  // Whether a call has the NPU of that alternative do anything.
  Result<bool> UsesNpu(Subject* subject, size_t a) {
    TAKT_TOOLS_RETURN_IF_ERROR(
        subject->Call(alternatives_[a].mask, TAKT_PRIORITY_DEFAULT));
    const std::vector<Dispatch> dispatches = recorder_.Take();
    return std::any_of(
        dispatches.begin(), dispatches.end(),
        [&](const Dispatch& each) { return each.npu == alternatives_[a].npu; });
  }

  void Show(size_t index, size_t count, const std::string& name,
            size_t a) const {
    if (isatty(STDERR_FILENO) == 0) return;
    std::fprintf(stderr, "\r\033[K[%zu/%zu] %s on %u of %s", index + 1, count,
                 name.c_str(), alternatives_[a].shards,
                 alternatives_[a].pool.c_str());
  }

  Status Measure(Subject* subject, size_t a, Program* program) {
    for (int64_t i = -kWarmUpCalls; i < samples_; ++i) {
      const int64_t begin_ns = takt_clock_now_ns();
      TAKT_TOOLS_RETURN_IF_ERROR(
          subject->Call(alternatives_[a].mask, TAKT_PRIORITY_DEFAULT));
      const int64_t took_ns = takt_clock_now_ns() - begin_ns;
      const std::vector<Dispatch> dispatches = recorder_.Take();
      if (i == -kWarmUpCalls && a == 0) {
        SetShape(dispatches, program);
      }
      if (i < 0) continue;
      whole_[a].push_back(took_ns);
      if (!program->is_whole) Match(dispatches, a, program);
    }
    return Status();
  }

  void SetShape(const std::vector<Dispatch>& dispatches, Program* program) {
    program->shape = dispatches;
    program->is_whole = dispatches.empty();
    rows_.assign(dispatches.size(), std::vector<Samples>(alternatives_.size()));
  }

  // The samples of a call go to the operations of the same name, in order.
  void Match(const std::vector<Dispatch>& dispatches, size_t a,
             Program* program) {
    std::vector<bool> is_taken(program->shape.size(), false);
    bool fits = dispatches.size() == program->shape.size();
    for (size_t d = 0; fits && d < dispatches.size(); ++d) {
      size_t o = 0;
      while (o < is_taken.size() &&
             (is_taken[o] || !IsSame(program->shape[o], dispatches[d]))) {
        ++o;
      }
      fits = o < is_taken.size();
      if (!fits) break;
      is_taken[o] = true;
      const int32_t npu = dispatches[d].npu;
      if (npu == kNoNpu && alternatives_[a].npu != kNoNpu) continue;
      rows_[o][npu == kNoNpu ? a : AlternativeOf(npu)].push_back(
          dispatches[d].end_ns - dispatches[d].begin_ns);
    }
    if (!fits) program->is_whole = true;
  }

  // An NPU's code may have another grid.
  static bool IsSame(const Dispatch& known, const Dispatch& dispatch) {
    return known.npu == dispatch.npu ? known.Name() == dispatch.Name()
                                     : known.function == dispatch.function;
  }

  size_t AlternativeOf(int32_t npu) const {
    return core_alternative_count_ + static_cast<size_t>(npu);
  }

  // Files the operations under their kernels. Those of a group follow all of
  // the group before: there was a barrier between.
  void Keep(size_t index, Program* program) {
    const takt_workload_function_t given =
        takt_workload_function(workload_, index);
    const std::string module =
        takt_workload_module(workload_, given.module).name;
    if (program->is_whole) {
      Kernel& kernel = kernels_[program->name];
      kernel = {module, program->name, {1, 1, 1}, whole_};
      // No NPU does all of it.
      for (size_t a = core_alternative_count_; a < alternatives_.size(); ++a) {
        kernel.samples[a] = Samples();
      }
      program->kernels = {program->name};
      program->after = {{}};
    } else {
      size_t group_begin = 0;
      size_t before_begin = 0;
      for (size_t o = 0; o < program->shape.size(); ++o) {
        const Dispatch& dispatch = program->shape[o];
        if (o > 0 && program->shape[o - 1].group != dispatch.group) {
          before_begin = group_begin;
          group_begin = o;
        }
        program->after.emplace_back();
        for (size_t b = before_begin; b < group_begin; ++b) {
          program->after.back().push_back(b);
        }
        const std::string name = module + "." + dispatch.Name();
        program->kernels.push_back(name);
        Kernel& kernel = kernels_[name];
        if (kernel.samples.empty()) {
          kernel.module = module;
          kernel.function = dispatch.function;
          std::copy_n(dispatch.grid, 3, kernel.grid);
          kernel.samples.resize(alternatives_.size());
        }
        for (size_t a = 0; a < alternatives_.size(); ++a) {
          Samples& all = kernel.samples[a];
          all.insert(all.end(), rows_[o][a].begin(), rows_[o][a].end());
        }
      }
    }
    calls_.push_back(whole_);
    programs_.push_back(std::move(*program));
  }

  Json KernelJson(const std::string& name, const Kernel& kernel) const {
    Json json = {{"name", name},
                 {"module_name", kernel.module},
                 {"function", kernel.function},
                 {"grid", kernel.grid},
                 {"alternatives", Json::array()}};
    const uint64_t workgroups =
        uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
    for (size_t a = 0; a < alternatives_.size(); ++a) {
      const Samples& samples = kernel.samples[a];
      if (samples.empty()) continue;
      Json row = {{"pool", alternatives_[a].pool},
                  {"shards", alternatives_[a].shards},
                  {"measured", true}};
      row.update(QuantilesJson(samples));
      // On an NPU it is done as a whole.
      const bool is_npu = alternatives_[a].npu != kNoNpu;
      // Workgroups are what others are looked for between; a tile is one, on
      // one core, as long as the slowest runs of all of them make it.
      Samples one_core;
      if (!is_npu) one_core = kernel.samples[FirstOf(a)];
      std::sort(one_core.begin(), one_core.end());
      if (!one_core.empty() && workgroups > 0) {
        row["tile_us"] =
            Us(Quantile(one_core, 99) / static_cast<int64_t>(workgroups));
      }
      json["alternatives"].push_back(std::move(row));
    }
    return json;
  }

  // The alternative of one core of the same pool.
  size_t FirstOf(size_t alternative) const {
    return alternative - (alternatives_[alternative].shards - 1);
  }

  Json FunctionJson(size_t index) const {
    const takt_workload_function_t given =
        takt_workload_function(workload_, index);
    const Module& module = modules_[given.module];
    const std::string name = given.name;
    const size_t at = takt_module_find_export(
        module.get(), name.substr(name.find('.') + 1).c_str());
    Json attributes = Json::object();
    for (size_t i = 0; i < takt_module_export_attribute_count(module.get(), at);
         ++i) {
      const std::string key =
          takt_module_export_attribute_key(module.get(), at, i);
      if (!key.starts_with("takt.")) continue;
      attributes[key] = takt_module_export_attribute_value(module.get(), at, i);
    }
    Json calls = Json::array();
    for (size_t a = 0; a < alternatives_.size(); ++a) {
      if (calls_[index][a].empty()) continue;
      Json row = {{"pool", alternatives_[a].pool},
                  {"shards", alternatives_[a].shards}};
      row.update(QuantilesJson(calls_[index][a]));
      calls.push_back(std::move(row));
    }
    return {{"name", name}, {"attributes", attributes}, {"calls", calls}};
  }

  Json ToJson() const {
    Json json = {{"format", "takt-profile"},
                 {"version", 1},
                 {"topology", machine_.json},
                 {"conditions", ConditionsJson(machine_.clusters)},
                 {"modules", Json::array()},
                 {"functions", Json::array()},
                 {"kernels", Json::array()},
                 {"programs", Json::array()}};
    for (const Module& module : modules_) {
      char hash[32];
      std::snprintf(hash, sizeof(hash), "%016llx",
                    static_cast<unsigned long long>(
                        takt_module_content_hash(module.get())));
      json["modules"].push_back(
          {{"name", module.name()}, {"content_hash", hash}});
    }
    for (size_t i = 0; i < programs_.size(); ++i) {
      json["functions"].push_back(FunctionJson(i));
    }
    for (const auto& [name, kernel] : kernels_) {
      json["kernels"].push_back(KernelJson(name, kernel));
    }
    for (const Program& program : programs_) {
      Json operations = Json::array();
      for (size_t o = 0; o < program.kernels.size(); ++o) {
        operations.push_back(
            {{"kernel", program.kernels[o]}, {"after", program.after[o]}});
      }
      json["programs"].push_back(
          {{"name", program.name}, {"operations", operations}});
    }
    return json;
  }

  const takt_workload_t* const workload_;
  const MeasuredMachine machine_;
  const std::string folder_;
  const int64_t samples_;
  std::string all_cpus_;
  // Those of cores, then an NPU each.
  std::vector<Alternative> alternatives_;
  size_t core_alternative_count_ = 0;
  Recorder recorder_;  // Outlives the device that tells it.
  Instance instance_;
  Device device_;
  std::vector<std::optional<Device>> npu_devices_;  // By NPU.
  std::vector<Module> modules_;
  std::vector<std::vector<Parameters>> parameters_;  // By module.
  // Of the function that is measured: by alternative, and by operation.
  std::vector<Samples> whole_;
  std::vector<std::vector<Samples>> rows_;
  std::map<std::string, Kernel> kernels_;
  std::vector<Program> programs_;
  std::vector<std::vector<Samples>> calls_;  // By function.
};

// How many times as long as usual the slowest hundredth takes on a machine that
// others use, too. An idle one stays below 2.
constexpr double kNoisyRatio = 3;

// The functions with what one call takes, and a warning if the machine was
// busy with other things.
void PrintProfile(const Json& profile) {
  size_t count = 0;
  size_t noisy_count = 0;
  double worst = 0;
  std::string worst_name;
  std::printf("%-32s %-12s %6s %12s %12s\n", "function", "pool", "cores",
              "median us", "99 % us");
  for (const Json& function : profile["functions"]) {
    const std::string name = function["name"];
    for (const Json& call : function["calls"]) {
      const auto median = call["q50_us"].get<double>();
      const auto slow = call["q99_us"].get<double>();
      std::printf("%-32s %-12s %6s %12.3f %12.3f\n", name.c_str(),
                  call["pool"].get<std::string>().c_str(),
                  call["shards"].dump().c_str(), median, slow);
      ++count;
      const double ratio = median > 0 ? slow / median : 0;
      if (ratio > kNoisyRatio) ++noisy_count;
      if (ratio > worst) {
        worst = ratio;
        worst_name = name;
      }
    }
  }
  std::printf("%zu functions, %zu kernels\n", profile["functions"].size(),
              profile["kernels"].size());
  std::fflush(stdout);
  if (noisy_count == 0) return;
  std::fprintf(stderr,
               "takt-plan: warning: the machine was noisy: in %zu of %zu rows "
               "the 99 %% quantile is more than %g times the median (%s: %.1f "
               "times); plans of this profile will be too careful\n",
               noisy_count, count, kNoisyRatio, worst_name.c_str(), worst);
}

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
