#include "tools/common/npu_suite.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <random>

namespace takt::tools {
namespace {

// How long a batch may take in real time before the suite gives it up.
constexpr auto kPatience = std::chrono::seconds(20);

// The clock and the timers of a unit: real time, plus what has been skipped.
class Host {
 public:
  Host() {
    table_.struct_size = sizeof(table_);
    table_.user_data = this;
    table_.now_ns = [](void* self) {
      return static_cast<Host*>(self)->NowNs();
    };
    table_.schedule = [](void* self, int64_t at_ns, void (*call)(void*),
                         void* argument) {
      auto* host = static_cast<Host*>(self);
      const std::lock_guard<std::mutex> lock(host->mutex_);
      host->events_.insert({at_ns, {call, argument}});
    };
  }
  const takt_npu_host_t* table() const { return &table_; }

  // Makes the next call that was asked for; false if there is none.
  bool Step() {
    std::pair<void (*)(void*), void*> event;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (events_.empty()) return false;
      const int64_t ahead_ns = events_.begin()->first - RealNs() - skipped_ns_;
      if (ahead_ns > 0) skipped_ns_ += ahead_ns;
      event = events_.begin()->second;
      events_.erase(events_.begin());
    }
    event.first(event.second);
    return true;
  }

 private:
  static int64_t RealNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  int64_t NowNs() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return RealNs() + skipped_ns_;
  }

  takt_npu_host_t table_;
  std::mutex mutex_;
  int64_t skipped_ns_ = 0;
  std::multimap<int64_t, std::pair<void (*)(void*), void*>> events_;
};

// One unit, and how a batch of it ends.
class Unit {
 public:
  Unit(const takt_npu_driver_t& driver, const std::string& options)
      : driver_(driver) {
    char error[256] = "";
    const takt_npu_result_t result = driver.open(host_.table(), options.c_str(),
                                                 &unit_, error, sizeof(error));
    if (result != TAKT_NPU_RESULT_OK) {
      unit_ = nullptr;
      problem_ =
          std::string("open: result ") + std::to_string(result) + " " + error;
    }
  }
  ~Unit() {
    while (host_.Step()) {
    }
    if (unit_ != nullptr) driver_.close(unit_);
  }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  const std::string& problem() const { return problem_; }
  void* get() const { return unit_; }

  // Runs a batch; its result, or nothing if it did not end as it must, and
  // then problem() says how.
  takt_npu_result_t Run(const std::vector<takt_npu_operation_t>& operations) {
    takt_npu_batch_t batch;
    batch.struct_size = sizeof(batch);
    batch.id = ++last_id_;
    batch.operations = operations.data();
    batch.operation_count = operations.size();
    batch.user_data = this;
    batch.complete = [](void* self, uint64_t id, takt_npu_result_t result) {
      static_cast<Unit*>(self)->Complete(id, result);
    };
    completion_count_ = 0;
    const takt_npu_result_t submitted = driver_.submit(unit_, &batch);
    if (submitted != TAKT_NPU_RESULT_OK) {
      if (completion_count_ != 0) problem_ = "a refused batch completed";
      return submitted;
    }
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    std::unique_lock<std::mutex> lock(mutex_);
    while (completion_count_ == 0) {
      lock.unlock();
      const bool has_stepped = host_.Step();
      lock.lock();
      if (has_stepped || completion_count_ != 0) continue;
      if (ended_.wait_until(lock, deadline) == std::cv_status::timeout) {
        problem_ = "a batch did not complete";
        return TAKT_NPU_RESULT_FAILED;
      }
    }
    lock.unlock();
    while (host_.Step()) {
    }
    if (completion_count_ != 1) problem_ = "a batch completed twice";
    if (completed_id_ != batch.id) problem_ = "a batch completed as another";
    if (result_ < TAKT_NPU_RESULT_OK || result_ > TAKT_NPU_RESULT_LOST) {
      problem_ = "a batch completed with a number that is no result";
    }
    return result_;
  }

 private:
  void Complete(uint64_t id, takt_npu_result_t result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++completion_count_;
    completed_id_ = id;
    result_ = result;
    ended_.notify_all();
  }

  const takt_npu_driver_t& driver_;
  Host host_;
  void* unit_ = nullptr;
  std::string problem_;
  uint64_t last_id_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  int completion_count_ = 0;
  uint64_t completed_id_ = 0;
  takt_npu_result_t result_ = TAKT_NPU_RESULT_OK;
};

