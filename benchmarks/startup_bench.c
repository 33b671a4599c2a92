// Runs commands in turns and prints the duration and the peak memory of each
// run:
//
//   startup_bench RUNS COMMAND ARGUMENT... -- COMMAND ARGUMENT...
//
// Each run is a line: the command's index, nanoseconds, kilobytes. This is a
// small C program because the kernel counts the memory of the parent for a new
// process: a Python parent would have more than the runtimes.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

enum { kCommandCountMax = 16 };

static long long NowNs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// Runs one command and discards its output; returns its exit code, or -1.
static int Run(char** command, int index, int is_printed) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  const long long begin_ns = NowNs();
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", command[0], strerror(error));
    return -1;
  }
  int status = 0;
  struct rusage usage;
  if (wait4(pid, &status, 0, &usage) != pid) return -1;
  const long long end_ns = NowNs();
  if (is_printed) {
    printf("%d %lld %ld\n", index, end_ns - begin_ns, usage.ru_maxrss);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  char** commands[kCommandCountMax];
  int command_count = 0;
  const int run_count = argc > 2 ? atoi(argv[1]) : 0;
  for (int i = 2; i < argc; ++i) {
    if (i == 2 || argv[i - 1] == NULL) {
      if (command_count == kCommandCountMax) break;
      commands[command_count++] = &argv[i];
    }
    if (strcmp(argv[i], "--") == 0) argv[i] = NULL;
  }
  if (run_count <= 0 || command_count == 0) {
    fprintf(stderr, "usage: %s RUNS COMMAND... [-- COMMAND...]\n", argv[0]);
    return 1;
  }
  // One round to warm up the caches of files; then the order alternates.
  for (int round = -1; round < run_count; ++round) {
    for (int i = 0; i < command_count; ++i) {
      const int index = round % 2 == 0 ? i : command_count - 1 - i;
      const int code = Run(commands[index], index, round >= 0);
      if (code != 0) {
        fprintf(stderr, "%s: exit code %d\n", commands[index][0], code);
        return 1;
      }
    }
  }
  return 0;
}
