// The test calls every exported function with NULL for each of its pointers in
// turn; the other arguments are valid objects and memory. A function must
// refuse NULL by the parameter's name, unless the parameter may be NULL, and
// must not crash.
//
// The calls run in a child process. After a crash the parent reports the
// function and starts another child behind it.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "takt/tools/tools.h"
#include "tests/api/fixture.h"

namespace {

// Parameters that may be NULL, of functions that return a status. Options, user
// data and the fences of queues may be NULL in every function.
constexpr const char* kMayBeNull[] = {
    "takt_async_invoke.out_invocation",
    "takt_buffer_view_copy_from_host.data",
    "takt_buffer_wrap.release",
    "takt_byte_buffer_create.data",
    "takt_device_describe_buffer.query",
    "takt_fence_explain.fence",
    "takt_fence_export_fd.fence",
    "takt_fence_query.fence",
    "takt_fence_wait.fence",
    "takt_fence_wait.instance",
    "takt_fence_wait_many.instance",
    "takt_fence_wait_many.out_index",
    "takt_file_wrap.release",
    "takt_instance_run_ready.out_next_ns",
    "takt_instance_run_ready.out_ran",
    "takt_object_type_register.destroy",
    "takt_plan_load.name",
    "takt_plan_problem_create.side_constraints",
    "takt_plan_run_query_operation.out_end",
    "takt_plan_run_query_operation.out_start",
    "takt_plan_run_replace.out_at_ns",
    "takt_plan_solve.out_report",
    "takt_queue_host_call.release",
    "takt_scheduler_load_profile.out_record_count",
    "takt_scheduler_set_callbacks.on_miss",
    "takt_scheduler_set_callbacks.on_mode",
    "takt_status_clone.status",
    "takt_status_create.message",
    "takt_stream_map_input.out_byte_length",
    "takt_workload_plan.out_report",
};
// Options that must not be NULL.
constexpr const char* kNeedsOptions[] = {
    "takt_context_create.options",
    "takt_native_module_create.options",
    "takt_stream_create.options",
};

bool Has(absl::Span<const char* const> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool MayBeNull(const std::string& function, const std::string& parameter) {
  const std::string name = function + "." + parameter;
  if (parameter == "options") return !Has(kNeedsOptions, name);
  return parameter == "user_data" || parameter == "wait_fence" ||
         parameter == "signal_fence" || Has(kMayBeNull, name);
}

struct Case {
  const char* function;
  bool speaks_of_null;  // The comment above the declaration.
  std::vector<const char*> parameters;
  // Makes the calls; the number of failures.
  int (*run)(const Case&);
};

// One object of each kind.
struct Objects {
  Objects();

  takt_instance_t* instance;
  takt_device_t* device = nullptr;
  takt_module_t* module = nullptr;
  takt_context_t* context = nullptr;
  takt_function_t* function = nullptr;
  takt_buffer_t* buffer = nullptr;
  takt_buffer_view_t* view = nullptr;
  takt_byte_buffer_t* byte_buffer = nullptr;
  takt_command_buffer_t* command_buffer = nullptr;
  takt_executable_t* executable = nullptr;
  takt_executor_t* executor = nullptr;
  takt_fence_t* fence = nullptr;
  takt_file_t* file = nullptr;
  takt_invocation_t* invocation = nullptr;
  takt_list_t* list = nullptr;
  takt_object_type_t* type = nullptr;
  takt_parameters_t* parameters = nullptr;
  takt_plan_problem_t* problem = nullptr;
  takt_plan_schedule_t* schedule = nullptr;
  takt_module_contents_t* module_contents = nullptr;
  takt_plan_contents_t* plan_contents = nullptr;
  takt_plan_t* plan = nullptr;
  takt_plan_run_t* run = nullptr;
  takt_stream_t* stream = nullptr;
  takt_timeline_t* timeline = nullptr;
  takt_topology_t* topology = nullptr;
  takt_trace_contents_t* trace_contents = nullptr;
  takt_trace_t* trace = nullptr;
  takt_workload_t* workload = nullptr;
};

constexpr char kProblem[] = "1 1\n1 1 1 5\n";
// One kernel of a module whose content has the hash.
constexpr char kProfile[] =
    R"({"format": "takt-profile", "version": 1,
        "modules": [{"name": "simple", "content_hash": "%016)" PRIx64 R"("}],
        "functions": [{"name": "simple.mul"}],
        "kernels": [{"name": "k", "module_name": "simple", "alternatives":
          [{"pool": "a", "q50_us": 9, "q90_us": 9, "q99_us": 9,
            "samples": 9}]}],
        "programs": [{"name": "simple.mul",
          "operations": [{"kernel": "k"}]}]})";
