/* Traces: what an instance records, how much it keeps, and what becomes of it.
 */
#include "takt/trace.h"

#include <unistd.h>

#include "tests/analysis/contents.h"
#include "tests/api/fixture.h"

static const char* const kMul = TESTDATA("api/simple_mul.vmfb");
static const char* const kMulAsync = TESTDATA("api/simple_mul_async.vmfb");

static void call_mul(fixture_t* f) {
  takt_function_t* function = find_function(f->context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f->device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
  takt_values_release(1, &result);
  takt_buffer_view_release(view);
  takt_function_release(function);
}

static takt_trace_t* collect(takt_instance_t* instance) {
  takt_trace_t* trace = NULL;
  REQUIRE_OK(takt_tracing_collect(instance, &trace));
  return trace;
}

/* The first event of that kind and name ("": any) from `*index` on, which
 * becomes the next; kind NULL if there is none. */
static takt_trace_event_t find_event(const takt_trace_contents_t* trace,
                                     const char* kind, const char* name,
                                     size_t* index) {
  size_t none = 0;
  if (index == NULL) index = &none;
  const size_t count = takt_trace_contents_info(trace).event_count;
  while (*index < count) {
    const takt_trace_event_t event =
        takt_trace_contents_event(trace, (*index)++);
    if (strcmp(event.kind, kind) == 0 &&
        (name[0] == '\0' || strcmp(event.name, name) == 0)) {
      return event;
    }
  }
  return takt_trace_contents_event(trace, count);
}

static void expect_no_faults(const takt_trace_contents_t* trace) {
  uint64_t count = 99;
  char* text = NULL;
  REQUIRE_OK(takt_trace_contents_check(trace, &count, &text));
  EXPECT(count == 0);
  EXPECT_TEXT(text, "");
  takt_string_free(text);
}

/* From the invocation to the tiles. */
static void records_a_call(const char* device) {
  fixture_t f = fixture_create(device, kMul);
  call_mul(&f);
  REQUIRE_OK(takt_tracing_start(f.instance, NULL));
  call_mul(&f);
  takt_tracing_stop(f.instance);
  call_mul(&f);
  takt_trace_contents_t* trace = collect_contents(f.instance);
  const takt_trace_info_t info = takt_trace_contents_info(trace);
  EXPECT(info.lost_count == 0);
  EXPECT(!info.is_simulated);
  EXPECT(info.end_ns > info.begin_ns);

  size_t index = 0;
  const takt_trace_event_t begin =
      find_event(trace, "invocation_begin", "simple.mul", &index);
  EXPECT(begin.id != 0);
  const takt_trace_event_t issued =
      find_event(trace, "operation_issued", "execute", NULL);
  EXPECT(issued.id != 0);
  EXPECT(issued.parent == begin.id);
  const takt_trace_event_t dispatch = find_event(trace, "dispatch", "", NULL);
  EXPECT_CONTAINS(dispatch.name, "mul_dispatch");
  EXPECT(dispatch.id == issued.id);
  EXPECT(dispatch.duration_ns > 0);
  EXPECT(dispatch.time_ns >= issued.time_ns);
  EXPECT((uint32_t)dispatch.value >= 1);
  EXPECT(takt_trace_contents_track(trace, dispatch.track).name != NULL);
  const takt_trace_event_t done =
      find_event(trace, "operation_done", "execute", NULL);
  EXPECT(done.id == issued.id);
  EXPECT(done.value == 0);
  EXPECT(find_event(trace, "alloca", "", NULL).value > 0);
  const takt_trace_event_t end =
      find_event(trace, "invocation_end", "simple.mul", NULL);
  EXPECT(end.id == begin.id);
  EXPECT(end.value == 0);
  /* One call only. */
  EXPECT(find_event(trace, "invocation_begin", "", &index).kind == NULL);
  expect_no_faults(trace);
  takt_trace_contents_release(trace);
  fixture_destroy(&f);
}

static void records_async_calls_and_parking(void) {
  fixture_t f = fixture_create("local-task", kMulAsync);
  REQUIRE_OK(takt_tracing_start(f.instance, NULL));
  takt_function_t* function = find_function(f.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f.device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_fence_t* wait = NULL;
  takt_fence_t* signal = NULL;
  REQUIRE_OK(takt_fence_create(&wait));
  REQUIRE_OK(takt_fence_create(&signal));
  REQUIRE_OK(
      takt_async_invoke(function, NULL, 2, arguments, wait, signal, NULL));
  takt_trace_contents_t* before = collect_contents(f.instance);
  EXPECT(find_event(before, "operation_issued", "execute", NULL).id != 0);
  EXPECT(find_event(before, "operation_ready", "execute", NULL).kind == NULL);
  EXPECT(find_event(before, "invocation_end", "", NULL).kind == NULL);
  takt_trace_contents_release(before);
  REQUIRE_OK(takt_fence_signal(wait));
  REQUIRE_OK(takt_fence_wait(signal, f.instance, TAKT_INFINITE_FUTURE));
  takt_tracing_stop(f.instance);
  takt_trace_contents_t* trace = collect_contents(f.instance);
  EXPECT(find_event(trace, "operation_ready", "execute", NULL).id != 0);
  EXPECT(find_event(trace, "fence_signaled", "", NULL).id != 0);
  /* It ends with its device work. */
  const takt_trace_event_t end = find_event(trace, "invocation_end", "", NULL);
  EXPECT(end.kind != NULL && end.value == 0);
  EXPECT(end.time_ns >=
         find_event(trace, "operation_ready", "execute", NULL).time_ns);
  expect_no_faults(trace);
  takt_trace_contents_release(trace);
  takt_fence_release(wait);
  takt_fence_release(signal);
  takt_buffer_view_release(view);
  takt_function_release(function);
  fixture_destroy(&f);
}

/* Each decision, on the track of the scheduler or of the resource that it is
 * about. The last core is lost; it comes back at once if it is the only one. */
static void records_what_the_scheduler_decides(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 2, kMul);
  REQUIRE_OK(takt_tracing_start(f.instance, NULL));
  call_mul(&f);
  REQUIRE_OK(takt_scheduler_set_speed(f.instance, "cores", 500));
  size_t core_count = 0;
  REQUIRE_OK(takt_scheduler_query_resources(f.instance, 0, NULL, &core_count));
  const uint32_t last_core = (uint32_t)core_count - 1;
  REQUIRE_OK(takt_scheduler_set_available(f.instance, last_core, false));
  if (core_count == 1) {
    REQUIRE_OK(takt_scheduler_set_available(f.instance, last_core, true));
  }
  call_mul(&f);
  takt_tracing_stop(f.instance);
  takt_trace_contents_t* trace = collect_contents(f.instance);

  size_t index = 0;
  const takt_trace_event_t start =
      find_event(trace, "decision_start", "", &index);
  EXPECT_CONTAINS(start.name, "mul_dispatch");
  EXPECT(takt_trace_contents_track(trace, start.track).kind ==
         TAKT_TRACE_TRACK_SCHEDULER);
  EXPECT(start.value == 0 || start.value == 1);
  EXPECT(start.time_ns <= find_event(trace, "dispatch", "", NULL).time_ns);
  const takt_trace_event_t speed =
      find_event(trace, "resource_speed", "", &index);
  EXPECT(speed.value == 500);
  EXPECT(takt_trace_contents_track(trace, speed.track).kind ==
         TAKT_TRACE_TRACK_CORE);
  const takt_trace_event_t lost =
      find_event(trace, "resource_available", "", &index);
  EXPECT(lost.value == 0);
  EXPECT(core_count == 1 || lost.track != speed.track);
  const takt_trace_event_t again =
      find_event(trace, "decision_start", "", &index);
  EXPECT(again.kind != NULL && again.id != start.id);
  EXPECT(again.value == 0);
  EXPECT(find_event(trace, "decision_start", "", &index).kind == NULL);
  expect_no_faults(trace);
  takt_trace_contents_release(trace);
  fixture_destroy(&f);
}

static void on_done(void* user_data, const takt_stream_job_t* job,
                    takt_status_t status, size_t result_count,
                    const takt_value_t* results) {
  (void)job;
  (void)result_count;
  (void)results;
  takt_status_free(status);
  takt_status_free(takt_fence_signal((takt_fence_t*)user_data));
}

static void records_the_jobs_of_streams(void) {
  fixture_t f = fixture_create("local-task", kMul);
  takt_function_t* function = find_function(f.context, "mul");
  takt_fence_t* done = NULL;
  REQUIRE_OK(takt_fence_create(&done));
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  options.deadline_ns = 3600000000000;
  options.on_done = on_done;
  options.user_data = done;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(function, &options, &stream));
  REQUIRE_OK(takt_tracing_start(f.instance, NULL));
  REQUIRE_OK(takt_stream_start(stream, 0));
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f.device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  REQUIRE_OK(takt_stream_set_input(stream, 2, arguments));
  REQUIRE_OK(takt_fence_wait(done, f.instance, TAKT_INFINITE_FUTURE));
  takt_tracing_stop(f.instance);
  takt_trace_contents_t* trace = collect_contents(f.instance);
  const takt_trace_event_t released =
      find_event(trace, "job_released", "simple.mul", NULL);
  EXPECT(released.value > released.time_ns); /* The deadline. */
  const takt_trace_track_t track =
      takt_trace_contents_track(trace, released.track);
  EXPECT(track.kind == TAKT_TRACE_TRACK_STREAM);
  EXPECT_TEXT(track.name, "simple.mul");
  const takt_trace_event_t met =
      find_event(trace, "job_met", "simple.mul", NULL);
  EXPECT(met.id == released.id);
  EXPECT(met.value > 0);
  EXPECT(find_event(trace, "invocation_begin", "", NULL).parent == released.id);
  char* summary = NULL;
  REQUIRE_OK(takt_trace_contents_summarize(trace, true, &summary));
  EXPECT_CONTAINS(summary, "\"met\": 1");
  takt_string_free(summary);
  takt_trace_contents_release(trace);
  takt_stream_stop(stream);
  takt_stream_release(stream);
  takt_buffer_view_release(view);
  takt_fence_release(done);
  takt_function_release(function);
  fixture_destroy(&f);
}

