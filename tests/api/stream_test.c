/* Streams: the events that release jobs, inputs and outputs of jobs, and late
 * jobs. An instance without workers runs jobs only while a thread waits, so a
 * test decides when they run. */
#include "takt/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/api/fixture.h"

static const char* const kMul[2] = {TESTDATA("api/simple_mul.vmfb"),
                                    TESTDATA("api/simple_mul_async.vmfb")};

/* What the callbacks have received. */
typedef struct seen_t {
  atomic_int done_count;
  atomic_int late_count;
  atomic_int outcomes[4];
  takt_stream_job_t jobs[16];
  takt_status_code_t code; /* Of the last failed job. */
  takt_fence_t* enough;    /* Signaled by each job, if not NULL. */
} seen_t;

static void on_done(void* user_data, const takt_stream_job_t* job,
                    takt_status_t status, size_t result_count,
                    const takt_value_t* results) {
  seen_t* seen = (seen_t*)user_data;
  const int index = atomic_fetch_add(&seen->done_count, 1);
  if (index < 16) seen->jobs[index] = *job;
  atomic_fetch_add(&seen->outcomes[job->outcome], 1);
  EXPECT((job->outcome <= TAKT_STREAM_OUTCOME_MISSED) == (result_count == 1));
  if (result_count == 1) EXPECT(results[0].kind == TAKT_VALUE_REF);
  if (status != NULL) seen->code = takt_status_code(status);
  takt_status_free(status);
  if (seen->enough != NULL) takt_status_free(takt_fence_signal(seen->enough));
}

static void on_late(void* user_data, const takt_stream_job_t* job) {
  EXPECT(job->deadline_ns != TAKT_INFINITE_FUTURE);
  atomic_fetch_add(&((seen_t*)user_data)->late_count, 1);
}

static takt_stream_options_t options_for(takt_stream_arrival_t arrival,
                                         seen_t* seen) {
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.arrival = arrival;
  options.on_done = on_done;
  options.on_late = on_late;
  options.user_data = seen;
  return options;
}

static takt_stream_t* create_stream(fixture_t* f, const char* name,
                                    const takt_stream_options_t* options) {
  takt_function_t* function = find_function(f->context, name);
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(function, options, &stream));
  takt_function_release(function);
  return stream;
}

/* {first, first + 1, ...} times itself. */
static takt_status_t set_input(fixture_t* f, takt_stream_t* stream,
                               float first) {
  const float values[4] = {first, first + 1, first + 2, first + 3};
  takt_buffer_view_t* view = float_view(f->device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  takt_status_t status = takt_stream_set_input(stream, 2, arguments);
  takt_buffer_view_release(view);
  return status;
}

static void expect_output(takt_stream_t* stream, const char* text) {
  takt_value_t result;
  takt_stream_job_t job;
  /* Too little room takes nothing. */
  EXPECT(!takt_stream_take_output(stream, 0, &result, &job));
  const bool is_there = takt_stream_take_output(stream, 1, &result, &job);
  EXPECT(is_there);
  if (!is_there) return;
  EXPECT_VIEW(takt_value_as_buffer_view(&result), text);
  EXPECT(job.end_ns >= job.begin_ns && job.begin_ns >= job.origin_ns);
  takt_values_release(1, &result);
  EXPECT(!takt_stream_take_output(stream, 1, &result, NULL));
}

static takt_stream_statistics_t statistics_of(takt_stream_t* stream) {
  takt_stream_statistics_t statistics = {.struct_size = sizeof(statistics)};
  REQUIRE_OK(takt_stream_query_statistics(stream, &statistics));
  return statistics;
}

static void wait_idle(takt_stream_t* stream) {
  EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
}

/* Both ABIs, both devices, workers or none. */
static void an_input_releases_a_job(void) {
  static const char* const kDevices[2] = {"local-sync", "local-task"};
  for (int i = 0; i < 8; ++i) {
    fixture_t f =
        fixture_create_with(i / 4 * 2, kDevices[i % 2], kMul[i / 2 % 2]);
    seen_t seen = {0};
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
    takt_stream_t* stream = create_stream(&f, "mul", &options);
    takt_value_t none;
    EXPECT(!takt_stream_take_output(stream, 1, &none, NULL));
    /* It has not been started. */
    EXPECT_OK(set_input(&f, stream, 9));
    wait_idle(stream);
    EXPECT(statistics_of(stream).released_count == 0);
    REQUIRE_OK(takt_stream_start(stream, 0));
    EXPECT_ERROR(takt_stream_start(stream, 0), TAKT_STATUS_FAILED_PRECONDITION,
                 "runs already");
    EXPECT_OK(set_input(&f, stream, 1));
    wait_idle(stream);
    expect_output(stream, "4xf32=1 4 9 16");
    EXPECT_OK(set_input(&f, stream, 2));
    wait_idle(stream);
    takt_stream_stop(stream);
    EXPECT_OK(set_input(&f, stream, 5)); /* Stored; it releases nothing. */
    wait_idle(stream);
    expect_output(stream, "4xf32=4 9 16 25");
    const takt_stream_statistics_t statistics = statistics_of(stream);
    EXPECT(statistics.released_count == 2 && statistics.met_count == 2);
    EXPECT(statistics.response.count == 2 && statistics.response.max > 0);
    EXPECT(atomic_load(&seen.done_count) == 2);
    EXPECT(seen.jobs[1].sequence == 1 && seen.jobs[1].input_sequence == 2);
    takt_stream_release(stream);
    fixture_destroy(&f);
  }
}

static void periodic_releases_keep_their_phase(void) {
  for (int i = 0; i < 2; ++i) {
    fixture_t f = fixture_create_with(2, "local-task", kMul[i]);
    seen_t seen = {0};
    REQUIRE_OK(takt_fence_create_barrier(6, &seen.enough));
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_PERIODIC, &seen);
    options.period_ns = 1000000;
    takt_stream_t* stream = create_stream(&f, "mul", &options);
    EXPECT_OK(set_input(&f, stream, 1));
    /* Long ago: the missed releases are skipped, and the phase is kept. */
    const int64_t start_ns = takt_clock_now_ns() - 1234567890;
    REQUIRE_OK(takt_stream_start(stream, start_ns));
    EXPECT_OK(takt_fence_wait(seen.enough, f.instance, TAKT_INFINITE_FUTURE));
    takt_stream_stop(stream);
    wait_idle(stream);
    expect_output(stream, "4xf32=1 4 9 16");
    for (int j = 0; j < 6; ++j) {
      EXPECT((seen.jobs[j].origin_ns - start_ns) % 1000000 == 0);
      EXPECT(seen.jobs[j].origin_ns > start_ns + 1234000000);
      if (j > 0) EXPECT(seen.jobs[j].origin_ns > seen.jobs[j - 1].origin_ns);
    }
    const takt_stream_statistics_t statistics = statistics_of(stream);
    EXPECT(statistics.met_count >= 6);
    EXPECT(statistics.release_error.count == statistics.released_count);
    EXPECT(statistics.begin_delay.count == statistics.met_count);
    takt_fence_release(seen.enough);
    takt_stream_release(stream);
    fixture_destroy(&f);
  }
}

