/* Between unload_test.c and the plugin that it loads. */
#ifndef TAKT_TESTS_API_UNLOAD_PLUGIN_H_
#define TAKT_TESTS_API_UNLOAD_PLUGIN_H_

#include "takt/fence.h"

/* The user_data of a callback that is the program's, because the plugin may be
 * unloaded before the callback has returned. */
typedef struct unload_callback_t {
  void (*let_go)(struct unload_callback_t* self, takt_status_t status);
} unload_callback_t;

/* Runs one use of Takt, which releases all that it has made. The number of
 * expectations that failed; -1: there is no use of that name. */
int unload_plugin_run(const char* name,
                      void (*reached)(void* user_data, takt_status_t status));

#endif /* TAKT_TESTS_API_UNLOAD_PLUGIN_H_ */
