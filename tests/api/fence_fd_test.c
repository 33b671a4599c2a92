/* Fences as file descriptors, and file descriptors as fences. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "takt/fence.h"
#include "tests/api/fixture.h"

static takt_fence_t* create_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

static int export_fd(takt_fence_t* fence) {
  int fd = -1;
  REQUIRE_OK(takt_fence_export_fd(fence, &fd));
  return fd;
}

static bool is_readable(int fd) {
  struct pollfd entry = {fd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

static uint64_t read_value(int fd) {
  uint64_t value = 0;
  return read(fd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

static void write_one(int fd) {
  const uint64_t one = 1;
  EXPECT(write(fd, &one, sizeof(one)) == sizeof(one));
}

/* A fence that watches one end of a pipe. */
typedef struct watch_t {
  takt_instance_t* instance;
  int fds[2]; /* To read, to write. */
  takt_fence_t* fence;
} watch_t;

static watch_t watch_pipe(takt_fence_fd_event_t event) {
  watch_t watch = {create_instance(1), {-1, -1}, NULL};
  EXPECT(pipe2(watch.fds, O_CLOEXEC) == 0);
  const int end = event == TAKT_FENCE_FD_READABLE ? 0 : 1;
  REQUIRE_OK(takt_fence_import_fd(watch.instance, watch.fds[end], event,
                                  &watch.fence));
  return watch;
}

static void close_end(watch_t* watch, int end) {
  close(watch->fds[end]);
  watch->fds[end] = -1;
}

static void end_watch(watch_t* watch) {
  for (int end = 0; end < 2; ++end) {
    if (watch->fds[end] >= 0) close_end(watch, end);
  }
  takt_fence_release(watch->fence);
  takt_instance_release(watch->instance);
}

static void descriptor_is_readable_once_reached(void) {
  takt_fence_t* fence = create_fence();
  const int fd = export_fd(fence);
  EXPECT(!is_readable(fd));
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT(is_readable(fd));
  EXPECT(is_readable(fd));
  EXPECT(read_value(fd) == TAKT_FENCE_FD_REACHED);
  EXPECT(!is_readable(fd));
  close(fd);
  takt_fence_release(fence);
}

static void descriptor_reports_a_failure(void) {
  takt_fence_t* fence = create_fence();
  const int fd = export_fd(fence);
  takt_fence_fail(fence, takt_status_create(TAKT_STATUS_DATA_LOSS, "torn"));
  EXPECT(read_value(fd) == TAKT_FENCE_FD_FAILED);
  close(fd);
  takt_fence_release(fence);
}

static void descriptor_of_a_reached_fence_is_readable_at_once(void) {
  takt_fence_t* fence = create_fence();
  EXPECT_OK(takt_fence_signal(fence));
  const int fds[2] = {export_fd(fence), export_fd(NULL)};
  for (int i = 0; i < 2; ++i) {
    EXPECT(read_value(fds[i]) == TAKT_FENCE_FD_REACHED);
    close(fds[i]);
  }
  takt_fence_release(fence);
}

static void descriptor_may_be_closed_before_the_signal(void) {
  takt_fence_t* fence = create_fence();
  const int fd = export_fd(fence);
  close(fd);
  /* Another file takes the number: it must not be written to. */
  const int other = eventfd(0, EFD_CLOEXEC);
  EXPECT_OK(takt_fence_signal(fence));
  EXPECT(!is_readable(other));
  close(other);
  takt_fence_release(fence);
}

static void descriptor_of_a_released_fence_reports_a_failure(void) {
  takt_fence_t* fence = create_fence();
  const int fd = export_fd(fence);
  takt_fence_release(fence);
  EXPECT(read_value(fd) == TAKT_FENCE_FD_FAILED);
  close(fd);
}

static void descriptors_work_with_epoll(void) {
  takt_fence_t* fences[8];
  int fds[8];
  const int set = epoll_create1(EPOLL_CLOEXEC);
  for (uint32_t i = 0; i < 8; ++i) {
    fences[i] = create_fence();
    fds[i] = export_fd(fences[i]);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    EXPECT(epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event) == 0);
  }
  struct epoll_event ready[8];
  EXPECT(epoll_wait(set, ready, 8, 0) == 0);
  EXPECT_OK(takt_fence_signal(fences[5]));
  EXPECT(epoll_wait(set, ready, 8, 0) == 1 && ready[0].data.u32 == 5);
  for (int i = 0; i < 8; ++i) {
    close(fds[i]);
    takt_fence_release(fences[i]);
  }
  close(set);
}

static void fence_is_reached_once_the_descriptor_is_readable(void) {
  takt_instance_t* instance = create_instance(1);
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  takt_fence_t* fence = NULL;
  REQUIRE_OK(
      takt_fence_import_fd(instance, fd, TAKT_FENCE_FD_READABLE, &fence));
  EXPECT_ERROR(takt_fence_wait(fence, NULL, 0), TAKT_STATUS_DEADLINE_EXCEEDED,
               "");
  char* text = NULL;
  EXPECT_OK(takt_fence_explain(fence, &text));
  EXPECT_CONTAINS(text, "to be signaled by file descriptor ");
  takt_string_free(text);
  write_one(fd);
  EXPECT_OK(takt_fence_wait(fence, instance, TAKT_INFINITE_FUTURE));
  EXPECT(read_value(fd) == 1); /* Nothing was read from it. */
  close(fd);
  takt_fence_release(fence);
  takt_instance_release(instance);
}