static void a_stream_predicts_its_next_job(void) {
  fixture_t f = fixture_create_with(2, "local-task", kMul[0]);
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  takt_stream_prediction_t next = {.struct_size = sizeof(next)};
  EXPECT_OK(takt_stream_predict(stream, NULL, &next));
  EXPECT(next.job_count == 0 && next.q50_ns == TAKT_INFINITE_FUTURE);
  EXPECT(next.q99_ns == TAKT_INFINITE_FUTURE && next.q99_steps == -1);
  REQUIRE_OK(takt_stream_start(stream, 0));
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(set_input(&f, stream, 1));
    wait_idle(stream);
  }
  takt_stream_predict_options_t asked;
  takt_stream_predict_options_init(&asked);
  asked.release_ns = takt_clock_now_ns() + 1000000000;
  asked.step_ns = 1000;
  asked.with_bound = true; /* Nothing schedules it, so there is none. */
  EXPECT_OK(takt_stream_predict(stream, &asked, &next));
  EXPECT(next.job_count == 3 && next.release_ns == asked.release_ns);
  EXPECT(asked.release_ns < next.q50_ns && next.q50_ns <= next.q99_ns);
  const takt_stream_statistics_t statistics = statistics_of(stream);
  EXPECT(next.q99_ns - next.release_ns <= statistics.response.max);
  EXPECT(next.q99_steps == (next.q99_ns - next.release_ns + 999) / 1000);
  EXPECT(next.bound_ns == TAKT_INFINITE_FUTURE && next.bound_steps == -1);
  EXPECT(statistics.predicted_count == 2 && statistics.kept_count <= 2);
  EXPECT(statistics.predicted_response.count == 2);
  asked.step_ns = -1;
  EXPECT_ERROR(takt_stream_predict(stream, &asked, &next),
               TAKT_STATUS_INVALID_ARGUMENT, "step_ns: -1 is below 0");
  asked.release_ns = -7;
  EXPECT_ERROR(takt_stream_predict(stream, &asked, &next),
               TAKT_STATUS_INVALID_ARGUMENT, "release_ns: -7 is below 0");
  next.struct_size = 0;
  EXPECT_ERROR(takt_stream_predict(stream, NULL, &next),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_stream_stop(stream);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void a_stream_may_be_started_again(void) {
  fixture_t f = fixture_create_with(1, "local-task", kMul[0]);
  seen_t seen = {0};
  takt_stream_options_t options =
      options_for(TAKT_STREAM_ARRIVAL_PERIODIC, &seen);
  options.period_ns = 50000;
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  EXPECT_OK(set_input(&f, stream, 1));
  for (int i = 0; i < 200; ++i) {
    REQUIRE_OK(takt_stream_start(stream, takt_clock_now_ns()));
    /* A job of a slow machine takes longer than a period, and such a stream is
       never idle before it is stopped. */
    takt_stream_stop(stream);
    if (i % 3 == 0) wait_idle(stream);
  }
  /* Once more, until a job has ended. */
  REQUIRE_OK(takt_fence_create(&seen.enough));
  REQUIRE_OK(takt_stream_start(stream, takt_clock_now_ns()));
  EXPECT_OK(takt_fence_wait(seen.enough, f.instance, TAKT_INFINITE_FUTURE));
  takt_stream_stop(stream);
  wait_idle(stream);
  takt_fence_release(seen.enough);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void the_end_of_a_job_releases_the_next_one_of_a_closed_stream(void) {
  fixture_t f = fixture_create_with(1, "local-task", kMul[0]);
  seen_t seen = {0};
  REQUIRE_OK(takt_fence_create_barrier(10, &seen.enough));
  takt_stream_options_t options =
      options_for(TAKT_STREAM_ARRIVAL_CLOSED, &seen);
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  EXPECT_ERROR(takt_stream_start(stream, 0), TAKT_STATUS_FAILED_PRECONDITION,
               "no input yet");
  EXPECT_OK(set_input(&f, stream, 1));
  REQUIRE_OK(takt_stream_start(stream, 0));
  EXPECT_OK(takt_fence_wait(seen.enough, f.instance, TAKT_INFINITE_FUTURE));
  takt_stream_stop(stream);
  wait_idle(stream);
  const takt_stream_statistics_t statistics = statistics_of(stream);
  EXPECT(statistics.met_count >= 10);
  EXPECT(statistics.met_count == (uint64_t)atomic_load(&seen.done_count));
  EXPECT(statistics.overrun_count == 0);
  takt_fence_release(seen.enough);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

/* Three releases before the first begins. */
static void releases_and_inputs_wait_in_queues(void) {
  for (int queue = 0; queue < 2; ++queue) {
    fixture_t f = fixture_create_with(0, "local-task", kMul[1]);
    seen_t seen = {0};
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
    options.input_queue_length = queue * 3;
    takt_stream_t* stream = create_stream(&f, "mul", &options);
    REQUIRE_OK(takt_stream_start(stream, 0));
    for (int i = 1; i <= 3; ++i) EXPECT_OK(set_input(&f, stream, (float)i));
    if (queue == 1) {
      EXPECT_ERROR(set_input(&f, stream, 4), TAKT_STATUS_RESOURCE_EXHAUSTED,
                   "simple_async.mul: the stream's input queue is full");
    }
    EXPECT_ERROR(takt_stream_wait_idle(stream, 0),
                 TAKT_STATUS_DEADLINE_EXCEEDED, "");
    wait_idle(stream);
    const takt_stream_statistics_t statistics = statistics_of(stream);
    EXPECT(statistics.released_count == 3 && statistics.met_count == 3);
    EXPECT(statistics.overrun_count == 2 && statistics.dropped_count == 0);
    for (uint64_t i = 0; i < 3; ++i) {
      EXPECT(seen.jobs[i].sequence == i);
      EXPECT(seen.jobs[i].input_sequence == (queue == 1 ? i : 2));
    }
    expect_output(stream, "4xf32=9 16 25 36");
    takt_stream_release(stream);
    fixture_destroy(&f);
  }
}

static void a_full_release_queue_drops_its_oldest_release(void) {
  for (int latest = 0; latest < 2; ++latest) {
    fixture_t f = fixture_create_with(0, "local-task", kMul[0]);
    seen_t seen = {0};
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
    options.deadline_ns = 1000000000000;
    if (latest == 1) {
      options.late = TAKT_STREAM_LATE_LATEST_ONLY;
    } else {
      options.release_queue_length = 1;
    }
    takt_stream_t* stream = create_stream(&f, "mul", &options);
    REQUIRE_OK(takt_stream_start(stream, 0));
    for (int i = 1; i <= 3; ++i) EXPECT_OK(set_input(&f, stream, (float)i));
    EXPECT(atomic_load(&seen.outcomes[TAKT_STREAM_OUTCOME_DROPPED]) == 2);
    wait_idle(stream);
    const takt_stream_statistics_t statistics = statistics_of(stream);
    EXPECT(statistics.dropped_count == 2 && statistics.met_count == 1);
    EXPECT(seen.jobs[0].sequence == 0 && seen.jobs[0].begin_ns == 0);
    EXPECT(seen.jobs[2].sequence == 2 && seen.jobs[2].begin_ns != 0);
    takt_stream_release(stream);
    fixture_destroy(&f);
  }
}

typedef struct dropping_t {
  fixture_t* f;
  takt_stream_t* stream;
  atomic_bool is_in_callback;
  atomic_bool goes_on;
} dropping_t;

static void on_done_slowly(void* user_data, const takt_stream_job_t* job,
                           takt_status_t status, size_t result_count,
                           const takt_value_t* results) {
  dropping_t* dropping = user_data;
  takt_status_free(status);
  if (job->outcome != TAKT_STREAM_OUTCOME_DROPPED) return;
  atomic_store(&dropping->is_in_callback, true);
  AWAIT(atomic_load(&dropping->goes_on));
}

static void* put_one_too_many(void* argument) {
  dropping_t* dropping = argument;
  for (int i = 1; i <= 2; ++i) {
    EXPECT_OK(set_input(dropping->f, dropping->stream, (float)i));
  }
  return NULL;
}

/* Once a stream is idle, a caller may free what its callbacks use. */
static void a_stream_is_not_idle_during_a_callback(void) {
  fixture_t f = fixture_create_with(0, "local-task", kMul[0]);
  dropping_t dropping = {.f = &f};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, NULL);
  options.on_done = &on_done_slowly;
  options.user_data = &dropping;
  options.release_queue_length = 1;
  dropping.stream = create_stream(&f, "mul", &options);
  REQUIRE_OK(takt_stream_start(dropping.stream, 0));
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, &put_one_too_many, &dropping) == 0);
  AWAIT(atomic_load(&dropping.is_in_callback));
  /* The other job ends here. */
  EXPECT_ERROR(
      takt_stream_wait_idle(dropping.stream, takt_clock_deadline_ns(50000000)),
      TAKT_STATUS_DEADLINE_EXCEEDED, "");
  atomic_store(&dropping.goes_on, true);
  wait_idle(dropping.stream);
  pthread_join(thread, NULL);
  takt_stream_release(dropping.stream);
  fixture_destroy(&f);
}

