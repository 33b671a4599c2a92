#include "runtime/job_annotations.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/cpu_set.h"
#include "base/status.h"

namespace takt::runtime {
namespace {

constexpr int32_t kPriorityMax = 255;

absl::Status Malformed(absl::string_view key, absl::string_view expected,
                       absl::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute ", key, ": expected ", expected, ", got \"", value, "\""));
}

absl::StatusOr<const CpuSet*> FindCpus(Instance& instance,
                                       absl::Span<const uint64_t> words) {
  while (!words.empty() && words.back() == 0) words.remove_suffix(1);
  constexpr size_t kWordsMax = CpuSet::kMaxCpus / 64;
  if (words.empty() || words.size() > kWordsMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: cpu_words: ",
        words.empty() ? "no CPU is in it"
                      : absl::StrCat("a CPU above ", CpuSet::kMaxCpus - 1)));
  }
  return instance.FindCpuSet(words);
}

}  // namespace

absl::StatusOr<JobAnnotations> JobAnnotations::Read(
    Instance& instance, const vm::ExportInfo& info) {
  constexpr absl::string_view kPriority = "takt.priority";
  constexpr absl::string_view kDeadline = "takt.deadline_ns";
  constexpr absl::string_view kAffinity = "takt.affinity";
  constexpr absl::string_view kIsa = "takt.isa";
  JobAnnotations annotations;
  if (const std::string* value = info.FindAttribute(kPriority)) {
    int32_t priority = 0;
    if (!absl::SimpleAtoi(*value, &priority) || priority < 0 ||
        priority > kPriorityMax) {
      return Malformed(kPriority, "0 to 255", *value);
    }
    annotations.priority_ = static_cast<uint8_t>(priority);
  }
  if (const std::string* value = info.FindAttribute(kDeadline)) {
    int64_t deadline_ns = 0;
    if (!absl::SimpleAtoi(*value, &deadline_ns) || deadline_ns <= 0) {
      return Malformed(kDeadline, "a positive number of ns", *value);
    }
    annotations.deadline_after_ns_ = deadline_ns;
  }
  if (const std::string* value = info.FindAttribute(kAffinity)) {
    const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(*value);
    if (!cpus.ok() || cpus->empty()) {
      return Malformed(kAffinity, "CPUs such as 0x0f or 0-3", *value);
    }
    absl::Span<const uint64_t> words = cpus->words();
    while (words.back() == 0) words.remove_suffix(1);
    annotations.cpus_ = instance.FindCpuSet(words);
  }
  if (const std::string* value = info.FindAttribute(kIsa)) {
    annotations.isa_ =
        absl::StrSplit(*value, absl::ByAnyChar(", "), absl::SkipEmpty());
    if (annotations.isa_.empty()) {
      return Malformed(kIsa, "features such as avx2,fma", *value);
    }
    TAKT_ASSIGN_OR_RETURN(annotations.isa_cpus_,
                          instance.FindCpusWithIsa(annotations.isa_, nullptr));
    if (annotations.isa_cpus_ != nullptr) {
      TAKT_ASSIGN_OR_RETURN(
          annotations.cpus_,
          instance.FindCpusWithIsa(annotations.isa_, annotations.cpus_));
    }
  }
  return annotations;
}

absl::StatusOr<JobAttributes> JobAnnotations::Resolve(
    Instance& instance, const CallOptions& options) const {
  JobAttributes job;
  job.priority = priority_;
  job.cpus = cpus_;
  job.fault_policy = options.fault_policy;
  job.memory_limit = options.memory_limit;
  if (options.priority.has_value()) {
    if (*options.priority < 0 || *options.priority > kPriorityMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("options: priority: expected 0 to ", kPriorityMax,
                       ", got ", *options.priority));
    }
    job.priority = static_cast<uint8_t>(*options.priority);
  }
  if (options.deadline_ns.has_value()) {
    job.deadline_ns = *options.deadline_ns;
  } else if (deadline_after_ns_ != kInfiniteFuture) {
    job.deadline_ns = DeadlineAfter(NowNs(), deadline_after_ns_);
  }
  if (!options.cpu_words.empty()) {
    TAKT_ASSIGN_OR_RETURN(job.cpus, FindCpus(instance, options.cpu_words));
    if (isa_cpus_ != nullptr && !job.cpus->IsSubsetOf(*isa_cpus_)) {
      TAKT_ASSIGN_OR_RETURN(job.cpus, instance.FindCpusWithIsa(isa_, job.cpus));
    }
  }
  return job;
}

}  // namespace takt::runtime