takt_npu_operation_t Operation(uint32_t kind) {
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = kind;
  return operation;
}

// Bytes at an address that every unit accepts, with a margin that must not be
// written.
class Memory {
 public:
  explicit Memory(size_t bytes, std::mt19937_64* random = nullptr)
      : byte_length_(bytes), bytes_(bytes + 2 * kMargin + kAlignment, kGuard) {
    const auto at = reinterpret_cast<uintptr_t>(bytes_.data()) + kMargin;
    offset_ = kMargin + (kAlignment - at % kAlignment) % kAlignment;
    if (random == nullptr) return;
    for (size_t i = 0; i < bytes; ++i) {
      data()[i] = static_cast<uint8_t>((*random)());
    }
  }
  uint8_t* data() { return bytes_.data() + offset_; }
  const uint8_t* data() const { return bytes_.data() + offset_; }
  size_t size() const { return byte_length_; }
  bool IsMarginIntact() const {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (i >= offset_ && i < offset_ + byte_length_) continue;
      if (bytes_[i] != kGuard) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 64;
  static constexpr size_t kAlignment = 4096;
  static constexpr uint8_t kGuard = 0xa5;
  const size_t byte_length_;
  std::vector<uint8_t> bytes_;
  size_t offset_ = 0;
};

// Operands whose products and sums are exact in every type.
struct Element {
  uint32_t bytes;
  bool is_float;
  bool is_brain;
};
Element ElementOf(uint32_t type, bool is_left) {
  switch (type) {
    case TAKT_NPU_TYPE_F32:
      return {4, true, false};
    case TAKT_NPU_TYPE_F16_F16_F32:
      return {2, true, false};
    case TAKT_NPU_TYPE_BF16_BF16_F32:
      return {2, true, true};
    case TAKT_NPU_TYPE_S16_S16_S32:
      return {2, false, false};
    case TAKT_NPU_TYPE_S16_S8_S32:
      return {is_left ? 2u : 1u, false, false};
    default:
      return {1, false, false};
  }
}

// Of -4 to 3, as f16 or the upper half of f32.
uint16_t SmallFloat(int value, bool is_brain) {
  const float exact = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &exact, sizeof(bits));
  if (is_brain) return static_cast<uint16_t>(bits >> 16);
  if (value == 0) return 0;
  const uint32_t exponent = (bits >> 23 & 255) - 112;
  return static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 |
                               (bits >> 13 & 1023));
}

std::vector<int> PutElements(Element element, std::mt19937_64& random,
                             Memory* memory) {
  std::vector<int> values(memory->size() / element.bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_wide = !element.is_float;
    const int value = is_wide ? static_cast<int>(random() % 256) - 128
                              : static_cast<int>(random() % 8) - 4;
    values[i] = value;
    uint8_t* const at = memory->data() + i * element.bytes;
    if (element.is_float && element.bytes == 4) {
      const auto exact = static_cast<float>(value);
      std::memcpy(at, &exact, sizeof(exact));
    } else if (element.is_float) {
      const uint16_t bits = SmallFloat(value, element.is_brain);
      std::memcpy(at, &bits, sizeof(bits));
    } else {
      std::memcpy(at, &value, element.bytes);  // Little-endian.
    }
  }
  return values;
}

// The elements of the whole `out` after the product of `x` and `y`.
std::vector<int> ExpectedProduct(const takt_npu_mmt4d_t& p,
                                 const std::vector<int>& x,
                                 const std::vector<int>& y,
                                 const std::vector<int>& before) {
  std::vector<int> expected = before;
  for (int64_t i = 0; i < p.m * p.m0; ++i) {
    for (int64_t j = 0; j < p.n * p.n0; ++j) {
      const int64_t at = i / p.m0 * p.out_stride + j / p.n0 * p.m0 * p.n0 +
                         i % p.m0 * p.n0 + j % p.n0;
      int sum = p.accumulate != 0 ? before[static_cast<size_t>(at)] : 0;
      for (int64_t k = 0; k < p.k * p.k0; ++k) {
        sum += x[static_cast<size_t>(i / p.m0 * p.left_stride +
                                     k / p.k0 * p.m0 * p.k0 + i % p.m0 * p.k0 +
                                     k % p.k0)] *
               y[static_cast<size_t>(j / p.n0 * p.right_stride +
                                     k / p.k0 * p.n0 * p.k0 + j % p.n0 * p.k0 +
                                     k % p.k0)];
      }
      expected[static_cast<size_t>(at)] = sum;
    }
  }
  return expected;
}