/* A deadline of a nanosecond has passed when the job begins. */
static void late_jobs_end_as_the_late_policy_says(void) {
  for (int late = TAKT_STREAM_LATE_RUN_ON; late <= TAKT_STREAM_LATE_LATEST_ONLY;
       ++late) {
    fixture_t f = fixture_create_with(1, "local-task", kMul[1]);
    seen_t seen = {0};
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
    options.deadline_ns = 1;
    options.late = (takt_stream_late_t)late;
    takt_stream_t* stream = create_stream(&f, "mul", &options);
    REQUIRE_OK(takt_stream_start(stream, 0));
    EXPECT_OK(set_input(&f, stream, 1));
    wait_idle(stream);
    const bool drops = late >= TAKT_STREAM_LATE_DROP;
    const takt_stream_statistics_t statistics = statistics_of(stream);
    EXPECT(statistics.missed_count == !drops);
    EXPECT(statistics.dropped_count == drops);
    EXPECT(statistics.met_count == 0);
    EXPECT(atomic_load(&seen.late_count) == 1);
    EXPECT(atomic_load(&seen.done_count) == 1);
    takt_value_t result;
    const bool has_result = takt_stream_take_output(stream, 1, &result, NULL);
    EXPECT(has_result == !drops);
    if (has_result) takt_values_release(1, &result);
    takt_stream_release(stream);
    fixture_destroy(&f);
  }
}

