// What the C++ snippets of the pages use and do not declare themselves.
#ifndef TAKT_TESTS_TIDY_SNIPPETS_PREAMBLE_HPP_
#define TAKT_TESTS_TIDY_SNIPPETS_PREAMBLE_HPP_

#include <coroutine>
#include <future>

#include "sched/scheduler.h"
#include "takt/cxx20.hpp"
#include "takt/takt.hpp"

using namespace takt::sched;

extern Machine machine;
extern KernelKey key;
extern int64_t release_ns;
extern int64_t now_ns;
extern uint64_t tag;

extern takt::Function act;
extern takt::Function plan;
extern takt::Invocation detection;
extern takt::BufferView view;
extern takt::BufferView map;
extern float sensors[64];

extern takt::Fence ready;
extern takt::Fence done;
extern takt::Fence frame;
extern takt::Fence fence;
struct Loop {
  void Post(std::coroutine_handle<> next);
};
extern Loop loop;

#endif  // TAKT_TESTS_TIDY_SNIPPETS_PREAMBLE_HPP_
