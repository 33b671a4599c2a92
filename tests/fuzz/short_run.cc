// The main() of a fuzzer's short run under ctest, for any compiler. It runs
// every file of the corpus, then damaged copies of each (damage.h), then
// mutations of them from fixed seeds, so each run is the same. Of the damaged
// copies it takes a sample; with TAKT_EVERY_DAMAGE=1 in the environment, all.
// The last line of a failure names the seed or the damage, and
// `fuzz_x CORPUS_DIR RUNS SEED` or `fuzz_x CORPUS_DIR RUNS FILE:NUMBER` runs it
// alone.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/damage.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Defined if a sanitizer is linked.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(
    void (*callback)());

namespace {

using Bytes = std::vector<uint8_t>;

struct CorpusFile {
  std::string name;
  Bytes bytes;
};

std::vector<CorpusFile> ReadCorpus(const char* folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CorpusFile> corpus;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.push_back({std::filesystem::path(path).filename().string(),
                      Bytes(std::istreambuf_iterator<char>(file),
                            std::istreambuf_iterator<char>())});
  }
  return corpus;
}

// Numbers that overflow, wrap, or lie next to what a reader compares with.
constexpr uint64_t kEdges[] = {
    0,          1,          2,          0x7f,       0x80,
    0xff,       0x7fff,     0x8000,     0xffff,     0x7fffffff,
    0x80000000, 0xffffffff, 0xfffffff0, 0x3fffffff, 0x4000000000000000,
    ~0ull,      ~0ull - 63, 64,         4096,       1ull << 63};

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  // A uniform number below `bound`, which is not 0.
  size_t Below(size_t bound) { return random_() % bound; }

  void Mutate(const std::vector<Bytes>& corpus, Bytes* bytes) {
    for (size_t left = 1 + Below(4); left > 0 && !bytes->empty(); --left) {
      MutateOnce(corpus, bytes);
    }
  }

 private:
  void MutateOnce(const std::vector<Bytes>& corpus, Bytes* bytes) {
    const size_t at = Below(bytes->size());
    switch (Below(8)) {
      case 0:
        bytes->resize(at);
        break;
      case 1:
      case 2:
        (*bytes)[at] ^= 1u << Below(8);
        break;
      case 3:
        (*bytes)[at] = static_cast<uint8_t>(random_());
        break;
      case 4:
      case 5:
        Overwrite(bytes, at, kEdges[Below(std::size(kEdges))]);
        break;
      case 6:
        CopyPiece(corpus[Below(corpus.size())], bytes, at);
        break;
      case 7:
        CopyPiece(Bytes(*bytes), bytes, at);
        break;
    }
  }

  void Overwrite(Bytes* bytes, size_t at, uint64_t value) {
    const size_t width = size_t{1} << Below(4);
    if (Below(4) != 0) at -= at % width;
    const size_t length = std::min(width, bytes->size() - at);
    std::memcpy(bytes->data() + at, &value, length);
  }

  void CopyPiece(const Bytes& source, Bytes* bytes, size_t at) {
    if (source.empty()) return;
    const size_t from = Below(source.size());
    const size_t length =
        std::min({1 + Below(64), source.size() - from, bytes->size() - at});
    std::memcpy(bytes->data() + at, source.data() + from, length);
  }

  std::mt19937 random_;
};

// How many damaged copies of a file a sample has.
constexpr uint64_t kDamageSample = 1500;

char g_damage[128] = "";  // The file and the number of the damage under way.

// False if it took too long or too much.
bool RunDamage(const CorpusFile& file, uint64_t number,
               takt::fuzz::DamageLimits* limits) {
  std::snprintf(g_damage, sizeof(g_damage), "%s:%llu", file.name.c_str(),
                static_cast<unsigned long long>(number));
  const Bytes bytes = takt::fuzz::Damage(file.bytes, number);
  limits->Begin();
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  const bool is_within = limits->End();
  if (!is_within) std::fprintf(stderr, "damage %s\n", g_damage);
  g_damage[0] = '\0';
  return is_within;
}

bool RunDamages(const CorpusFile& file, uint64_t* run_count) {
  const uint64_t count = takt::fuzz::DamageCount(file.bytes.size());
  const char* const every = std::getenv("TAKT_EVERY_DAMAGE");
  const bool is_every = every != nullptr && *every == '1';
  // Odd, so that a sample has all kinds of damage.
  const uint64_t step = is_every ? 1 : count / kDamageSample | 1;
  takt::fuzz::DamageLimits limits(file.bytes.size());
  for (uint64_t number = 0; number < count; number += step) {
    if (!RunDamage(file, number, &limits)) return false;
    ++*run_count;
  }
  return true;
}

void RunSeed(const std::vector<Bytes>& corpus, uint32_t seed) {
  Mutator mutator(seed);
  Bytes bytes = corpus[mutator.Below(corpus.size())];
  mutator.Mutate(corpus, &bytes);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

uint32_t g_seed = 0;  // Of the run under way; 0: the corpus itself.

void ReportSeed() {
  char text[192];
  const int length =
      g_damage[0] != '\0'
          ? std::snprintf(text, sizeof(text), "short run: died at damage %s\n",
                          g_damage)
          : std::snprintf(text, sizeof(text), "short run: died at seed %u\n",
                          g_seed);
  if (write(STDERR_FILENO, text, length) < 0) return;
}
void OnSignal(int signal) {
  ReportSeed();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Prints the seed if the process ends early.
void InstallReport() {
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(ReportSeed);
    return;
  }
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    std::signal(signal, OnSignal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR RUNS [SEED|FILE:NUMBER]\n",
                 argv[0]);
    return 2;
  }
  const std::vector<CorpusFile> files = ReadCorpus(argv[1]);
  std::vector<Bytes> corpus;
  for (const CorpusFile& file : files) corpus.push_back(file.bytes);
  const uint32_t runs = std::strtoul(argv[2], nullptr, 10);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no corpus\n", argv[1]);
    return 1;
  }
  if (argc > 3 && std::strchr(argv[3], ':') != nullptr) {
    const std::string name(argv[3], std::strchr(argv[3], ':'));
    const uint64_t number =
        std::strtoull(std::strchr(argv[3], ':') + 1, nullptr, 10);
    for (const CorpusFile& file : files) {
      if (file.name != name) continue;
      takt::fuzz::DamageLimits limits(file.bytes.size());
      return RunDamage(file, number, &limits) ? 0 : 1;
    }
    std::fprintf(stderr, "no file %s\n", name.c_str());
    return 2;
  }
  if (argc > 3) {
    RunSeed(corpus, std::strtoul(argv[3], nullptr, 10));
    return 0;
  }
  InstallReport();
  for (const Bytes& bytes : corpus) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  uint64_t damage_count = 0;
  for (const CorpusFile& file : files) {
    if (!RunDamages(file, &damage_count)) return 1;
  }
  for (g_seed = 1; g_seed <= runs; ++g_seed) RunSeed(corpus, g_seed);
  std::printf("%zu files, %llu damages, %u mutations\n", corpus.size(),
              static_cast<unsigned long long>(damage_count), runs);
  return 0;
}