// "" if memory has the 32-bit elements; else names the first other one.
std::string CompareElements(const std::vector<int>& expected, bool is_float,
                            const Memory& out) {
  for (size_t i = 0; i < expected.size(); ++i) {
    int32_t integer = 0;
    float number = 0;
    std::memcpy(&integer, out.data() + i * 4, 4);
    std::memcpy(&number, out.data() + i * 4, 4);
    const bool is_right = is_float ? number == static_cast<float>(expected[i])
                                   : integer == expected[i];
    if (!is_right) return "element " + std::to_string(i) + " is wrong";
  }
  return "";
}

class Suite {
 public:
  Suite(const takt_npu_driver_t& driver, const std::string& options,
        uint64_t seed)
      : driver_(driver), options_(options), random_(seed) {}

  std::vector<NpuCheck> Run();

 private:
  using Problem = std::string;  // Empty: none.

  void Check(const std::string& name,
             const std::function<Problem(Unit&)>& check);
  bool Has(uint32_t kind) const { return (capabilities_.kinds >> kind & 1); }
  bool in_host_memory() const {
    return (capabilities_.flags & TAKT_NPU_HOST_MEMORY) != 0;
  }

  Problem Capabilities(Unit& unit);
  Problem SmallerStructs(Unit& unit);
  Problem Products(Unit& unit);
  void ChooseSizes(takt_npu_mmt4d_t* product);
  Problem Product(Unit& unit, uint32_t type, bool accumulate);
  Problem RunProduct(Unit& unit, takt_npu_operation_t operation, Memory* out);
  Problem RunPieces(Unit& unit, const std::vector<takt_npu_operation_t>& all);
  Problem Transfers(Unit& unit);
  Problem FillsAndCopies(Unit& unit);
  Problem Order(Unit& unit);
  Problem Unknown(Unit& unit);
  Problem CancelAndReset(Unit& unit);
  Problem Telemetry(Unit& unit);
  Problem Programs(Unit& unit);
  Problem Imports(Unit& unit);
  Problem MemorySync(Unit& unit);

  const takt_npu_driver_t& driver_;
  const std::string options_;
  std::mt19937_64 random_;
  takt_npu_capabilities_t capabilities_ = {};
  std::vector<NpuCheck> checks_;
};

void Suite::Check(const std::string& name,
                  const std::function<Problem(Unit&)>& check) {
  Unit unit(driver_, options_);
  Problem problem = unit.problem();
  if (problem.empty()) problem = check(unit);
  if (problem.empty()) problem = unit.problem();
  checks_.push_back({name, problem});
}

Suite::Problem Suite::Capabilities(Unit& unit) {
  takt_npu_capabilities_t again;
  for (takt_npu_capabilities_t* each : {&capabilities_, &again}) {
    std::memset(each, 0, sizeof(*each));
    each->struct_size = sizeof(*each);
    if (driver_.query(unit.get(), each) != TAKT_NPU_RESULT_OK)
      return "query fails";
  }
  const takt_npu_capabilities_t& c = capabilities_;
  if (std::memcmp(&c, &again, sizeof(again)) != 0) {
    return "two queries give two answers";
  }
  if (std::memchr(c.name, 0, sizeof(c.name)) == nullptr) {
    return "the name does not end";
  }
  if ((c.alignment & (c.alignment - 1)) != 0) return "alignment";
  for (int d = 0; d < 3; ++d) {
    if (c.tile_max[d] != 0 && c.tile_multiple[d] > c.tile_max[d]) {
      return "no tile is within tile_max and of tile_multiple";
    }
  }
  if (!in_host_memory() &&
      (driver_.allocate == nullptr || driver_.free_buffer == nullptr ||
       !Has(TAKT_NPU_KIND_TRANSFER))) {
    return "memory of its own needs allocate, free_buffer and TRANSFER";
  }
  if (Has(TAKT_NPU_KIND_MMT4D) && c.types == 0) return "MMT4D of no type";
  if (Has(TAKT_NPU_KIND_PROGRAM) && driver_.load_program == nullptr) {
    return "PROGRAM without load_program";
  }
  return "";
}