static void descriptor_may_be_closed_once_imported(void) {
  watch_t watch = watch_pipe(TAKT_FENCE_FD_READABLE);
  close_end(&watch, 0);
  EXPECT(write(watch.fds[1], "x", 1) == 1);
  EXPECT_OK(takt_fence_wait(watch.fence, NULL, TAKT_INFINITE_FUTURE));
  end_watch(&watch);
}

static void fence_of_a_writable_descriptor_is_reached(void) {
  watch_t watch = watch_pipe(TAKT_FENCE_FD_WRITABLE);
  EXPECT_OK(takt_fence_wait(watch.fence, NULL, TAKT_INFINITE_FUTURE));
  end_watch(&watch);
}

static void fence_fails_when_the_descriptor_hangs_up(void) {
  watch_t watch = watch_pipe(TAKT_FENCE_FD_READABLE);
  close_end(&watch, 1);
  EXPECT_ERROR(takt_fence_wait(watch.fence, NULL, TAKT_INFINITE_FUTURE),
               TAKT_STATUS_ABORTED, "hung up");
  end_watch(&watch);
}

static void fence_is_cancelled_when_the_instance_goes(void) {
  takt_instance_t* instance = create_instance(1);
  const int fd = eventfd(0, EFD_CLOEXEC);
  takt_fence_t* fence = NULL;
  REQUIRE_OK(
      takt_fence_import_fd(instance, fd, TAKT_FENCE_FD_READABLE, &fence));
  takt_instance_release(instance);
  EXPECT_ERROR(takt_fence_wait(fence, NULL, 0), TAKT_STATUS_CANCELLED,
               "instance");
  close(fd);
  takt_fence_release(fence);
}

static void failing_an_imported_fence_ends_the_watch(void) {
  watch_t watch = watch_pipe(TAKT_FENCE_FD_READABLE);
  close_end(&watch, 0);
  takt_fence_fail(watch.fence,
                  takt_status_create(TAKT_STATUS_CANCELLED, "mine"));
  /* The duplicate was the last reader. */
  struct pollfd entry = {watch.fds[1], POLLOUT, 0};
  EXPECT(poll(&entry, 1, 0) == 1 && (entry.revents & POLLERR) != 0);
  EXPECT_ERROR(takt_fence_wait(watch.fence, NULL, 0), TAKT_STATUS_CANCELLED,
               "mine");
  end_watch(&watch);
}

static void an_exported_fence_can_be_imported_elsewhere(void) {
  takt_instance_t* instance = create_instance(0);
  takt_fence_t* here = create_fence();
  const int fd = export_fd(here);
  takt_fence_t* there = NULL;
  REQUIRE_OK(
      takt_fence_import_fd(instance, fd, TAKT_FENCE_FD_READABLE, &there));
  EXPECT_OK(takt_fence_signal(here));
  EXPECT_OK(takt_fence_wait(there, NULL, TAKT_INFINITE_FUTURE));
  close(fd);
  takt_fence_release(here);
  takt_fence_release(there);
  takt_instance_release(instance);
}

static void refuses_files_that_cannot_be_watched(void) {
  takt_instance_t* instance = create_instance(1);
  takt_fence_t* fence = NULL;
  EXPECT_ERROR(
      takt_fence_import_fd(instance, -1, TAKT_FENCE_FD_READABLE, &fence),
      TAKT_STATUS_INVALID_ARGUMENT, "file descriptor -1");
  EXPECT_ERROR(takt_fence_import_fd(NULL, 0, TAKT_FENCE_FD_READABLE, &fence),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  const int file = open(TESTDATA("regenerate.py"), O_RDONLY | O_CLOEXEC);
  EXPECT(file >= 0);
  EXPECT_ERROR(
      takt_fence_import_fd(instance, file, TAKT_FENCE_FD_READABLE, &fence),
      TAKT_STATUS_INVALID_ARGUMENT, "cannot be polled");
  close(file);
  const int event = eventfd(0, EFD_CLOEXEC);
  EXPECT_ERROR(
      takt_fence_import_fd(instance, event, (takt_fence_fd_event_t)7, &fence),
      TAKT_STATUS_INVALID_ARGUMENT, "event 7");
  close(event);
  EXPECT(fence == NULL);
  takt_instance_release(instance);
}

int main(void) {
  RUN(descriptor_is_readable_once_reached);
  RUN(descriptor_reports_a_failure);
  RUN(descriptor_of_a_reached_fence_is_readable_at_once);
  RUN(descriptor_may_be_closed_before_the_signal);
  RUN(descriptor_of_a_released_fence_reports_a_failure);
  RUN(descriptors_work_with_epoll);
  RUN(fence_is_reached_once_the_descriptor_is_readable);
  RUN(descriptor_may_be_closed_once_imported);
  RUN(fence_of_a_writable_descriptor_is_reached);
  RUN(fence_fails_when_the_descriptor_hangs_up);
  RUN(fence_is_cancelled_when_the_instance_goes);
  RUN(failing_an_imported_fence_ends_the_watch);
  RUN(an_exported_fence_can_be_imported_elsewhere);
  RUN(refuses_files_that_cannot_be_watched);
  return test_result();
}
