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
      if (header_count_ == 0) header_count_ = tokens_.size();
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

  // The next word, if it is one and not a number; else empty.
  absl::string_view TakeWord() {
    if (position_ == tokens_.size()) return {};
    const absl::string_view token = tokens_[position_];
    if (token.front() < 'a' || token.front() > 'z') return {};
    ++position_;
    return token;
  }

  // The third number of a .fjs header, which may be a fraction or missing; the
  // first two have been read.
  void SkipMean() {
    if (header_count_ > 2) ++position_;
  }

  absl::Status ExpectEnd() const {
    if (position_ == tokens_.size()) return absl::OkStatus();
    return Error(absl::StrCat(tokens_.size() - position_, " are left over"));
  }

 private:
  std::vector<absl::string_view> tokens_;
  size_t header_count_ = 0;  // Those of the first line that has any.
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

// Reads the lines of side constraints.
class SideConstraints {
 public:
  // `jobs`: the first operation of each job, and the end of the last; empty
  // where a file has no jobs.
  SideConstraints(Tokens& tokens, int64_t first_machine,
                  std::vector<uint32_t> jobs, Problem& problem)
      : tokens_(tokens),
        first_machine_(first_machine),
        jobs_(std::move(jobs)),
        problem_(problem) {}

  absl::Status Read() {
    for (;;) {
      const absl::string_view word = tokens_.TakeWord();
      if (word.empty()) return tokens_.ExpectEnd();
      TAKT_RETURN_IF_ERROR(ReadLine(word));
    }
  }

 private:
  absl::Status ReadLine(absl::string_view word) {
    if (word == "release") return ReadTime(&Operation::release);
    if (word == "tail") return ReadTime(&Operation::tail);
    if (word == "due") return ReadDue();
    if (word == "family") return ReadFamily();
    if (word == "setup") return ReadSetup();
    if (word == "no-wait") return ReadNoWait();
    if (!jobs_.empty() && word == "job-release") return ReadJobRelease();
    if (!jobs_.empty() && word == "job-due") return ReadJobDue();
    return tokens_.Error(
        absl::StrCat("\"", word, "\" is no side constraint of this format"));
  }

  absl::StatusOr<uint32_t> Index() {
    const auto last = Narrow<int64_t>(problem_.operations.size()) - 1;
    TAKT_ASSIGN_OR_RETURN(const int64_t index,
                          tokens_.Number("an operation", 0, last));
    return Narrow<uint32_t>(index);
  }

  absl::StatusOr<int64_t> Time() {
    return tokens_.Number("a time", 0, Problem::kMaxTime);
  }

  absl::StatusOr<uint32_t> Family() {
    TAKT_ASSIGN_OR_RETURN(
        const int64_t family,
        tokens_.Number("a family", 0, Problem::kMaxFamilies - 1));
    return Narrow<uint32_t>(family);
  }

  absl::Status ReadTime(int64_t Operation::*time) {
    TAKT_ASSIGN_OR_RETURN(const uint32_t index, Index());
    TAKT_ASSIGN_OR_RETURN(problem_.operations[index].*time, Time());
    return absl::OkStatus();
  }

  absl::Status ReadDueOf(uint32_t index) {
    Operation& operation = problem_.operations[index];
    TAKT_ASSIGN_OR_RETURN(operation.due, Time());
    TAKT_ASSIGN_OR_RETURN(operation.weight,
                          tokens_.Number("a weight", 0, Problem::kMaxTime));
    return absl::OkStatus();
  }

  absl::Status ReadDue() {
    TAKT_ASSIGN_OR_RETURN(const uint32_t index, Index());
    return ReadDueOf(index);
  }

  absl::Status ReadFamily() {
    TAKT_ASSIGN_OR_RETURN(const uint32_t index, Index());
    TAKT_ASSIGN_OR_RETURN(problem_.operations[index].family, Family());
    return absl::OkStatus();
  }

  absl::Status ReadSetup() {
    TAKT_ASSIGN_OR_RETURN(
        const int64_t machine,
        tokens_.Number("a machine", first_machine_,
                       first_machine_ + problem_.machine_count - 1));
    Setup setup;
    setup.machine = Narrow<uint32_t>(machine - first_machine_);
    const absl::string_view word = tokens_.TakeWord();
    if (word.empty()) {
      TAKT_ASSIGN_OR_RETURN(setup.from, Family());
    } else if (word == "first") {
      setup.from = Setup::kFirst;
    } else {
      return tokens_.Error(
          absl::StrCat("expected a family or first, found \"", word, "\""));
    }
    TAKT_ASSIGN_OR_RETURN(setup.to, Family());
    TAKT_ASSIGN_OR_RETURN(setup.time, Time());
    problem_.setups.push_back(setup);
    return absl::OkStatus();
  }

  absl::Status ReadNoWait() {
    TAKT_ASSIGN_OR_RETURN(const uint32_t before, Index());
    TAKT_ASSIGN_OR_RETURN(const uint32_t after, Index());
    problem_.no_waits.emplace_back(before, after);
    return absl::OkStatus();
  }

  // The index of a job that has operations.
  absl::StatusOr<size_t> Job() {
    const auto count = Narrow<int64_t>(jobs_.size()) - 1;
    TAKT_ASSIGN_OR_RETURN(const int64_t job, tokens_.Number("a job", 1, count));
    const auto index = Narrow<size_t>(job - 1);
    if (jobs_[index] == jobs_[index + 1]) {
      return tokens_.Error(absl::StrCat("job ", job, " has no operation"));
    }
    return index;
  }

  absl::Status ReadJobRelease() {
    TAKT_ASSIGN_OR_RETURN(const size_t job, Job());
    TAKT_ASSIGN_OR_RETURN(problem_.operations[jobs_[job]].release, Time());
    return absl::OkStatus();
  }

  absl::Status ReadJobDue() {
    TAKT_ASSIGN_OR_RETURN(const size_t job, Job());
    return ReadDueOf(jobs_[job + 1] - 1);
  }

  Tokens& tokens_;
  const int64_t first_machine_;
  const std::vector<uint32_t> jobs_;
  Problem& problem_;
};

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
  tokens.SkipMean();
  problem.machine_count = Narrow<uint32_t>(machines);
  std::vector<uint32_t> first_of_job = {0};
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
    first_of_job.push_back(Narrow<uint32_t>(problem.operations.size()));
  }
  TAKT_RETURN_IF_ERROR(
      SideConstraints(tokens, 1, std::move(first_of_job), problem).Read());
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
  TAKT_RETURN_IF_ERROR(SideConstraints(tokens, 0, {}, problem).Read());
  return Validated(std::move(problem));
}

}  // namespace takt::solve