/* Where a job ended among those of all streams that share `next`. */
typedef struct turn_t {
  atomic_int* next;
  int last;
} turn_t;

static void on_done_take_turn(void* user_data, const takt_stream_job_t* job,
                              takt_status_t status, size_t result_count,
                              const takt_value_t* results) {
  turn_t* turn = user_data;
  EXPECT(status == NULL && job->outcome == TAKT_STREAM_OUTCOME_MET);
  turn->last = atomic_fetch_add(turn->next, 1);
}

/* Without workers, the thread that waits runs what is most urgent. A job that
 * may miss lets one pass that came later; one that must not does not. A
 * scheduler does not interrupt a job that is about to end by what it has
 * learned, so on a busy machine not every job is passed. */
static void a_job_that_may_miss_lets_others_pass(void) {
  for (int is_scheduled = 0; is_scheduled < 2; ++is_scheduled) {
    fixture_t f = fixture_create_with_policy(
        is_scheduled == 1 ? "job-shop" : "off", 0, kMul[1]);
    atomic_int next = 0;
    turn_t lenient = {&next, -1}, strict = {&next, -1};
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_INPUT, NULL);
    options.on_done = &on_done_take_turn;
    options.on_late = NULL;
    options.user_data = &strict;
    options.criticality = TAKT_CRITICALITY_HARD;
    options.deadline_ns = 2000000000000;
    takt_stream_t* strict_stream = create_stream(&f, "mul", &options);
    options.user_data = &lenient;
    options.deadline_ns = 1000000000000;
    options.met_min = 1;
    options.met_window = 2;
    takt_stream_t* lenient_stream = create_stream(&f, "mul", &options);
    REQUIRE_OK(takt_stream_start(lenient_stream, 0));
    REQUIRE_OK(takt_stream_start(strict_stream, 0));
    int passed_count = 0;
    for (int round = 0; round < 8; ++round) {
      EXPECT_OK(set_input(&f, lenient_stream, 1));
      EXPECT_OK(set_input(&f, strict_stream, 2));
      wait_idle(lenient_stream);
      wait_idle(strict_stream);
      if (strict.last < lenient.last) ++passed_count;
      EXPECT(round > 0 || passed_count == 0);
      const takt_stream_statistics_t statistics = statistics_of(lenient_stream);
      EXPECT(statistics.lenient_count == (uint64_t)round);
      EXPECT(statistics.met_count == (uint64_t)round + 1);
      EXPECT(statistics.broken_window_count == 0);
    }
    EXPECT(is_scheduled == 1 ? passed_count > 0 : passed_count == 7);
    EXPECT(statistics_of(strict_stream).lenient_count == 0);
    takt_stream_release(strict_stream);
    takt_stream_release(lenient_stream);
    fixture_destroy(&f);
  }
}