Suite::Problem Suite::SmallerStructs(Unit& unit) {
  takt_npu_capabilities_t older;
  std::memset(&older, 0x77, sizeof(older));
  older.struct_size = offsetof(takt_npu_capabilities_t, tile_max);
  if (driver_.query(unit.get(), &older) != TAKT_NPU_RESULT_OK)
    return "query fails";
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&older);
  for (size_t i = offsetof(takt_npu_capabilities_t, tile_max);
       i < sizeof(older); ++i) {
    if (bytes[i] != 0x77) return "it wrote beyond struct_size";
  }
  return "";
}

Suite::Problem Suite::Products(Unit& unit) {
  if (!Has(TAKT_NPU_KIND_MMT4D)) return "";
  for (uint32_t type = 0; type < 32; ++type) {
    if ((capabilities_.types >> type & 1) == 0) continue;
    for (int i = 0; i < 20; ++i) {
      Problem problem = Product(unit, type, i % 2 != 0);
      if (!problem.empty()) {
        return "type " + std::to_string(type) + ": " + problem;
      }
    }
  }
  return "";
}

// Chooses sizes and a tile that the NPU supports.
void Suite::ChooseSizes(takt_npu_mmt4d_t* product) {
  takt_npu_mmt4d_t& p = *product;
  const auto below = [this](uint64_t bound) {
    return static_cast<int64_t>(random_() % bound);
  };
  int64_t tile[3];
  for (int d = 0; d < 3; ++d) {
    const int64_t multiple = std::max(capabilities_.tile_multiple[d], 1u);
    const int64_t most =
        capabilities_.tile_max[d] != 0 ? capabilities_.tile_max[d] : 8;
    const int64_t count =
        std::max<int64_t>(std::min<int64_t>(most, 16) / multiple, 1);
    tile[d] = multiple * (below(static_cast<uint64_t>(count)) + 1);
  }
  p.m = below(3) + 1, p.n = below(3) + 1, p.k = below(5);
  p.m0 = tile[0], p.n0 = tile[1], p.k0 = tile[2];
  // Strides leave room, but keep rows aligned.
  const int64_t room = std::max<int64_t>(capabilities_.alignment, 16);
  p.left_stride = p.k * p.m0 * p.k0 + room * below(2);
  p.right_stride = p.k * p.n0 * p.k0 + room * below(2);
  p.out_stride = p.n * p.m0 * p.n0 + room * below(2);
}

Suite::Problem Suite::Product(Unit& unit, uint32_t type, bool accumulate) {
  takt_npu_operation_t operation = Operation(TAKT_NPU_KIND_MMT4D);
  takt_npu_mmt4d_t& p = operation.mmt4d;
  p.type = type;
  p.accumulate = accumulate;
  ChooseSizes(&p);
  const Element left_element = ElementOf(type, true);
  const Element right_element = ElementOf(type, false);
  Memory left(static_cast<size_t>(p.m * p.left_stride) * left_element.bytes);
  Memory right(static_cast<size_t>(p.n * p.right_stride) * right_element.bytes);
  Memory out(static_cast<size_t>(p.m * p.out_stride) * 4);
  const std::vector<int> x = PutElements(left_element, random_, &left);
  const std::vector<int> y = PutElements(right_element, random_, &right);
  const bool is_float = left_element.is_float;
  const std::vector<int> before =
      PutElements({4, is_float, false}, random_, &out);
  if (!is_float) {  // 32-bit sums, of which PutElements() wrote 16 bits.
    for (size_t i = 0; i < before.size(); ++i) {
      const int32_t value = before[i];
      std::memcpy(out.data() + i * 4, &value, 4);
    }
  }
  p.left = {left.data(), 0, 0, left.size()};
  p.right = {right.data(), 0, 0, right.size()};
  p.out = {out.data(), 0, 0, out.size()};
  const Problem problem = RunProduct(unit, operation, &out);
  if (!problem.empty()) return problem;
  if (!left.IsMarginIntact() || !right.IsMarginIntact() ||
      !out.IsMarginIntact()) {
    return "it wrote outside of its operands";
  }
  return CompareElements(ExpectedProduct(p, x, y, before), is_float, out);
}

