/* Goal: dlclose() of what uses Takt unloads the library, and leaves no thread,
 * mapping, descriptor, block of memory or thread-specific key behind.
 * Method: this program does not link Takt. It loads a plugin that does, has it
 * use Takt in one way, and unloads it, many times; by the thread that used it,
 * by another one, and beside a thread that has used it and lives on. The first
 * rounds may take what the C and C++ libraries keep. */
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/api/unload_plugin.h"
#include "tests/support/fault_injection.h"

static int failure_count;
#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)
static void expect(bool condition, const char* text, const char* file,
                   int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: expected %s\n", file, line, text);
  ++failure_count;
}

typedef int run_t(const char* name,
                  void (*reached)(void* user_data, takt_status_t status));
typedef struct plugin_t {
  void* library;
  run_t* run;
} plugin_t;

static plugin_t load(void) {
  plugin_t plugin = {dlopen(TAKT_UNLOAD_PLUGIN, RTLD_NOW | RTLD_LOCAL), NULL};
  if (plugin.library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  *(void**)(&plugin.run) = dlsym(plugin.library, "unload_plugin_run");
  return plugin;
}

static sem_t is_reached;
static void reached(void* user_data, takt_status_t status) {
  unload_callback_t* const callback = (unload_callback_t*)user_data;
  callback->let_go(callback, status);
  sem_post(&is_reached);
}

typedef struct left_t {
  int descriptor_count;
  int thread_count;
  int mapping_count;
  bool has_library;
  pthread_key_t next_key;
  long block_count;
} left_t;

/* A thread of the library that is about to end keeps it loaded until then. */
static bool is_loaded(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[4096];
  bool is_there = false;
  while (fgets(line, sizeof(line), maps) != NULL) {
    is_there = is_there || strstr(line, "libtakt") != NULL;
  }
  fclose(maps);
  return is_there;
}
static int count_entries(const char* directory) {
  DIR* const all = opendir(directory);
  int count = 0;
  while (readdir(all) != NULL) ++count;
  closedir(all);
  return count;
}

static void await_unloaded(int thread_count) {
  const time_t end = time(NULL) + 60;
  while ((is_loaded() || count_entries("/proc/self/task") > thread_count) &&
         time(NULL) < end) {
    sched_yield();
  }
  EXPECT(!is_loaded());
}

static left_t look(void) {
  left_t left;
  memset(&left, 0, sizeof(left));
  left.block_count = fault_live_blocks;
  left.descriptor_count = count_entries("/proc/self/fd");
  left.thread_count = count_entries("/proc/self/task");
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[4096];
  while (fgets(line, sizeof(line), maps) != NULL) {
    ++left.mapping_count;
    if (strstr(line, "libtakt") != NULL || strstr(line, "memfd:") != NULL ||
        strstr(line, "unload_plugin") != NULL) {
      left.has_library = true;
    }
  }
  fclose(maps);
  EXPECT(pthread_key_create(&left.next_key, NULL) == 0);
  pthread_key_delete(left.next_key);
  return left;
}

/* A step, on this thread or on another one. */
typedef struct round_t {
  const char* use;
  plugin_t plugin;
} round_t;

static void* run_use(void* argument) {
  const round_t* const round = (const round_t*)argument;
  EXPECT(round->plugin.run(round->use, &reached) == 0);
  return NULL;
}
static void* unload(void* argument) {
  const round_t* const round = (const round_t*)argument;
  EXPECT(dlclose(round->plugin.library) == 0);
  return NULL;
}
static void step(void* (*run)(void*), round_t* round, bool elsewhere) {
  if (!elsewhere) {
    run(round);
    return;
  }
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, run, round) == 0);
  pthread_join(thread, NULL);
}

/* A thread that lives as long as the program: each round uses the library there
 * too, if `round` is not NULL. */
typedef struct resident_t {
  pthread_t thread;
  sem_t begin, end;
  round_t* round;
} resident_t;