constexpr char kWorkload[] =
    R"({"name": "w", "topology": {"clusters": [{"name": "a", "cpus": "0"}]},
        "modules": [{"name": "simple", "file": "m.vmfb"}],
        "functions": [{"function": "simple.mul"}],
        "streams": [{"name": "s", "function": "simple.mul", "period_ms": 9}]})";

Objects::Objects() : instance(create_instance_with_policy(1, "job-shop")) {
  device = create_device(instance, "local-task");
  module = load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  context = create_context(instance, device, module);
  function = find_function(context, "mul");
  const float values[4] = {1, 2, 3, 4};
  view = float_view(device, 4, values);
  buffer = takt_buffer_view_buffer(view);
  REQUIRE_OK(takt_byte_buffer_create(nullptr, 16, &byte_buffer));
  REQUIRE_OK(takt_command_buffer_create(device, nullptr, &command_buffer));
  takt_rodata_info_t code = {};
  REQUIRE_OK(takt_module_contents_create(module, &module_contents));
  const size_t rodata_count =
      takt_module_contents_rodata_count(module_contents);
  for (size_t i = 0; i < rodata_count; ++i) {
    const takt_rodata_info_t rodata =
        takt_module_contents_rodata(module_contents, i);
    if (strstr(rodata.executable_format, "vmvx") != nullptr) code = rodata;
  }
  REQUIRE_OK(takt_executable_load(device, "vmvx-bytecode-fb", code.data,
                                  code.byte_length, 0, nullptr, &executable));
  REQUIRE_OK(takt_executor_create(instance, nullptr, &executor));
  REQUIRE_OK(takt_fence_create(&fence));
  static char memory[64];
  REQUIRE_OK(takt_file_wrap(memory, sizeof(memory),
                            TAKT_ACCESS_READ | TAKT_ACCESS_WRITE, nullptr,
                            nullptr, &file));
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  REQUIRE_OK(takt_async_invoke(function, nullptr, 2, arguments, nullptr,
                               nullptr, &invocation));
  REQUIRE_OK(takt_list_create(TAKT_VALUE_I32, 4, &list));
  REQUIRE_OK(takt_object_type_register(instance, "test.type", nullptr, &type));
  REQUIRE_OK(takt_parameters_open(instance, TESTDATA("models/weights.irpa"),
                                  nullptr, &parameters));
  REQUIRE_OK(takt_plan_problem_parse(kProblem, strlen(kProblem),
                                     TAKT_PLAN_FORMAT_FJS, &problem));
  REQUIRE_OK(takt_plan_solve(problem, nullptr, &schedule, nullptr));
  takt_stream_options_t stream_options;
  takt_stream_options_init(&stream_options);
  stream_options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  REQUIRE_OK(takt_stream_create(function, &stream_options, &stream));
  REQUIRE_OK(takt_timeline_create(0, &timeline));
  REQUIRE_OK(takt_topology_discover(&topology));
  REQUIRE_OK(takt_tracing_start(instance, nullptr));
  REQUIRE_OK(takt_tracing_collect(instance, &trace));
  REQUIRE_OK(takt_trace_contents_create(trace, &trace_contents));
  char profile[sizeof(kProfile) + 16];
  takt_workload_options_t workload_options;
  takt_workload_options_init(&workload_options);
  workload_options.profile = profile;
  workload_options.profile_length = static_cast<size_t>(snprintf(
      profile, sizeof(profile), kProfile, takt_module_content_hash(module)));
  REQUIRE_OK(takt_workload_parse(kWorkload, strlen(kWorkload),
                                 &workload_options, &workload));
  REQUIRE_OK(takt_workload_plan(workload, nullptr, &plan, nullptr));
  REQUIRE_OK(takt_plan_contents_create(plan, &plan_contents));
  takt_plan_binding_t binding = {};
  binding.stream = "s";
  binding.functions = &function;
  binding.function_count = 1;
  binding.arguments = arguments;
  binding.argument_count = 2;
  REQUIRE_OK(takt_plan_run_create(instance, plan, 1, &binding, nullptr, &run));
}