static void shares_must_fit_beside_each_other(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 1, kMul[0]);
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  options.criticality = TAKT_CRITICALITY_BEST_EFFORT;
  options.share_permille = 600;
  options.weight = 1000;
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  takt_function_t* function = find_function(f.context, "mul");
  takt_stream_t* other = NULL;
  EXPECT_ERROR(takt_stream_create(function, &options, &other),
               TAKT_STATUS_FAILED_PRECONDITION, "1200 thousandths of a core");
  EXPECT(other == NULL);
  takt_function_release(function);
  REQUIRE_OK(takt_stream_start(stream, 0));
  EXPECT_OK(set_input(&f, stream, 1));
  wait_idle(stream);
  EXPECT(statistics_of(stream).met_count == 1);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

/* The worker never runs out of more urgent work, so only the share lets the
 * stream's programs and its small dispatches run. */
static void a_share_is_kept_beside_work_that_never_pauses(void) {
  fixture_t f = fixture_create_with_policy("job-shop", 1, kMul[0]);
  seen_t seen = {0}, more = {0};
  takt_stream_options_t options =
      options_for(TAKT_STREAM_ARRIVAL_CLOSED, &seen);
  takt_stream_t* soft = create_stream(&f, "mul", &options);
  EXPECT_OK(set_input(&f, soft, 1));
  REQUIRE_OK(takt_stream_start(soft, 0));
  options.user_data = &more;
  options.criticality = TAKT_CRITICALITY_BEST_EFFORT;
  options.share_permille = 500;
  takt_stream_t* logger = create_stream(&f, "mul", &options);
  EXPECT_OK(set_input(&f, logger, 2));
  REQUIRE_OK(takt_fence_create_barrier(20, &more.enough));
  REQUIRE_OK(takt_stream_start(logger, 0));
  EXPECT_OK(takt_fence_wait(more.enough, NULL, TAKT_INFINITE_FUTURE));
  takt_stream_stop(logger);
  takt_stream_stop(soft);
  wait_idle(logger);
  wait_idle(soft);
  EXPECT(more.done_count >= 20);
  takt_fence_release(more.enough);
  takt_stream_release(logger);
  takt_stream_release(soft);
  fixture_destroy(&f);
}