static void* reside(void* argument) {
  resident_t* const self = (resident_t*)argument;
  for (;;) {
    sem_wait(&self->begin);
    if (self->round == NULL) return NULL;
    run_use(self->round);
    sem_post(&self->end);
  }
}
static void start_resident(resident_t* resident) {
  sem_init(&resident->begin, 0, 0);
  sem_init(&resident->end, 0, 0);
  EXPECT(pthread_create(&resident->thread, NULL, &reside, resident) == 0);
}
static void let_resident_run(resident_t* resident, round_t* round) {
  resident->round = round;
  sem_post(&resident->begin);
  if (round != NULL) {
    sem_wait(&resident->end);
  } else {
    pthread_join(resident->thread, NULL);
  }
}

/* kMappingsMax: stacks that the C library keeps for later threads are a few. */
enum { kWarmRounds = 3, kMappingsMax = 10 };

/* An emulator changes when threads end, so the C library may keep a block more
   once. Every round that left one behind would add up to more than these. */
static long spare_block_count(void) {
  return getenv("TAKT_EMULATED") != NULL ? 4 : 0;
}

static int round_count(void) {
  const char* text = getenv("TAKT_UNLOAD_ROUNDS");
  return text != NULL ? atoi(text) : 20;
}

static void load_and_unload(const char* use, bool used_elsewhere,
                            bool unloaded_elsewhere) {
  resident_t resident;
  start_resident(&resident);
  const int thread_count = count_entries("/proc/self/task");
  left_t before;
  memset(&before, 0, sizeof(before));
  const int last = kWarmRounds + round_count();
  for (int i = 0; i < last; ++i) {
    if (i == kWarmRounds) before = look();
    round_t round = {use, load()};
    step(&run_use, &round, used_elsewhere);
    let_resident_run(&resident, &round);
    step(&unload, &round, unloaded_elsewhere);
    await_unloaded(thread_count);
  }
  const left_t after = look();
  EXPECT(!after.has_library);
  EXPECT(after.descriptor_count == before.descriptor_count);
  EXPECT(after.thread_count == before.thread_count);
  EXPECT(after.next_key == before.next_key);
  EXPECT(after.block_count <= before.block_count + spare_block_count());
  EXPECT(after.mapping_count < before.mapping_count + kMappingsMax);
  printf("%s%s%s: %d mappings, %d then; %ld blocks, %ld then\n", use,
         used_elsewhere ? ", used elsewhere" : "",
         unloaded_elsewhere ? ", unloaded elsewhere" : "", before.mapping_count,
         after.mapping_count, before.block_count, after.block_count);
  let_resident_run(&resident, NULL);
}

/* A worker that releases its own instance is not joined. */
static void stays_until_the_worker_has_ended(void) {
  sem_init(&is_reached, 0, 0);
  const int thread_count = count_entries("/proc/self/task");
  for (int i = round_count(); i > 0; --i) {
    round_t round = {"worker_lets_go", load()};
    run_use(&round);
    sem_wait(&is_reached);
    unload(&round);
    await_unloaded(thread_count);
  }
}

static void each_use(const char* use) {
  for (int way = 0; way < 4; ++way) {
    load_and_unload(use, (way & 1) != 0, (way & 2) != 0);
  }
}

/* In a process of its own, so that each begins with no library loaded. */
static void apart(void (*run)(const char* use), const char* use) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    failure_count = 0;
    run(use);
    exit(failure_count != 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
static void run_let_go(const char* use) {
  (void)use;
  stays_until_the_worker_has_ended();
}

int main(void) {
  mallopt(M_ARENA_MAX, 1); /* So that no arena is a mapping. */
  static const char* const kUses[] = {"calls_on_workers", "calls_here",
                                      "calls_bytecode", "streams", "uses_npu"};
  for (size_t i = 0; i < sizeof(kUses) / sizeof(kUses[0]); ++i) {
    apart(&each_use, kUses[i]);
  }
  apart(&run_let_go, NULL);
  printf(failure_count == 0 ? "[ PASSED ]\n" : "[ FAILED ]\n");
  return failure_count != 0;
}
