// Reads the classic text formats of flexible job-shop instances.
//
//   .fjs   "jobs machines mean", then per job: the number of its operations,
//          and per operation the number of alternatives followed by as many
//          "machine duration" pairs; machines count from 1, a job is a chain.
//   .fajs  "operations precedences machines", then "before after" lines, then
//          per operation its alternatives as above; everything from 0.
//
// Lines with side constraints may follow in both. Operations count from 0 in
// the order of the file, machines as elsewhere in the file.
//
//   release OPERATION TIME          tail OPERATION TIME
//   due OPERATION TIME WEIGHT       family OPERATION FAMILY
//   setup MACHINE FROM TO TIME      FROM may be "first"
//   no-wait OPERATION OPERATION     one directly follows the other
//   job-release JOB TIME            .fjs only: of a job's first operation, and
//   job-due JOB TIME WEIGHT         of its last one; jobs count from 1
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
