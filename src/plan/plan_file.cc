#include "plan/plan_file.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/narrow.h"
#include "base/status.h"
#include "flatbuffers/flatbuffers.h"
#include "plan/plan_file_generated.h"

namespace takt::plan {
namespace {

// The largest plan file that is read: offsets of FlatBuffers are signed numbers
// of 32 bits.
constexpr size_t kBytesMax = size_t{1} << 31;

// Calls `read` for each table of a vector that may be missing.
template <typename Table, typename Read>
void ForEach(const flatbuffers::Vector<flatbuffers::Offset<Table>>* tables,
             Read read) {
  if (tables == nullptr) return;
  for (const Table* table : *tables) read(*table);
}

absl::StatusOr<PlannedResource::Kind> ReadKind(uint8_t kind) {
  if (kind <= Narrow<uint8_t>(PlannedResource::Kind::kNpu)) {
    return static_cast<PlannedResource::Kind>(kind);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("plan: there is no kind of resource ", kind));
}

// A FlatBuffer may refer to one object from many places, so a small file could
// unfold into any number of copies. Plan files never do so: the decoder copies
// no more bytes than the file has.
class Decoder {
 public:
  explicit Decoder(size_t file_bytes) : bytes_left_(file_bytes) {}

  absl::StatusOr<Plan> Decode(const wire::Plan& from) {
    plan_.name = Text(from.name());
    plan_.period = from.period();
    plan_.topology_hash = Text(from.topology_hash());
    plan_.profile_hash = Text(from.profile_hash());
    plan_.lower_bound = from.lower_bound();
    ForEach(from.modules(), [&](const wire::Module& module) {
      plan_.modules.push_back(
          {Text(module.name()), Text(module.content_hash())});
    });
    ForEach(from.resources(), [&](const wire::Resource& resource) {
      plan_.resources.push_back(
          {Text(resource.name()), Kind(resource.kind()), resource.cluster()});
    });
    ForEach(from.jobs(), [&](const wire::Job& job) {
      plan_.jobs.push_back({Text(job.name()), job.release(), job.deadline(),
                            Numbers(job.allowed()), Text(job.stream()),
                            job.instance()});
    });
    ForEach(from.operations(), [&](const wire::Operation& operation) {
      plan_.operations.push_back(Read(operation));
    });
    TAKT_RETURN_IF_ERROR(status_);
    TAKT_RETURN_IF_ERROR(ValidatePlan(plan_));
    return std::move(plan_);
  }

 private:
  bool Spend(size_t bytes) {
    if (bytes > bytes_left_) {
      status_.Update(absl::InvalidArgumentError(
          "plan: the file refers to the same bytes more than once"));
      bytes_left_ = 0;
      return false;
    }
    bytes_left_ -= bytes;
    return true;
  }

  std::string Text(const flatbuffers::String* text) {
    if (text == nullptr || !Spend(text->size())) return {};
    return text->str();
  }

  std::vector<uint32_t> Numbers(const flatbuffers::Vector<uint32_t>* numbers) {
    if (numbers == nullptr || !Spend(numbers->size() * sizeof(uint32_t))) {
      return {};
    }
    return std::vector<uint32_t>(numbers->begin(), numbers->end());
  }

  // Keeps the first error.
  PlannedResource::Kind Kind(uint8_t kind) {
    const absl::StatusOr<PlannedResource::Kind> read = ReadKind(kind);
    if (read.ok()) return *read;
    status_.Update(read.status());
    return PlannedResource::Kind::kCore;
  }

  PlannedOperation Read(const wire::Operation& from) {
    PlannedOperation operation;
    operation.name = Text(from.name());
    operation.job = from.job();
    operation.module = from.module_index();
    operation.kernel = Text(from.kernel());
    operation.ordinal = from.ordinal();
    operation.start = from.start();
    operation.duration = from.duration();
    operation.resources = Numbers(from.resources());
    operation.after = Numbers(from.after());
    ForEach(from.alternatives(), [&](const wire::Alternative& alternative) {
      operation.alternatives.push_back(
          {Kind(alternative.kind()), alternative.cluster(), alternative.width(),
           alternative.duration(), alternative.feeders()});
    });
    return operation;
  }

  size_t bytes_left_;
  Plan plan_;
  absl::Status status_;
};

flatbuffers::Offset<wire::Operation> Write(
    flatbuffers::FlatBufferBuilder& builder,
    const PlannedOperation& operation) {
  std::vector<flatbuffers::Offset<wire::Alternative>> alternatives;
  for (const PlannedAlternative& alternative : operation.alternatives) {
    alternatives.push_back(wire::CreateAlternative(
        builder, Narrow<uint8_t>(alternative.kind), alternative.cluster,
        alternative.width, alternative.duration, alternative.feeders));
  }
  return wire::CreateOperation(
      builder, builder.CreateString(operation.name), operation.job,
      operation.module, builder.CreateString(operation.kernel),
      operation.ordinal, operation.start, operation.duration,
      builder.CreateVector(operation.resources),
      builder.CreateVector(operation.after),
      builder.CreateVector(alternatives));
}

}  // namespace

std::string EncodePlan(const Plan& plan) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::Module>> modules;
  for (const PlannedModule& module : plan.modules) {
    modules.push_back(
        wire::CreateModule(builder, builder.CreateString(module.name),
                           builder.CreateString(module.content_hash)));
  }
  std::vector<flatbuffers::Offset<wire::Resource>> resources;
  for (const PlannedResource& resource : plan.resources) {
    resources.push_back(
        wire::CreateResource(builder, builder.CreateString(resource.name),
                             Narrow<uint8_t>(resource.kind), resource.cluster));
  }
  std::vector<flatbuffers::Offset<wire::Job>> jobs;
  for (const PlannedJob& job : plan.jobs) {
    jobs.push_back(
        wire::CreateJob(builder, builder.CreateString(job.name), job.release,
                        job.deadline, builder.CreateVector(job.allowed),
                        builder.CreateString(job.stream), job.instance));
  }
  std::vector<flatbuffers::Offset<wire::Operation>> operations;
  for (const PlannedOperation& operation : plan.operations) {
    operations.push_back(Write(builder, operation));
  }
  builder.Finish(
      wire::CreatePlan(
          builder, kPlanFileVersion, builder.CreateString(plan.name),
          plan.period, builder.CreateString(plan.topology_hash),
          builder.CreateString(plan.profile_hash), plan.lower_bound,
          builder.CreateVector(modules), builder.CreateVector(resources),
          builder.CreateVector(jobs), builder.CreateVector(operations)),
      wire::PlanIdentifier());
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()),
                     builder.GetSize());
}

absl::StatusOr<Plan> DecodePlan(absl::Span<const uint8_t> bytes) {
  // The identifier follows the first offset.
  if (bytes.size() < 8 || bytes.size() > kBytesMax ||
      !wire::PlanBufferHasIdentifier(bytes.data())) {
    return absl::InvalidArgumentError("plan: these bytes are no plan file");
  }
  // Each reference to a table takes four bytes of its own.
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), /*max_depth=*/8,
                                 /*max_tables=*/bytes.size() / 4);
  if (!wire::VerifyPlanBuffer(verifier)) {
    return absl::InvalidArgumentError("plan: the file is cut off or damaged");
  }
  const wire::Plan& plan = *wire::GetPlan(bytes.data());
  if (plan.version() != kPlanFileVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan: the file is of version ", plan.version(),
                     "; version ", kPlanFileVersion, " is read here"));
  }
  return Decoder(bytes.size()).Decode(plan);
}

}  // namespace takt::plan
