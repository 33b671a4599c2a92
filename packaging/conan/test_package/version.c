// Creates an instance and a device, so that the library is linked and works.
#include <stdio.h>
#include <takt/takt.h>

int main(void) {
  takt_instance_t* instance = NULL;
  takt_device_t* device = NULL;
  takt_status_t status = takt_instance_create(NULL, &instance);
  if (status == NULL) {
    status = takt_device_create(instance, "local-sync", NULL, &device);
  }
  printf("%s: %s\n", takt_version(),
         status == NULL ? "ok" : takt_status_message(status));
  takt_device_release(device);
  takt_instance_release(instance);
  const int failed = status != NULL;
  takt_status_free(status);
  return failed;
}
