#include "hal/deferred.h"

#include "base/check.h"

namespace takt::hal {
namespace {

struct List {
  Deferred* first = nullptr;
  Deferred* last = nullptr;
  bool running = false;
};

List& ThisThread() {
  thread_local List list;
  return list;
}

void RunAll(List& list) {
  while (Deferred* deferred = list.first) {
    list.first = deferred->next;
    deferred->next = nullptr;
    deferred->run(deferred);
  }
}

}  // namespace

void RunOrDefer(Deferred* first) {
  List& list = ThisThread();
  Deferred* last = first;
  while (last->next != nullptr) last = last->next;
  if (list.first == nullptr) {
    list.first = first;
  } else {
    list.last->next = first;
  }
  list.last = last;
  if (list.running) return;
  // If a call throws, the next RunOrDefer() of this thread runs the rest.
  struct Turn {
    explicit Turn(List& list_in) : list(list_in) { list.running = true; }
    ~Turn() { list.running = false; }
    List& list;
  } turn(list);
  RunAll(list);
}

DeferScope::DeferScope() : is_outermost_(!ThisThread().running) {
  ThisThread().running = true;
}

DeferScope::~DeferScope() {
  if (!is_outermost_) return;
  List& list = ThisThread();
  RunAll(list);
  list.running = false;
}

DeferredWaitScope::DeferredWaitScope() : was_running_(ThisThread().running) {
  RunDeferred();
  ThisThread().running = false;
}

DeferredWaitScope::~DeferredWaitScope() {
  List& list = ThisThread();
  TAKT_DCHECK(!list.running && list.first == nullptr);
  list.running = was_running_;
}

void RunDeferred() { RunAll(ThisThread()); }

bool HasDeferred() { return ThisThread().first != nullptr; }

}  // namespace takt::hal
