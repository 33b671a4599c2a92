// What the C snippets of the pages use and do not declare themselves.
#ifndef TAKT_TESTS_TIDY_SNIPPETS_PREAMBLE_H_
#define TAKT_TESTS_TIDY_SNIPPETS_PREAMBLE_H_
#define _GNU_SOURCE

#include <err.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "takt/takt.h"
#include "takt/tools/tools.h"

void check(takt_status_t status);

extern const char* path;
extern takt_status_t status;
extern takt_instance_t* instance;
extern takt_device_t* device;
extern takt_device_t* cpu;
extern takt_device_t* npu;
extern takt_module_t* module;
extern takt_context_t* context;
extern takt_context_options_t options;
extern takt_function_t* function;
extern takt_function_t* act;
extern takt_function_t* mul;
extern takt_function_t* policy;
extern takt_function_t* project;
extern takt_signature_t* signature;

extern takt_function_t* plan;
extern takt_invocation_t* detection;
extern takt_invocation_t* planning;
extern takt_buffer_view_t* map;

struct arena_t;
extern struct arena_t arena;
void* allocate_from_arena(void* user_data, size_t byte_length,
                          size_t alignment);
void free_to_arena(void* user_data, void* data, size_t byte_length,
                   size_t alignment);
void destroy(void* payload);

extern float data[4];
extern int64_t shape[1];
extern takt_buffer_view_t* view;
extern takt_value_t inputs[2];
extern takt_value_t output;
extern takt_value_t result;
extern takt_value_t argument;
extern takt_value_t image;

extern takt_fence_t* fence;
extern takt_fence_t* ready;
extern takt_fence_t* done;
extern takt_fence_t* frame_ready;
extern takt_fence_t* allocated;
extern takt_fence_t* freed;
extern takt_command_buffer_t* commands;
extern takt_buffer_range_t left;
extern takt_buffer_range_t right;
extern takt_buffer_range_t out;

extern takt_plan_operation_t operations[2];
extern takt_plan_precedence_t first_then_second;
extern takt_host_buffer_t array;
extern char public_key[32];
takt_status_t verify_signature(void* public_key, const char* path,
                               const void* data, size_t size);

extern takt_stream_t* stream;
extern takt_stream_t* control;
extern float sensors[64];
void drive(const takt_value_t* action, int64_t end_ns);

// The embedder's own loop.
void poll_the_hosts_events(void);
void sleep_until_an_event_or(int64_t time_ns);
void read_sensors(void);
void drive_motors(void);

#endif  // TAKT_TESTS_TIDY_SNIPPETS_PREAMBLE_H_
