// takt/topology.h - what a machine consists of: clusters of CPUs that share a
// cache, and the CPUs that this process may use.
//
// Thread-safety: a topology is immutable; every function may run on any
// thread.
#ifndef TAKT_TOPOLOGY_H_
#define TAKT_TOPOLOGY_H_

#include "takt/base.h"
#include "takt/status.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_topology_t takt_topology_t;

// Examines this machine: the CPUs that the process may use, without those that
// the system keeps isolated. Takes some milliseconds.
//
//   out_topology  receives one reference; NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_topology_discover(takt_topology_t** out_topology);

// Reads the JSON description of a board; docs/executor.md has the schema.
//
//   json          borrowed, NUL-terminated.
//   out_topology  receives one reference; NULL on error.
//
// Errors: INVALID_ARGUMENT  the message names the place.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_topology_parse(const char* json, takt_topology_t** out_topology);

// Adds a reference.
TAKT_EXPORT void takt_topology_retain(takt_topology_t* topology);

// Releases a reference; the last one frees the topology.
TAKT_EXPORT void takt_topology_release(takt_topology_t* topology);

// Writes the topology as the JSON that takt_topology_parse() reads.
//
//   out_text  receives the text, for takt_string_free(); NULL on error.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_topology_to_json(const takt_topology_t* topology, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOPOLOGY_H_