Objects* objects = nullptr;

// What a parameter of a type gets that is not NULL.
template <typename T>
T Argument() {
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    if constexpr (std::is_function_v<Target>) {
      return [](auto...) {
        using Result = typename decltype(std::function(T()))::result_type;
        return Result();
      };
    } else {
      // Zeros, and enough of them; what has a struct_size gets it.
      alignas(64) static char memory[4096];
      std::memset(memory, 0, sizeof(memory));
      if constexpr (requires(Target * target) { target->struct_size; }) {
        const size_t size = sizeof(Target);
        std::memcpy(memory, &size, sizeof(size));
      }
      return reinterpret_cast<T>(memory);
    }
  } else if constexpr (std::is_same_v<T, size_t> ||
                       std::is_same_v<T, uint32_t>) {
    return 1;  // The length of arrays, too.
  } else if constexpr (std::is_same_v<T, int>) {
    return -1;  // A file descriptor.
  } else {
    return T();
  }
}
#define OBJECT(handle, member)                 \
  template <>                                  \
  [[maybe_unused]] handle* Argument() {        \
    return objects->member;                    \
  }                                            \
  template <>                                  \
  [[maybe_unused]] const handle* Argument() {  \
    return objects->member;                    \
  }                                            \
  template <>                                  \
  [[maybe_unused]] handle* const* Argument() { \
    return &objects->member;                   \
  }
OBJECT(takt_instance_t, instance)
OBJECT(takt_device_t, device)
OBJECT(takt_module_t, module)
OBJECT(takt_context_t, context)
OBJECT(takt_function_t, function)
OBJECT(takt_buffer_t, buffer)
OBJECT(takt_buffer_view_t, view)
OBJECT(takt_byte_buffer_t, byte_buffer)
OBJECT(takt_command_buffer_t, command_buffer)
OBJECT(takt_executable_t, executable)
OBJECT(takt_executor_t, executor)
OBJECT(takt_fence_t, fence)
OBJECT(takt_file_t, file)
OBJECT(takt_invocation_t, invocation)
OBJECT(takt_list_t, list)
OBJECT(takt_object_type_t, type)
OBJECT(takt_parameters_t, parameters)
OBJECT(takt_plan_problem_t, problem)
OBJECT(takt_plan_schedule_t, schedule)
OBJECT(takt_module_contents_t, module_contents)
OBJECT(takt_plan_contents_t, plan_contents)
OBJECT(takt_plan_t, plan)
OBJECT(takt_plan_run_t, run)
OBJECT(takt_stream_t, stream)
OBJECT(takt_timeline_t, timeline)
OBJECT(takt_topology_t, topology)
OBJECT(takt_trace_contents_t, trace_contents)
OBJECT(takt_trace_t, trace)
OBJECT(takt_workload_t, workload)
#undef OBJECT
template <>
takt_object_t* Argument() {
  return reinterpret_cast<takt_object_t*>(objects->list);
}
template <>
const takt_object_t* Argument() {
  return Argument<takt_object_t*>();
}
template <>
takt_signature_t* Argument() {
  return takt_function_signature(objects->function);
}
template <>
const takt_signature_t* Argument() {
  return Argument<takt_signature_t*>();
}
template <>
takt_status_t Argument() {
  return takt_status_create(TAKT_STATUS_ABORTED, "a status");
}
template <>
const char* Argument() {
  return "/nonexistent/file";
}
template <>
const takt_npu_driver_t* Argument() {
  return takt_npu_host_driver();
}