/* Releases that are dropped while they wait are no jobs in time. */
static void a_dropped_release_forbids_the_next_job_to_miss(void) {
  fixture_t f = fixture_create_with(0, "local-task", kMul[0]);
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  options.deadline_ns = 1000000000000;
  options.late = TAKT_STREAM_LATE_LATEST_ONLY;
  options.met_min = 1;
  options.met_window = 2;
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  REQUIRE_OK(takt_stream_start(stream, 0));
  EXPECT_OK(set_input(&f, stream, 1));
  wait_idle(stream);
  for (int i = 2; i <= 3; ++i) EXPECT_OK(set_input(&f, stream, (float)i));
  wait_idle(stream);
  const takt_stream_statistics_t statistics = statistics_of(stream);
  EXPECT(statistics.met_count == 2 && statistics.dropped_count == 1);
  EXPECT(statistics.lenient_count == 0);
  EXPECT_OK(set_input(&f, stream, 4));
  wait_idle(stream);
  EXPECT(statistics_of(stream).lenient_count == 1);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void results_become_the_inputs_of_the_next_stream(void) {
  for (int workers = 0; workers < 3; ++workers) {
    fixture_t f = fixture_create_with(workers, "local-task",
                                      TESTDATA("async/streams.cpu.vmfb"));
    seen_t first_seen = {0}, second_seen = {0};
    takt_stream_options_t options =
        options_for(TAKT_STREAM_ARRIVAL_INPUT, &first_seen);
    takt_stream_t* first = create_stream(&f, "twice", &options);
    options = options_for(TAKT_STREAM_ARRIVAL_AFTER, &second_seen);
    options.after = first;
    options.takes_results = true;
    takt_stream_t* second = create_stream(&f, "plus_one", &options);
    EXPECT_ERROR(set_input(&f, second, 1), TAKT_STATUS_FAILED_PRECONDITION,
                 "takes the results of streams.twice");
    REQUIRE_OK(takt_stream_start(second, 0));
    REQUIRE_OK(takt_stream_start(first, 0));
    const float values[4] = {1, 2, 3, 4};
    takt_buffer_view_t* view = float_view(f.device, 4, values);
    const takt_value_t argument = takt_value_ref(view);
    EXPECT_OK(takt_stream_set_input(first, 1, &argument));
    takt_buffer_view_release(view);
    wait_idle(first);
    wait_idle(second);
    expect_output(first, "4xf32=2 4 6 8");
    expect_output(second, "4xf32=3 5 7 9");
    EXPECT(second_seen.jobs[0].origin_ns == first_seen.jobs[0].origin_ns);
    /* A stopped stream is not released any longer. */
    takt_stream_stop(second);
    view = float_view(f.device, 4, values);
    const takt_value_t again = takt_value_ref(view);
    EXPECT_OK(takt_stream_set_input(first, 1, &again));
    takt_buffer_view_release(view);
    wait_idle(first);
    wait_idle(second);
    EXPECT(statistics_of(second).released_count == 1);
    takt_stream_stop(first);
    takt_stream_release(first);
    takt_stream_release(second);
    fixture_destroy(&f);
  }
}

static void a_stream_continues_after_a_job_has_failed(void) {
  fixture_t f =
      fixture_create_with(1, "local-task", TESTDATA("async/streams.cpu.vmfb"));
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  takt_stream_t* stream = create_stream(&f, "unless", &options);
  REQUIRE_OK(takt_stream_start(stream, 0));
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f.device, 4, values);
  for (int fails = 1; fails >= 0; --fails) {
    const takt_value_t arguments[2] = {takt_value_i32(fails),
                                       takt_value_ref(view)};
    EXPECT_OK(takt_stream_set_input(stream, 2, arguments));
    wait_idle(stream);
  }
  takt_buffer_view_release(view);
  EXPECT(seen.code == TAKT_STATUS_FAILED_PRECONDITION);
  EXPECT(atomic_load(&seen.outcomes[TAKT_STREAM_OUTCOME_FAILED]) == 1);
  expect_output(stream, "4xf32=1 2 3 4");
  const takt_stream_statistics_t statistics = statistics_of(stream);
  EXPECT(statistics.failed_count == 1 && statistics.met_count == 1);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void a_stop_discards_pending_releases(void) {
  fixture_t f = fixture_create_with(0, "local-task", kMul[0]);
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  REQUIRE_OK(takt_stream_start(stream, 0));
  EXPECT_OK(set_input(&f, stream, 1));
  takt_stream_stop(stream);
  wait_idle(stream);
  EXPECT(atomic_load(&seen.done_count) == 0);
  EXPECT(statistics_of(stream).released_count == 1);
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void a_release_without_an_input_is_starved(void) {
  fixture_t f = fixture_create_with(0, "local-task", kMul[0]);
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  takt_stream_t* first = create_stream(&f, "mul", &options);
  options = options_for(TAKT_STREAM_ARRIVAL_AFTER, &seen);
  options.after = first;
  takt_stream_t* second = create_stream(&f, "mul", &options);
  REQUIRE_OK(takt_stream_start(first, 0));
  REQUIRE_OK(takt_stream_start(second, 0));
  EXPECT_OK(set_input(&f, first, 1));
  wait_idle(first);
  wait_idle(second);
  EXPECT(statistics_of(second).starved_count == 1);
  EXPECT(atomic_load(&seen.done_count) == 1);
  takt_stream_stop(first);
  takt_stream_stop(second);
  takt_stream_release(first);
  takt_stream_release(second);
  fixture_destroy(&f);
}

static void a_running_stream_needs_no_reference(void) {
  fixture_t f = fixture_create_with(2, "local-task", kMul[1]);
  seen_t seen = {0};
  REQUIRE_OK(takt_fence_create_barrier(3, &seen.enough));
  takt_stream_options_t options =
      options_for(TAKT_STREAM_ARRIVAL_PERIODIC, &seen);
  options.period_ns = 100000;
  takt_stream_t* stream = create_stream(&f, "mul", &options);
  EXPECT_OK(set_input(&f, stream, 1));
  REQUIRE_OK(takt_stream_start(stream, takt_clock_now_ns()));
  takt_stream_retain(stream);
  takt_stream_release(stream);
  fixture_destroy(&f);
  EXPECT_OK(takt_fence_wait(seen.enough, NULL, TAKT_INFINITE_FUTURE));
  takt_stream_stop(stream);
  wait_idle(stream);
  takt_stream_release(stream);
  takt_fence_release(seen.enough);
}

typedef void (*spoil_t)(takt_stream_options_t* options);
static void no_period(takt_stream_options_t* o) { o->period_ns = 0; }
static void unasked_period(takt_stream_options_t* o) {
  o->arrival = TAKT_STREAM_ARRIVAL_INPUT;
}
static void bad_arrival(takt_stream_options_t* o) {
  o->arrival = (takt_stream_arrival_t)9;
}
static void bad_late(takt_stream_options_t* o) {
  o->late = (takt_stream_late_t)-1;
}
static void bad_criticality(takt_stream_options_t* o) {
  o->criticality = (takt_criticality_t)3;
}
static void no_deadline(takt_stream_options_t* o) {
  o->late = TAKT_STREAM_LATE_DROP;
}
static void bad_deadline(takt_stream_options_t* o) { o->deadline_ns = -5; }
static void bad_priority(takt_stream_options_t* o) { o->priority = 256; }
static void no_queue(takt_stream_options_t* o) { o->release_queue_length = 0; }
static void big_queue(takt_stream_options_t* o) {
  o->input_queue_length = SIZE_MAX;
}
static void bad_window(takt_stream_options_t* o) {
  o->deadline_ns = 1000000;
  o->met_min = 3;
  o->met_window = 3;
}
static void bad_share(takt_stream_options_t* o) { o->share_permille = 1001; }
static void no_scheduler(takt_stream_options_t* o) { o->weight = 1; }
static void no_words(takt_stream_options_t* o) { o->cpu_word_count = 1; }
static void no_chain(takt_stream_options_t* o) { o->takes_results = true; }
static void no_predecessor(takt_stream_options_t* o) {
  o->arrival = TAKT_STREAM_ARRIVAL_AFTER;
  o->period_ns = 0;
}
static void no_size(takt_stream_options_t* o) { o->struct_size = 0; }

/* No job reads the mapped memory while a test writes it. */
static void inputs_are_written_in_place(void) {
  fixture_t f =
      fixture_create_with(1, "local-task", TESTDATA("async/streams.cpu.vmfb"));
  seen_t seen = {0};
  takt_stream_options_t options = options_for(TAKT_STREAM_ARRIVAL_INPUT, &seen);
  takt_stream_t* stream = create_stream(&f, "twice", &options);
  REQUIRE_OK(takt_stream_start(stream, 0));
  void* data = NULL;
  EXPECT_ERROR(takt_stream_publish_input(stream),
               TAKT_STATUS_FAILED_PRECONDITION,
               "streams.twice: not every input has been mapped");
  EXPECT_ERROR(takt_stream_map_input(stream, 1, &data, NULL),
               TAKT_STATUS_OUT_OF_RANGE, "input 1, but there are 1");
  EXPECT(data == NULL);
  for (int i = 0; i < 10; ++i) {
    size_t byte_length = 0;
    REQUIRE_OK(takt_stream_map_input(stream, 0, &data, &byte_length));
    EXPECT(byte_length == 4 * sizeof(float) && (uintptr_t)data % 64 == 0);
    for (int e = 0; e < 4; ++e) ((float*)data)[e] = (float)i;
    void* again = NULL;
    REQUIRE_OK(takt_stream_map_input(stream, 0, &again, NULL));
    EXPECT(again == data);
    REQUIRE_OK(takt_stream_publish_input(stream));
    wait_idle(stream);
    char text[64];
    snprintf(text, sizeof(text), "4xf32=%d %d %d %d", 2 * i, 2 * i, 2 * i,
             2 * i);
    expect_output(stream, text);
  }
  /* Then an input that was not mapped. */
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f.device, 4, values);
  const takt_value_t argument = takt_value_ref(view);
  EXPECT_OK(takt_stream_set_input(stream, 1, &argument));
  wait_idle(stream);
  expect_output(stream, "4xf32=2 4 6 8");
  takt_buffer_view_release(view);
  EXPECT(statistics_of(stream).met_count == 11);
  takt_stream_release(stream);
  /* Inputs of a queue, and arguments that are no tensors, cannot be mapped. */
  options.input_queue_length = 2;
  stream = create_stream(&f, "twice", &options);
  EXPECT_ERROR(takt_stream_map_input(stream, 0, &data, NULL),
               TAKT_STATUS_FAILED_PRECONDITION,
               "does not take the latest input");
  takt_stream_release(stream);
  options.input_queue_length = 0;
  stream = create_stream(&f, "unless", &options);
  EXPECT_ERROR(takt_stream_map_input(stream, 1, &data, NULL),
               TAKT_STATUS_FAILED_PRECONDITION,
               "input 0 is not known to be a tensor of a static shape");
  takt_stream_release(stream);
  fixture_destroy(&f);
}

static void errors_name_the_bad_option(void) {
  static const struct {
    spoil_t spoil;
    const char* message;
  } kCases[] = {{no_period, "period_ns"},
                {unasked_period, "period_ns: 1000000, but not periodic"},
                {bad_arrival, "arrival"},
                {bad_late, "late"},
                {bad_criticality, "criticality"},
                {no_deadline, "late: nothing is late without a deadline"},
                {bad_deadline, "deadline_ns: -5"},
                {bad_priority, "priority"},
                {no_queue, "queue length"},
                {big_queue, "queue length"},
                {bad_window, "met_window: 3 of 3 jobs in time"},
                {bad_share, "share: a share of 1001"},
                {no_scheduler, "weight: nothing schedules the devices"},
                {no_words, "cpu_words"},
                {no_chain, "after: is for the arrival AFTER only"},
                {no_predecessor, "after: is NULL"},
                {no_size, "struct_size"}};
  fixture_t f = fixture_create_with_policy("off", 1, kMul[0]);
  takt_function_t* mul = find_function(f.context, "mul");
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    takt_stream_options_t options;
    takt_stream_options_init(&options);
    options.period_ns = 1000000;
    kCases[i].spoil(&options);
    takt_stream_t* stream = NULL;
    EXPECT_ERROR(takt_stream_create(mul, &options, &stream),
                 TAKT_STATUS_INVALID_ARGUMENT, kCases[i].message);
    EXPECT(stream == NULL);
  }
  takt_stream_t* stream = NULL;
  EXPECT_ERROR(takt_stream_create(mul, NULL, &stream),
               TAKT_STATUS_INVALID_ARGUMENT, "options");
  EXPECT_ERROR(takt_stream_create(NULL, NULL, &stream),
               TAKT_STATUS_INVALID_ARGUMENT, "function");
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = 1000000;
  REQUIRE_OK(takt_stream_create(mul, &options, &stream));
  const takt_value_t wrong = takt_value_i32(3);
  EXPECT_ERROR(takt_stream_set_input(stream, 1, &wrong),
               TAKT_STATUS_INVALID_ARGUMENT, "expected 2 inputs, got 1");
  takt_stream_statistics_t statistics = {.struct_size = 0};
  EXPECT_ERROR(takt_stream_query_statistics(stream, &statistics),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_stream_stop(stream); /* It was never started. */
  wait_idle(stream);
  takt_stream_release(stream);
  takt_function_release(mul);
  fixture_destroy(&f);
}

static void integer_results_of_any_sign_become_inputs(void) {
  fixture_t f = fixture_create_with(1, "local-task",
                                    TESTDATA("models/integer_types.cpu.vmfb"));
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  takt_stream_t* first = create_stream(&f, "pass_ui8", &options);
  options.arrival = TAKT_STREAM_ARRIVAL_AFTER;
  options.after = first;
  options.takes_results = true;
  takt_stream_t* second = create_stream(&f, "add_i8", &options);
  REQUIRE_OK(takt_stream_start(second, 0));
  REQUIRE_OK(takt_stream_start(first, 0));
  const int64_t count = 4;
  const uint8_t bytes[4] = {1, 2, 127, 255};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(f.device, TAKT_ELEMENT_SI8, 1,
                                             &count, bytes, 4, &view));
  const takt_value_t argument = takt_value_ref(view);
  EXPECT_OK(takt_stream_set_input(first, 1, &argument));
  takt_buffer_view_release(view);
  wait_idle(first);
  wait_idle(second);
  expect_output(second, "4xi8=2 4 -2 -2");
  takt_stream_stop(first);
  takt_stream_stop(second);
  takt_stream_release(first);
  takt_stream_release(second);
  fixture_destroy(&f);
}

