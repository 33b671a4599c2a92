#include "takt/topology.h"

#include "tests/api/test.h"

static const char kBoard[] =
    "{\"name\": \"board\", \"clusters\": ["
    "{\"name\": \"big\", \"cpus\": \"0-3\"},"
    "{\"name\": \"little\", \"cpus\": \"4-7\"}]}";

static void reads_and_writes_a_board(void) {
  takt_topology_t* board = NULL;
  REQUIRE_OK(takt_topology_parse(kBoard, &board));
  char* text = NULL;
  REQUIRE_OK(takt_topology_to_json(board, &text));
  EXPECT_CONTAINS(text, "little");
  takt_topology_t* again = NULL;
  REQUIRE_OK(takt_topology_parse(text, &again));
  char* same = NULL;
  REQUIRE_OK(takt_topology_to_json(again, &same));
  EXPECT_TEXT(same, text);
  takt_string_free(same);
  takt_string_free(text);
  takt_topology_retain(board);
  takt_topology_release(board);
  takt_topology_release(board);
  takt_topology_release(again);
  takt_topology_release(NULL);
}

static void refuses_what_is_no_board(void) {
  takt_topology_t* board = NULL;
  EXPECT_ERROR(takt_topology_parse("{", &board), TAKT_STATUS_INVALID_ARGUMENT,
               "is not JSON");
  EXPECT_ERROR(
      takt_topology_parse("{\"clusters\": [{\"cpus\": \"x\"}]}", &board),
      TAKT_STATUS_INVALID_ARGUMENT, "clusters[0]");
  EXPECT_ERROR(takt_topology_parse(NULL, &board), TAKT_STATUS_INVALID_ARGUMENT,
               "json");
  EXPECT(board == NULL);
}

static void finds_this_machine(void) {
  takt_topology_t* machine = NULL;
  REQUIRE_OK(takt_topology_discover(&machine));
  char* text = NULL;
  REQUIRE_OK(takt_topology_to_json(machine, &text));
  EXPECT_CONTAINS(text, "cpus");
  takt_string_free(text);
  takt_topology_release(machine);
}

int main(void) {
  RUN(reads_and_writes_a_board);
  RUN(refuses_what_is_no_board);
  RUN(finds_this_machine);
  return test_result();
}
