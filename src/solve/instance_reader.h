// Reads the classic text formats of flexible job-shop instances.
//
//   .fjs   "jobs machines mean", then per job: the number of its operations,
//          and per operation the number of alternatives followed by as many
//          "machine duration" pairs; machines count from 1, a job is a chain.
//   .fajs  "operations precedences machines", then "before after" lines, then
//          per operation its alternatives as above; everything from 0.
#ifndef TAKT_SOLVE_INSTANCE_READER_H_
#define TAKT_SOLVE_INSTANCE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "solve/problem.h"

namespace takt::solve {

// INVALID_ARGUMENT with the number of the token at fault. The result is valid.
absl::StatusOr<Problem> ReadFjs(absl::string_view text);
absl::StatusOr<Problem> ReadFajs(absl::string_view text);

}  // namespace takt::solve

#endif  // TAKT_SOLVE_INSTANCE_READER_H_