static void results_must_fit_the_inputs_of_the_next_stream(void) {
  fixture_t f =
      fixture_create_with(1, "local-task", TESTDATA("async/streams.cpu.vmfb"));
  fixture_t g =
      fixture_create_with(1, "local-task", TESTDATA("async/streams.cpu.vmfb"));
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  takt_stream_t* first = create_stream(&f, "twice", &options);
  options.arrival = TAKT_STREAM_ARRIVAL_AFTER;
  options.after = first;
  options.takes_results = true;
  takt_stream_t* none = NULL;
  takt_function_t* unless = find_function(f.context, "unless");
  EXPECT_ERROR(takt_stream_create(unless, &options, &none),
               TAKT_STATUS_INVALID_ARGUMENT,
               "streams.twice has 1 results for 2 inputs");
  takt_function_release(unless);
  takt_function_t* whole = find_function(f.context, "whole");
  EXPECT_ERROR(takt_stream_create(whole, &options, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "result 0 of streams.twice is ");
  takt_function_release(whole);
  takt_function_t* other = find_function(g.context, "plus_one");
  EXPECT_ERROR(takt_stream_create(other, &options, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "of another instance");
  takt_function_release(other);
  takt_stream_release(first);
  fixture_destroy(&f);
  fixture_destroy(&g);
}

int main(void) {
  RUN(an_input_releases_a_job);
  RUN(periodic_releases_keep_their_phase);
  RUN(a_stream_predicts_its_next_job);
  RUN(a_stream_may_be_started_again);
  RUN(the_end_of_a_job_releases_the_next_one_of_a_closed_stream);
  RUN(releases_and_inputs_wait_in_queues);
  RUN(a_full_release_queue_drops_its_oldest_release);
  RUN(a_stream_is_not_idle_during_a_callback);
  RUN(late_jobs_end_as_the_late_policy_says);
  RUN(a_job_that_may_miss_lets_others_pass);
  RUN(shares_must_fit_beside_each_other);
  RUN(a_share_is_kept_beside_work_that_never_pauses);
  RUN(a_dropped_release_forbids_the_next_job_to_miss);
  RUN(results_become_the_inputs_of_the_next_stream);
  RUN(a_stream_continues_after_a_job_has_failed);
  RUN(a_stop_discards_pending_releases);
  RUN(a_release_without_an_input_is_starved);
  RUN(a_running_stream_needs_no_reference);
  RUN(inputs_are_written_in_place);
  RUN(errors_name_the_bad_option);
  RUN(integer_results_of_any_sign_become_inputs);
  RUN(results_must_fit_the_inputs_of_the_next_stream);
  return test_result();
}