// Runs one product; on an NPU with memory of its own, between transfers of its
// operands there and of the result back.
Suite::Problem Suite::RunProduct(Unit& unit, takt_npu_operation_t operation,
                                 Memory* out) {
  if (in_host_memory()) return RunPieces(unit, {operation});
  takt_npu_mmt4d_t& p = operation.mmt4d;
  takt_npu_range_t* const ranges[3] = {&p.left, &p.right, &p.out};
  uint64_t buffers[3] = {0, 0, 0};
  std::vector<takt_npu_operation_t> batch;
  for (int i = 0; i < 3; ++i) {
    if (driver_.allocate(unit.get(),
                         std::max<uint64_t>(ranges[i]->byte_length, 1),
                         &buffers[i]) != TAKT_NPU_RESULT_OK ||
        buffers[i] == 0) {
      return "allocate";
    }
    takt_npu_operation_t move = Operation(TAKT_NPU_KIND_TRANSFER);
    move.transfer.source = *ranges[i];
    *ranges[i] = {nullptr, buffers[i], 0, ranges[i]->byte_length};
    move.transfer.target = *ranges[i];
    if (ranges[i]->byte_length > 0) batch.push_back(move);
  }
  batch.push_back(operation);
  takt_npu_operation_t back = Operation(TAKT_NPU_KIND_TRANSFER);
  back.transfer.source = p.out;
  back.transfer.target = {out->data(), 0, 0, out->size()};
  batch.push_back(back);
  const Problem problem = RunPieces(unit, batch);
  for (const uint64_t buffer : buffers) driver_.free_buffer(unit.get(), buffer);
  return problem;
}

// Runs the operations in batches that the NPU accepts.
Suite::Problem Suite::RunPieces(Unit& unit,
                                const std::vector<takt_npu_operation_t>& all) {
  const size_t batch_max =
      capabilities_.batch_max != 0 ? capabilities_.batch_max : all.size();
  for (size_t i = 0; i < all.size(); i += batch_max) {
    const size_t end = std::min(i + batch_max, all.size());
    const takt_npu_result_t result =
        unit.Run({all.begin() + static_cast<ptrdiff_t>(i),
                  all.begin() + static_cast<ptrdiff_t>(end)});
    if (result != TAKT_NPU_RESULT_OK) {
      return "result " + std::to_string(result);
    }
  }
  return "";
}

Suite::Problem Suite::Transfers(Unit& unit) {
  if (in_host_memory() || !Has(TAKT_NPU_KIND_TRANSFER)) return "";
  Memory source(1001, &random_);
  Memory target(1001);
  uint64_t buffer = 0;
  if (driver_.allocate(unit.get(), 1001, &buffer) != TAKT_NPU_RESULT_OK) {
    return "allocate";
  }
  uint64_t sums[2] = {0, 0};
  takt_npu_operation_t there = Operation(TAKT_NPU_KIND_TRANSFER);
  there.transfer.source = {source.data(), 0, 0, 1001};
  there.transfer.target = {nullptr, buffer, 0, 1001};
  there.transfer.checksum = &sums[0];
  takt_npu_operation_t back = Operation(TAKT_NPU_KIND_TRANSFER);
  back.transfer.source = there.transfer.target;
  back.transfer.target = {target.data(), 0, 0, 1001};
  back.transfer.checksum = &sums[1];
  if (unit.Run({there}) != TAKT_NPU_RESULT_OK ||
      unit.Run({back}) != TAKT_NPU_RESULT_OK) {
    return "a transfer fails";
  }
  driver_.free_buffer(unit.get(), buffer);
  if (std::memcmp(source.data(), target.data(), 1001) != 0) {
    return "other bytes came back";
  }
  const uint64_t expected = takt_npu_checksum(source.data(), 1001);
  if (sums[0] != expected || sums[1] != expected) return "a checksum is wrong";
  uint64_t none = 0;
  if (driver_.allocate(unit.get(), uint64_t{1} << 62, &none) !=
      TAKT_NPU_RESULT_NO_MEMORY) {
    return "2^62 bytes were not NO_MEMORY";
  }
  return target.IsMarginIntact() ? "" : "it wrote outside of its operands";
}

