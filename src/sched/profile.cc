#include "sched/profile.h"

#include <vector>

#include "base/status.h"

namespace takt::sched {
namespace {

constexpr absl::string_view kMagic = "TAKTPROF";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 20;
constexpr size_t kRecordBytes = 64;
constexpr size_t kChecksumBytes = 8;
constexpr uint32_t kNameBytesMax = 255;

uint64_t Fnv1a(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
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
      value |= uint64_t{static_cast<uint8_t>(bytes_[offset_ + i])} << (8 * i);
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

struct Record {
  KernelKey key;
  uint32_t name;
  uint32_t shards;
  DurationEstimate duration;
};

absl::StatusOr<Record> TakeRecord(uint32_t name_count, Cursor* cursor) {
  const size_t offset = cursor->offset();
  Record record;
  record.key.module_hash = cursor->Take(8);
  record.key.export_ordinal = static_cast<uint32_t>(cursor->Take(4));
  for (uint32_t& size : record.key.grid) {
    size = static_cast<uint32_t>(cursor->Take(4));
  }
  record.name = static_cast<uint32_t>(cursor->Take(4));
  record.shards = static_cast<uint32_t>(cursor->Take(4));
  int64_t quantiles_ns[3];
  for (int64_t& quantile_ns : quantiles_ns) {
    quantile_ns = static_cast<int64_t>(cursor->Take(8));
  }
  const auto count = static_cast<uint32_t>(cursor->Take(4));
  if (cursor->Take(4) != 0) return Damaged(offset + 60, "expected 0");
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

// The alternative that the record is about, or nullptr.
CostModel::Alternative* Find(const Record& record, absl::string_view pool_name,
                             CostModel* costs) {
  CostModel::Kernel* kernel = costs->Find(record.key);
  if (kernel == nullptr) return nullptr;
  const int32_t pool = costs->machine().FindPool(pool_name);
  for (CostModel::Alternative& alternative : kernel->alternatives) {
    if (static_cast<int32_t>(alternative.pool) == pool &&
        alternative.shards == record.shards) {
      return &alternative;
    }
  }
  return nullptr;
}

}  // namespace

std::string WriteProfile(const CostModel& costs) {
  std::string records;
  uint32_t record_count = 0;
  for (uint32_t i = 0; i < costs.kernel_count(); ++i) {
    const CostModel::Kernel& kernel = costs.kernel(i);
    for (const CostModel::Alternative& alternative : kernel.alternatives) {
      if (!alternative.duration.measured()) continue;
      Put(kernel.key.module_hash, 8, &records);
      Put(kernel.key.export_ordinal, 4, &records);
      for (const uint32_t size : kernel.key.grid) Put(size, 4, &records);
      Put(alternative.pool, 4, &records);
      Put(alternative.shards, 4, &records);
      Put(static_cast<uint64_t>(alternative.duration.q50_ns()), 8, &records);
      Put(static_cast<uint64_t>(alternative.duration.q90_ns()), 8, &records);
      Put(static_cast<uint64_t>(alternative.duration.q99_ns()), 8, &records);
      Put(alternative.duration.count(), 4, &records);
      Put(0, 4, &records);
      ++record_count;
    }
  }
  const std::vector<Pool>& pools = costs.machine().pools;
  std::string bytes(kMagic);
  Put(kVersion, 4, &bytes);
  Put(pools.size(), 4, &bytes);
  Put(record_count, 4, &bytes);
  for (const Pool& pool : pools) {
    const std::string name = pool.name.substr(0, kNameBytesMax);
    Put(name.size(), 4, &bytes);
    bytes += name;
  }
  bytes += records;
  Put(Fnv1a(bytes), 8, &bytes);
  return bytes;
}

absl::StatusOr<ProfileReport> ReadProfile(absl::string_view bytes,
                                          CostModel* costs) {
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
  if (version != kVersion) {
    return absl::UnimplementedError(
        absl::StrCat("profile: version ", version, "; known is ", kVersion));
  }
  Cursor end(bytes.substr(body.size()));
  if (end.Take(kChecksumBytes) != Fnv1a(body)) {
    return Damaged(body.size(), "the checksum is not that of the bytes");
  }
  const auto name_count = static_cast<uint32_t>(cursor.Take(4));
  const auto record_count = static_cast<uint32_t>(cursor.Take(4));
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
  std::vector<Record> records;
  for (uint32_t i = 0; i < record_count; ++i) {
    TAKT_ASSIGN_OR_RETURN(const Record record, TakeRecord(name_count, &cursor));
    records.push_back(record);
  }
  // Nothing is changed until all of it is known to be good.
  ProfileReport report;
  for (const Record& record : records) {
    CostModel::Alternative* alternative =
        Find(record, names[record.name], costs);
    ++(alternative != nullptr ? report.applied_count : report.unknown_count);
    if (alternative != nullptr) alternative->duration = record.duration;
  }
  costs->NoteChange();
  return report;
}

}  // namespace takt::sched
