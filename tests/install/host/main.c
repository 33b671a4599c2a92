// A program of the project that adds Takt, with a library of its own.
#include <stdio.h>

#include "takt/takt.h"

int host_answer(void);

int main(void) {
  printf("%d %s\n", host_answer(), takt_version());
  return 0;
}