Suite::Problem Suite::FillsAndCopies(Unit& unit) {
  if (!in_host_memory()) return "";
  Memory memory(64 * 4);
  if (Has(TAKT_NPU_KIND_FILL)) {
    takt_npu_operation_t fill = Operation(TAKT_NPU_KIND_FILL);
    fill.fill.out = {memory.data(), 0, 0, memory.size()};
    fill.fill.size0 = 8, fill.fill.size1 = 7;
    fill.fill.stride0 = 8, fill.fill.stride1 = 1;
    fill.fill.pattern = 0x12345678;
    if (unit.Run({fill}) != TAKT_NPU_RESULT_OK) return "FILL fails";
    for (int i = 0; i < 64; ++i) {
      uint32_t word = 0;
      std::memcpy(&word, memory.data() + i * 4, 4);
      if ((word == 0x12345678) != (i % 8 != 7)) return "FILL is wrong";
    }
  }
  if (!Has(TAKT_NPU_KIND_COPY)) return "";
  for (const uint32_t bytes : {1u, 2u, 4u, 8u}) {
    Memory in(6 * 5 * bytes, &random_);
    Memory out(5 * 6 * bytes);
    takt_npu_operation_t copy = Operation(TAKT_NPU_KIND_COPY);
    copy.copy.element_bytes = bytes;
    copy.copy.in = {in.data(), 0, 0, in.size()};
    copy.copy.out = {out.data(), 0, 0, out.size()};
    copy.copy.size0 = 6, copy.copy.size1 = 5;
    copy.copy.in_stride0 = 5, copy.copy.in_stride1 = 1;
    copy.copy.out_stride0 = 1, copy.copy.out_stride1 = 6;
    if (unit.Run({copy}) != TAKT_NPU_RESULT_OK) return "COPY fails";
    for (uint32_t i = 0; i < 6; ++i) {
      for (uint32_t j = 0; j < 5; ++j) {
        if (std::memcmp(in.data() + (i * 5 + j) * bytes,
                        out.data() + (j * 6 + i) * bytes, bytes) != 0) {
          return "COPY is wrong";
        }
      }
    }
    if (!out.IsMarginIntact()) return "COPY wrote outside of its operands";
  }
  return "";
}

Suite::Problem Suite::Order(Unit& unit) {
  if (!in_host_memory() || !Has(TAKT_NPU_KIND_FILL)) return "";
  Memory memory(64);
  std::vector<takt_npu_operation_t> batch;
  const uint32_t count =
      capabilities_.batch_max != 0 ? std::min(capabilities_.batch_max, 8u) : 8;
  for (uint32_t i = 0; i < count; ++i) {
    takt_npu_operation_t fill = Operation(TAKT_NPU_KIND_FILL);
    fill.fill.out = {memory.data(), 0, 0, memory.size()};
    fill.fill.size0 = 1, fill.fill.size1 = 16 - i;
    fill.fill.stride0 = 16, fill.fill.stride1 = 1;
    fill.fill.pattern = i;
    batch.push_back(fill);
  }
  if (unit.Run(batch) != TAKT_NPU_RESULT_OK) return "a batch fails";
  for (uint32_t i = 0; i < 16; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, memory.data() + i * 4, 4);
    if (word != std::min(15 - i, count - 1)) return "not in order";
  }
  return "";
}

Suite::Problem Suite::Unknown(Unit& unit) {
  Memory memory(64);
  takt_npu_operation_t operation = Operation(0x7fffffff);
  if (unit.Run({operation}) == TAKT_NPU_RESULT_OK)
    return "an unknown kind is done";
  if (!Has(TAKT_NPU_KIND_MMT4D)) return "";
  operation = Operation(TAKT_NPU_KIND_MMT4D);
  takt_npu_mmt4d_t& p = operation.mmt4d;
  p.type = 31;
  p.m = p.n = p.k = 1;
  p.m0 = p.n0 = p.k0 = 1;
  p.left_stride = p.right_stride = p.out_stride = 1;
  p.left = p.right = p.out = {memory.data(), 0, 0, memory.size()};
  if (unit.Run({operation}) == TAKT_NPU_RESULT_OK)
    return "an unknown type is done";
  return "";
}

Suite::Problem Suite::CancelAndReset(Unit& unit) {
  if (driver_.cancel(unit.get(), 123456) != TAKT_NPU_RESULT_OK) {
    return "cancel of what does not run";
  }
  if (driver_.reset(unit.get()) != TAKT_NPU_RESULT_OK) return "reset";
  Problem problem = Products(unit);
  return problem.empty() ? "" : "after a reset: " + problem;
}