int Fail(const std::string& call, const std::string& what) {
  fprintf(stderr, "%s: %s\n", call.c_str(), what.c_str());
  return 1;
}

int CheckStatus(const Case& c, const char* parameter, takt_status_t status) {
  const std::string call = std::string(c.function) + "." + parameter;
  if (MayBeNull(c.function, parameter)) {
    takt_status_free(status);
    return 0;
  }
  const takt_status_code_t code = takt_status_code(status);
  const std::string message = takt_status_message(status);
  const std::string source = takt_status_source(status);
  takt_status_free(status);
  if (code != TAKT_STATUS_INVALID_ARGUMENT ||
      message != std::string(parameter) + " is NULL" || source != c.function) {
    return Fail(call, std::string("NULL gives ") + takt_status_code_name(code) +
                          ": " + message + " (" + source + ")");
  }
  return 0;
}

// Calls `function` with NULL for argument `null`, if that is a pointer.
template <typename Result, typename... Parameters, size_t... Indices>
int CallWithNull(const Case& c, Result (*function)(Parameters...), size_t null,
                 std::index_sequence<Indices...>) {
  const auto argument = []<typename T>(bool is_null) -> T {
    return is_null ? T() : Argument<T>();
  };
  const auto call = [&] {
    return function(
        argument.template operator()<Parameters>(Indices == null)...);
  };
  if constexpr (std::is_same_v<Result, takt_status_t>) {
    return CheckStatus(c, c.parameters[null], call());
  } else {
    call();
    return 0;
  }
}

template <auto function>
struct Calls;
template <typename Result, typename... Parameters,
          Result (*function)(Parameters...)>
struct Calls<function> {
  static int Run(const Case& c) {
    constexpr bool kIsPointer[] = {std::is_pointer_v<Parameters>..., false};
    if (c.parameters.size() != sizeof...(Parameters)) {
      return Fail(c.function, "the parameters were not understood");
    }
    int failures = 0;
    for (size_t i = 0; i < sizeof...(Parameters); ++i) {
      if (!kIsPointer[i]) continue;
      alarm(120);  // A hang ends like a crash.
      failures += CallWithNull(c, function, i,
                               std::index_sequence_for<Parameters...>());
    }
    return failures;
  }
};

const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
#define NULL_CALL(function, speaks_of_null, ...) \
  {#function, speaks_of_null, {__VA_ARGS__}, &Calls<&function>::Run},
#include "null_calls.inc"
#undef NULL_CALL
  };
  return *cases;
}

// What the children tell the parent.
struct Progress {
  size_t next;
  size_t failures;
};

[[noreturn]] void RunCases(Progress* progress) {
  objects = new Objects;
  while (progress->next < Cases().size()) {
    const Case& c = Cases()[progress->next];
    progress->failures += static_cast<size_t>(c.run(c));
    ++progress->next;
  }
  _exit(0);
}

TEST(NullCallsTest, NoPointerMayCrashOrPassUnnoticed) {
  auto* const progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(progress, MAP_FAILED);
  while (progress->next < Cases().size()) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) RunCases(progress);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (progress->next == Cases().size()) break;
    ADD_FAILURE() << Cases()[progress->next].function
                  << " ends the program, status " << status;
    ++progress->next;
  }
  EXPECT_EQ(progress->failures, 0u);
  munmap(progress, sizeof(Progress));
}

TEST(NullCallsTest, OptionalPointersAreDocumented) {
  for (const Case& c : Cases()) {
    for (const char* parameter : c.parameters) {
      const std::string name = std::string(c.function) + "." + parameter;
      if (!Has(kMayBeNull, name)) continue;
      EXPECT_TRUE(c.speaks_of_null || strcmp(parameter, "fence") == 0) << name;
    }
  }
}

}  // namespace
