// The main() of a fuzzer's short run under ctest, for any compiler. It runs
// every file of the corpus, then mutations of them from fixed seeds, so each
// run is the same. The last line of a failure names the seed, and `fuzz_x
// CORPUS_DIR RUNS SEED` runs this seed alone.
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Defined if a sanitizer is linked.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(
    void (*callback)());

namespace {

using Bytes = std::vector<uint8_t>;

std::vector<Bytes> ReadCorpus(const char* folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file),
                        std::istreambuf_iterator<char>());
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

void RunSeed(const std::vector<Bytes>& corpus, uint32_t seed) {
  Mutator mutator(seed);
  Bytes bytes = corpus[mutator.Below(corpus.size())];
  mutator.Mutate(corpus, &bytes);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

uint32_t g_seed = 0;  // Of the run under way; 0: the corpus itself.

void ReportSeed() {
  char text[64];
  const int length =
      std::snprintf(text, sizeof(text), "short run: died at seed %u\n", g_seed);
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
    std::fprintf(stderr, "usage: %s CORPUS_DIR RUNS [SEED]\n", argv[0]);
    return 2;
  }
  const std::vector<Bytes> corpus = ReadCorpus(argv[1]);
  const uint32_t runs = std::strtoul(argv[2], nullptr, 10);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no corpus\n", argv[1]);
    return 1;
  }
  if (argc > 3) {
    RunSeed(corpus, std::strtoul(argv[3], nullptr, 10));
    return 0;
  }
  InstallReport();
  for (const Bytes& bytes : corpus) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  for (g_seed = 1; g_seed <= runs; ++g_seed) RunSeed(corpus, g_seed);
  std::printf("%zu files, %u mutations\n", corpus.size(), runs);
  return 0;
}
