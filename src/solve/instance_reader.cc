#include "solve/instance_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::solve {
namespace {

// More than any machine of ours will solve, and a bound for hostile counts.
constexpr int64_t kMaxCount = 1'000'000;

// The numbers of a text, one after the other; '#' starts a comment line.
class Tokens {
 public:
  explicit Tokens(absl::string_view text) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      for (absl::string_view token :
           absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty())) {
        if (token.front() == '#') break;
        tokens_.push_back(token);
      }
    }
  }

  absl::Status Error(absl::string_view reason) const {
    return absl::InvalidArgumentError(
        absl::StrCat("token ", position_, ": ", reason));
  }

  absl::StatusOr<int64_t> Number(absl::string_view what, int64_t min,
                                 int64_t max) {
    if (position_ == tokens_.size()) {
      return Error(absl::StrCat("expected ", what, ", found the end"));
    }
    int64_t value = 0;
    const absl::string_view token = tokens_[position_];
    if (!absl::SimpleAtoi(token, &value) || value < min || value > max) {
      return Error(absl::StrCat("expected ", what, " from ", min, " to ", max,
                                ", found \"", token, "\""));
    }
    ++position_;
    return value;
  }

  // The third number of a .fjs header, which may be a fraction or missing.
  void SkipMean(absl::string_view text) {
    const absl::string_view first_line = text.substr(0, text.find('\n'));
    const std::vector<absl::string_view> header =
        absl::StrSplit(first_line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (header.size() > 2) ++position_;
  }

  absl::Status ExpectEnd() const {
    if (position_ == tokens_.size()) return absl::OkStatus();
    return Error(absl::StrCat(tokens_.size() - position_, " are left over"));
  }

 private:
  std::vector<absl::string_view> tokens_;
  size_t position_ = 0;
};

absl::StatusOr<Operation> ReadOperation(Tokens& tokens, int64_t first_machine,
                                        uint32_t machine_count) {
  TAKT_ASSIGN_OR_RETURN(
      const int64_t count,
      tokens.Number("a number of alternatives", 1, kMaxCount));
  Operation operation;
  for (int64_t i = 0; i < count; ++i) {
    TAKT_ASSIGN_OR_RETURN(const int64_t machine,
                          tokens.Number("a machine", first_machine,
                                        first_machine + machine_count - 1));
    TAKT_ASSIGN_OR_RETURN(const int64_t duration,
                          tokens.Number("a duration", 0, Problem::kMaxTime));
    operation.alternatives.push_back(
        {{Narrow<uint32_t>(machine - first_machine)}, duration});
  }
  return operation;
}

absl::StatusOr<Problem> Validated(Problem problem) {
  TAKT_RETURN_IF_ERROR(problem.Validate());
  return problem;
}

}  // namespace

absl::StatusOr<Problem> ReadFjs(absl::string_view text) {
  Tokens tokens(text);
  Problem problem;
  TAKT_ASSIGN_OR_RETURN(const int64_t jobs,
                        tokens.Number("a number of jobs", 1, kMaxCount));
  TAKT_ASSIGN_OR_RETURN(const int64_t machines,
                        tokens.Number("a number of machines", 1, kMaxCount));
  tokens.SkipMean(text);
  problem.machine_count = Narrow<uint32_t>(machines);
  for (int64_t job = 0; job < jobs; ++job) {
    TAKT_ASSIGN_OR_RETURN(
        const int64_t count,
        tokens.Number("a number of operations", 0, kMaxCount));
    for (int64_t i = 0; i < count; ++i) {
      TAKT_ASSIGN_OR_RETURN(Operation operation,
                            ReadOperation(tokens, 1, problem.machine_count));
      problem.operations.push_back(std::move(operation));
      const auto index = Narrow<uint32_t>(problem.operations.size() - 1);
      if (i > 0) problem.precedences.emplace_back(index - 1, index);
    }
  }
  TAKT_RETURN_IF_ERROR(tokens.ExpectEnd());
  return Validated(std::move(problem));
}

absl::StatusOr<Problem> ReadFajs(absl::string_view text) {
  Tokens tokens(text);
  Problem problem;
  TAKT_ASSIGN_OR_RETURN(const int64_t operations,
                        tokens.Number("a number of operations", 1, kMaxCount));
  TAKT_ASSIGN_OR_RETURN(const int64_t precedences,
                        tokens.Number("a number of precedences", 0, kMaxCount));
  TAKT_ASSIGN_OR_RETURN(const int64_t machines,
                        tokens.Number("a number of machines", 1, kMaxCount));
  problem.machine_count = Narrow<uint32_t>(machines);
  for (int64_t i = 0; i < precedences; ++i) {
    TAKT_ASSIGN_OR_RETURN(const int64_t before,
                          tokens.Number("an operation", 0, operations - 1));
    TAKT_ASSIGN_OR_RETURN(const int64_t after,
                          tokens.Number("an operation", 0, operations - 1));
    problem.precedences.emplace_back(before, after);
  }
  for (int64_t i = 0; i < operations; ++i) {
    TAKT_ASSIGN_OR_RETURN(Operation operation,
                          ReadOperation(tokens, 0, problem.machine_count));
    problem.operations.push_back(std::move(operation));
  }
  TAKT_RETURN_IF_ERROR(tokens.ExpectEnd());
  return Validated(std::move(problem));
}

}  // namespace takt::solve