Suite::Problem Suite::Telemetry(Unit& unit) {
  if (driver_.telemetry == nullptr) return "";
  takt_npu_telemetry_t telemetry;
  std::memset(&telemetry, 0x55, sizeof(telemetry));
  telemetry.struct_size = offsetof(takt_npu_telemetry_t, utilization_ppm);
  const int64_t before = telemetry.throttled_ns;
  if (driver_.telemetry(unit.get(), &telemetry) != TAKT_NPU_RESULT_OK) {
    return "telemetry fails";
  }
  return telemetry.throttled_ns == before ? "" : "it wrote beyond struct_size";
}

Suite::Problem Suite::Programs(Unit& unit) {
  if (driver_.load_program == nullptr) return "";
  for (int i = 0; i < 300; ++i) {
    std::vector<uint8_t> junk(random_() % 200);
    for (uint8_t& byte : junk) byte = static_cast<uint8_t>(random_());
    if (i % 2 != 0 && junk.size() > 4) std::memcpy(junk.data(), "TNPC", 4);
    uint64_t program = 0;
    if (driver_.load_program(unit.get(), junk.data(), junk.size(), &program) ==
        TAKT_NPU_RESULT_OK) {
      return "random bytes are a program";
    }
  }
  takt_npu_function_t function;
  function.struct_size = sizeof(function);
  if (driver_.describe_function(unit.get(), 987654, 0, &function) ==
      TAKT_NPU_RESULT_OK) {
    return "a program that is not there has a function";
  }
  return "";
}

Suite::Problem Suite::Imports(Unit& unit) {
  if (driver_.find_import == nullptr) return "";
  takt_npu_import_t function = nullptr;
  void* context = nullptr;
  const takt_npu_result_t result =
      driver_.find_import(unit.get(), "no.such.import", &function, &context);
  return result == TAKT_NPU_RESULT_UNSUPPORTED ? ""
                                               : "an unknown import is there";
}

Suite::Problem Suite::MemorySync(Unit& unit) {
  std::vector<uint8_t> bytes(1000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
  const std::vector<uint8_t> before = bytes;
  const struct {
    const char* name;
    takt_npu_result_t (*function)(void*, void*, uint64_t);
  } calls[] = {{"flush_memory", driver_.flush_memory},
               {"invalidate_memory", driver_.invalidate_memory}};
  for (const auto& call : calls) {
    if (call.function == nullptr) continue;
    const takt_npu_result_t result =
        call.function(unit.get(), bytes.data() + 3, 700);
    if (result != TAKT_NPU_RESULT_OK) {
      return std::string(call.name) + ": result " + std::to_string(result);
    }
    if (bytes != before) return std::string(call.name) + " changed the memory";
  }
  return "";
}

std::vector<NpuCheck> Suite::Run() {
  const auto bind = [this](Problem (Suite::*check)(Unit&)) {
    return [this, check](Unit& unit) { return (this->*check)(unit); };
  };
  Check("capabilities make sense", bind(&Suite::Capabilities));
  Check("smaller structs are respected", bind(&Suite::SmallerStructs));
  Check("products are right", bind(&Suite::Products));
  Check("transfers are right, and checked", bind(&Suite::Transfers));
  Check("fills and copies are right", bind(&Suite::FillsAndCopies));
  Check("operations of a batch come in order", bind(&Suite::Order));
  Check("what it does not know it does not do", bind(&Suite::Unknown));
  Check("it works after cancel and reset", bind(&Suite::CancelAndReset));
  Check("telemetry respects its size", bind(&Suite::Telemetry));
  Check("bytes that are no program are refused", bind(&Suite::Programs));
  Check("unknown imports are refused", bind(&Suite::Imports));
  Check("memory stays as it is when its caches are flushed",
        bind(&Suite::MemorySync));
  return checks_;
}

}  // namespace

std::vector<NpuCheck> CheckNpuDriver(const takt_npu_driver_t& driver,
                                     const std::string& options,
                                     uint64_t seed) {
  takt_npu_driver_t known;  // What is beyond its size is not there.
  std::memset(&known, 0, sizeof(known));
  std::memcpy(&known, &driver, std::min(driver.struct_size, sizeof(known)));
  return Suite(known, options, seed).Run();
}

}  // namespace takt::tools
