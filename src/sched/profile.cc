#include "sched/profile.h"

#include <tuple>
#include <vector>

#include "base/narrow.h"
#include "base/stable_sort.h"
#include "base/status.h"

namespace takt::sched {
namespace {

constexpr absl::string_view kMagic = "TAKTPROF";
constexpr uint32_t kVersion = 2;
constexpr uint32_t kVersionWithoutSlowdown = 1;
constexpr size_t kHeaderBytes = 20;
constexpr size_t kRecordBytes = 64;
constexpr size_t kChecksumBytes = 8;
constexpr uint32_t kNameBytesMax = 255;

uint64_t Fnv1a(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ Truncate<uint8_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

void Put(uint64_t value, size_t byte_count, std::string* bytes) {
  for (size_t i = 0; i < byte_count; ++i) {
    bytes->push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Reads on; the caller has checked that the bytes are there.
class Cursor {
 public:
  explicit Cursor(absl::string_view bytes) : bytes_(bytes) {}

  size_t offset() const { return offset_; }
  size_t left() const { return bytes_.size() - offset_; }
  uint64_t Take(size_t byte_count) {
    uint64_t value = 0;
    for (size_t i = 0; i < byte_count; ++i) {
      value |= uint64_t{Truncate<uint8_t>(bytes_[offset_ + i])} << (8 * i);
    }
    offset_ += byte_count;
    return value;
  }
  absl::string_view TakeText(size_t byte_count) {
    const absl::string_view text = bytes_.substr(offset_, byte_count);
    offset_ += byte_count;
    return text;
  }

 private:
  const absl::string_view bytes_;
  size_t offset_ = 0;
};

absl::Status Damaged(size_t offset, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("profile: at byte ", offset, ": ", what));
}

struct WireRecord {
  KernelKey key;
  uint32_t name;
  uint32_t shards;
  DurationEstimate duration;
  int32_t sensitivity_ppm;
  int32_t pressure_ppm;
};

absl::StatusOr<WireRecord> TakeRecord(uint64_t version, uint32_t name_count,
                                      Cursor* cursor) {
  const size_t offset = cursor->offset();
  WireRecord record;
  record.key.module_hash = cursor->Take(8);
  record.key.export_ordinal = Narrow<uint32_t>(cursor->Take(4));
  for (uint32_t& size : record.key.grid) {
    size = Narrow<uint32_t>(cursor->Take(4));
  }
  record.name = Narrow<uint32_t>(cursor->Take(4));
  record.shards = Narrow<uint32_t>(cursor->Take(4));
  int64_t quantiles_ns[3];
  for (int64_t& quantile_ns : quantiles_ns) {
    quantile_ns = Truncate<int64_t>(cursor->Take(8));
  }
  const auto count = Narrow<uint32_t>(cursor->Take(4));
  record.sensitivity_ppm = Narrow<int32_t>(cursor->Take(2)) * 1000;
  record.pressure_ppm = Narrow<int32_t>(cursor->Take(2)) * 1000;
  if (version == kVersionWithoutSlowdown) {
    if (record.sensitivity_ppm != 0 || record.pressure_ppm != 0) {
      return Damaged(offset + 60, "expected 0");
    }
    record.sensitivity_ppm = Slowdown().sensitivity_ppm;
  }
  if (record.sensitivity_ppm > Slowdown::kSensitivityMaxPpm ||
      record.pressure_ppm > Slowdown::kPressureMaxPpm) {
    return Damaged(offset + 60, "a slowdown that is none");
  }
  if (record.name >= name_count) {
    return Damaged(offset + 24, absl::StrCat("there is no name ", record.name));
  }
  if (count == 0) return Damaged(offset + 56, "nothing was measured");
  if (quantiles_ns[0] < 0 || quantiles_ns[0] > quantiles_ns[1] ||
      quantiles_ns[1] > quantiles_ns[2] ||
      quantiles_ns[2] > DurationEstimate::kMaxNs) {
    return Damaged(offset + 32, "quantiles that are none");
  }
  record.duration = DurationEstimate::Restore(quantiles_ns[0], quantiles_ns[1],
                                              quantiles_ns[2], count);
  return record;
}

// The records of a profile being written, and the names that they refer to.
class Writer {
 public:
  uint32_t NameOf(absl::string_view pool) {
    const absl::string_view name = pool.substr(0, kNameBytesMax);
    for (uint32_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return i;
    }
    names_.emplace_back(name);
    return Narrow<uint32_t>(names_.size() - 1);
  }
  void Add(const KernelKey& key, absl::string_view pool, uint32_t shards,
           const DurationEstimate& duration, int32_t sensitivity_ppm,
           int32_t pressure_ppm) {
    Put(key.module_hash, 8, &records_);
    Put(key.export_ordinal, 4, &records_);
    for (const uint32_t size : key.grid) Put(size, 4, &records_);
    Put(NameOf(pool), 4, &records_);
    Put(shards, 4, &records_);
    Put(Narrow<uint64_t>(duration.q50_ns()), 8, &records_);
    Put(Narrow<uint64_t>(duration.q90_ns()), 8, &records_);
    Put(Narrow<uint64_t>(duration.q99_ns()), 8, &records_);
    Put(duration.count(), 4, &records_);
    Put(Narrow<uint64_t>(sensitivity_ppm / 1000), 2, &records_);
    Put(Narrow<uint64_t>(pressure_ppm / 1000), 2, &records_);
    ++record_count_;
  }
  std::string Finish() const {
    std::string bytes(kMagic);
    Put(kVersion, 4, &bytes);
    Put(names_.size(), 4, &bytes);
    Put(record_count_, 4, &bytes);
    for (const std::string& name : names_) {
      Put(name.size(), 4, &bytes);
      bytes += name;
    }
    bytes += records_;
    Put(Fnv1a(bytes), 8, &bytes);
    return bytes;
  }

 private:
  std::vector<std::string> names_;
  std::string records_;
  uint32_t record_count_ = 0;
};

}  // namespace

std::string WriteProfile(const CostModel& costs) {
  return WriteProfile(costs, ProfileData());
}

std::string WriteProfile(const CostModel& costs, const ProfileData& others) {
  Writer writer;
  const std::vector<Pool>& pools = costs.machine().pools;
  for (const Pool& pool : pools) writer.NameOf(pool.name);
  for (uint32_t i = 0; i < costs.kernel_count(); ++i) {
    const CostModel::Kernel& kernel = costs.kernel(i);
    for (const CostModel::Alternative& alternative : kernel.alternatives) {
      if (!alternative.duration.measured()) continue;
      writer.Add(kernel.key, pools[alternative.pool].name, alternative.shards,
                 alternative.duration, alternative.slowdown.sensitivity_ppm,
                 alternative.slowdown.pressure_ppm);
    }
  }
  std::vector<KernelKey> keys;  // In an order that is always the same.
  for (const auto& [key, records] : others.records_) {
    if (!costs.FindId(key).has_value()) keys.push_back(key);
  }
  StableSort(keys, [](const KernelKey& a, const KernelKey& b) {
    return std::tie(a.module_hash, a.export_ordinal, a.grid[0], a.grid[1],
                    a.grid[2]) < std::tie(b.module_hash, b.export_ordinal,
                                          b.grid[0], b.grid[1], b.grid[2]);
  });
  for (const KernelKey& key : keys) {
    for (const auto& record : others.records_.at(key)) {
      writer.Add(key, record.pool, record.shards, record.duration,
                 record.sensitivity_ppm, record.pressure_ppm);
    }
  }
  return writer.Finish();
}

absl::StatusOr<ProfileData> ProfileData::Parse(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes + kChecksumBytes) {
    return Damaged(bytes.size(), "ends within the header");
  }
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return Damaged(0, "is no profile");
  }
  const absl::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  Cursor cursor(body);
  cursor.TakeText(kMagic.size());
  const uint64_t version = cursor.Take(4);
  if (version != kVersion && version != kVersionWithoutSlowdown) {
    return absl::UnimplementedError(
        absl::StrCat("profile: version ", version, "; known is ", kVersion));
  }
  Cursor end(bytes.substr(body.size()));
  if (end.Take(kChecksumBytes) != Fnv1a(body)) {
    return Damaged(body.size(), "the checksum is not that of the bytes");
  }
  const auto name_count = Narrow<uint32_t>(cursor.Take(4));
  const auto record_count = Narrow<uint32_t>(cursor.Take(4));
  std::vector<absl::string_view> names;
  for (uint32_t i = 0; i < name_count; ++i) {
    if (cursor.left() < 4) return Damaged(cursor.offset(), "a name is missing");
    const uint64_t length = cursor.Take(4);
    if (length > kNameBytesMax || length > cursor.left()) {
      return Damaged(cursor.offset(),
                     absl::StrCat("a name of ", length, " bytes"));
    }
    names.push_back(cursor.TakeText(length));
  }
  if (cursor.left() != uint64_t{record_count} * kRecordBytes) {
    return Damaged(cursor.offset(), absl::StrCat(record_count, " records in ",
                                                 cursor.left(), " bytes"));
  }
  ProfileData data;
  for (uint32_t i = 0; i < record_count; ++i) {
    TAKT_ASSIGN_OR_RETURN(const WireRecord record,
                          TakeRecord(version, name_count, &cursor));
    data.records_[record.key].push_back(
        {std::string(names[record.name]), record.shards, record.duration,
         record.sensitivity_ppm, record.pressure_ppm});
  }
  return data;
}

bool ProfileData::Apply(const Record& record, const KernelKey& key,
                        CostModel* costs) const {
  const absl::optional<KernelId> id = costs->FindId(key);
  if (!id.has_value()) return false;
  const int32_t pool = costs->machine().FindPool(record.pool);
  const auto& alternatives = costs->kernel(*id).alternatives;
  for (uint32_t i = 0; i < alternatives.size(); ++i) {
    if (Narrow<int32_t>(alternatives[i].pool) == pool &&
        alternatives[i].shards == record.shards) {
      costs->SetDuration(*id, i, record.duration);
      Slowdown* const slowdown = costs->slowdown(*id, i);
      slowdown->sensitivity_ppm = record.sensitivity_ppm;
      slowdown->pressure_ppm = record.pressure_ppm;
      return true;
    }
  }
  return false;
}

ProfileReport ProfileData::ApplyTo(CostModel* costs) const {
  ProfileReport report;
  for (const auto& [key, records] : records_) {
    for (const Record& record : records) {
      ++(Apply(record, key, costs) ? report.applied_count
                                   : report.unknown_count);
    }
  }
  costs->NoteChange();
  return report;
}

void ProfileData::ApplyTo(KernelId kernel, CostModel* costs) const {
  const auto found = records_.find(costs->kernel(kernel).key);
  if (found == records_.end()) return;
  for (const Record& record : found->second) {
    Apply(record, found->first, costs);
  }
  costs->NoteChange();
}

absl::StatusOr<ProfileReport> ReadProfile(absl::string_view bytes,
                                          CostModel* costs) {
  // Nothing is changed until all of it is known to be good.
  TAKT_ASSIGN_OR_RETURN(const ProfileData data, ProfileData::Parse(bytes));
  return data.ApplyTo(costs);
}

}  // namespace takt::sched