static void keeps_the_last_events_and_counts_the_others(void) {
  fixture_t f = fixture_create("local-sync", kMul);
  takt_tracing_options_t options;
  takt_tracing_options_init(&options);
  options.event_count_max = 8;
  REQUIRE_OK(takt_tracing_start(f.instance, &options));
  for (int i = 0; i < 5; ++i) call_mul(&f);
  takt_trace_contents_t* trace = collect_contents(f.instance);
  EXPECT(takt_trace_contents_info(trace).event_count == 8);
  EXPECT(takt_trace_contents_info(trace).lost_count > 8);
  EXPECT_TEXT(takt_trace_contents_event(trace, 7).kind, "invocation_end");
  expect_no_faults(trace);
  takt_trace_contents_release(trace);
  takt_tracing_stop(f.instance);
  fixture_destroy(&f);
}

static void refuses_what_makes_no_sense(void) {
  takt_instance_t* instance = create_instance(0);
  takt_tracing_options_t options;
  takt_tracing_options_init(&options);
  options.event_count_max = 0;
  EXPECT_ERROR(takt_tracing_start(instance, &options),
               TAKT_STATUS_INVALID_ARGUMENT, "event_count_max");
  takt_tracing_options_init(&options);
  options.thread_count_max = 5000;
  EXPECT_ERROR(takt_tracing_start(instance, &options),
               TAKT_STATUS_INVALID_ARGUMENT, "thread_count_max");
  options.struct_size = 0;
  EXPECT_ERROR(takt_tracing_start(instance, &options),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  EXPECT_ERROR(takt_tracing_start(NULL, NULL), TAKT_STATUS_INVALID_ARGUMENT,
               "instance");
  REQUIRE_OK(takt_tracing_start(instance, NULL));
  EXPECT_ERROR(takt_tracing_start(instance, NULL),
               TAKT_STATUS_FAILED_PRECONDITION, "already");
  takt_trace_t* trace = (takt_trace_t*)instance;
  EXPECT_ERROR(takt_tracing_collect(NULL, &trace), TAKT_STATUS_INVALID_ARGUMENT,
               "instance");
  EXPECT(trace == NULL);
  takt_tracing_stop(instance);
  takt_tracing_stop(instance);
  REQUIRE_OK(takt_tracing_start(instance, NULL));
  takt_instance_release(instance);
}

static bool append(void* user_data, const void* data, size_t byte_length) {
  return fwrite(data, 1, byte_length, (FILE*)user_data) == byte_length;
}

static bool refuse(void* user_data, const void* data, size_t byte_length) {
  (void)data;
  (void)byte_length;
  ++*(int*)user_data;
  return false;
}

static void writes_files_and_reads_them(void) {
  fixture_t f = fixture_create("local-task", kMul);
  REQUIRE_OK(takt_tracing_start(f.instance, NULL));
  call_mul(&f);
  takt_trace_t* trace = collect(f.instance);
  fixture_destroy(&f); /* The trace is a copy. */
  char path[] = "/tmp/takt-trace-XXXXXX";
  const int file = mkstemp(path);
  EXPECT(file >= 0);
  close(file);
  REQUIRE_OK(takt_trace_write_file(trace, TAKT_TRACE_FORMAT_PERFETTO, path));
  takt_trace_t* back = NULL;
  REQUIRE_OK(takt_trace_load_file(path, &back));
  takt_trace_contents_t* written = trace_contents(trace);
  takt_trace_contents_t* read = trace_contents(back);
  EXPECT(takt_trace_contents_info(read).event_count ==
         takt_trace_contents_info(written).event_count);
  EXPECT(takt_trace_contents_event(read, 3).time_ns ==
         takt_trace_contents_event(written, 3).time_ns);
  takt_trace_contents_release(read);
  takt_trace_contents_release(written);
  takt_trace_retain(back);
  takt_trace_release(back);
  takt_trace_release(back);
  takt_trace_release(NULL);

  FILE* stream = tmpfile();
  REQUIRE_OK(takt_trace_write(trace, TAKT_TRACE_FORMAT_JSON, append, stream));
  EXPECT(ftell(stream) > 100);
  fclose(stream);
  int calls = 0;
  EXPECT_ERROR(takt_trace_write(trace, TAKT_TRACE_FORMAT_TEXT, refuse, &calls),
               TAKT_STATUS_ABORTED, "sink");
  EXPECT(calls == 1);
  EXPECT_ERROR(takt_trace_write(trace, (takt_trace_format_t)77, append, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "format is 77");
  EXPECT_ERROR(takt_trace_write(trace, TAKT_TRACE_FORMAT_HTML, NULL, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "sink");
  EXPECT_ERROR(
      takt_trace_write_file(trace, TAKT_TRACE_FORMAT_HTML, "/nowhere/t"),
      TAKT_STATUS_NOT_FOUND, "/nowhere/t");
  REQUIRE_OK(takt_trace_write_file(trace, TAKT_TRACE_FORMAT_HTML, path));
  EXPECT_ERROR(takt_trace_load_file(path, &back), TAKT_STATUS_DATA_LOSS, path);
  EXPECT(back == NULL);
  unlink(path);
  EXPECT_ERROR(takt_trace_load_file(path, &back), TAKT_STATUS_NOT_FOUND, path);
  EXPECT_ERROR(takt_trace_load("\n\xff", 2, &back), TAKT_STATUS_DATA_LOSS,
               "byte 0");
  EXPECT_ERROR(takt_trace_load(NULL, 2, &back), TAKT_STATUS_INVALID_ARGUMENT,
               "data");
  EXPECT_ERROR(takt_trace_load(NULL, 0, &back), TAKT_STATUS_INVALID_ARGUMENT,
               "header");
  takt_trace_release(trace);
}

static void reports_are_text(void) {
  takt_instance_t* instance = create_instance(0);
  takt_trace_contents_t* trace = collect_contents(instance);
  EXPECT(takt_trace_contents_info(trace).event_count == 0);
  EXPECT(takt_trace_contents_event(trace, 0).kind == NULL);
  EXPECT(takt_trace_contents_track(trace, 0).name == NULL);
  char* text = NULL;
  REQUIRE_OK(takt_trace_contents_summarize(trace, false, &text));
  EXPECT_CONTAINS(text, "0 events");
  takt_string_free(text);
  REQUIRE_OK(takt_trace_contents_compare(trace, false, &text));
  EXPECT_CONTAINS(text, "nothing was planned");
  takt_string_free(text);
  REQUIRE_OK(takt_trace_contents_compare(trace, true, &text));
  EXPECT_CONTAINS(text, "\"planned\": 0");
  takt_string_free(text);
  EXPECT_ERROR(takt_trace_contents_summarize(NULL, false, &text),
               TAKT_STATUS_INVALID_ARGUMENT, "contents");
  EXPECT(text == NULL);
  takt_trace_contents_retain(trace);
  takt_trace_contents_release(trace);
  takt_trace_contents_release(trace);
  takt_trace_contents_release(NULL);
  takt_instance_release(instance);
}

static void records_a_call_where_it_is_made(void) {
  records_a_call("local-sync");
}

static void records_a_call_on_workers(void) { records_a_call("local-task"); }

int main(void) {
  RUN(records_a_call_where_it_is_made);
  RUN(records_a_call_on_workers);
  RUN(records_async_calls_and_parking);
  RUN(records_what_the_scheduler_decides);
  RUN(records_the_jobs_of_streams);
  RUN(keeps_the_last_events_and_counts_the_others);
  RUN(refuses_what_makes_no_sense);
  RUN(writes_files_and_reads_them);
  RUN(reports_are_text);
  return test_result();
}
