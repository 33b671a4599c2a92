#include "vm/file_kind.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/unaligned.h"

namespace takt::vm {
namespace {

// Enough to distinguish kinds of text.
constexpr size_t kLookedAt = 4096;

constexpr absl::string_view kCompile =
    "compile it with iree-compile --iree-hal-target-device=local "
    "--iree-hal-local-target-device-backends=llvm-cpu "
    "--iree-llvmcpu-target-cpu=host IN.mlir -o OUT.vmfb";
constexpr absl::string_view kImportOnnx =
    "import it with iree-import-onnx MODEL.onnx -o IN.mlir, then ";

// A format that begins with fixed bytes, at `offset`.
struct Magic {
  size_t offset;
  absl::string_view bytes;
  absl::string_view what;
  absl::string_view advice;
};
constexpr Magic kMagics[] = {
    {0, "ML\xEFR", "MLIR bytecode", kCompile},
    {0,
     "\x7f"
     "ELF",
     "an ELF file (a program or library)",
     "a .vmfb file is what iree-compile writes"},
    {4, "TFL3", "a TensorFlow Lite model",
     "convert it to MLIR (iree-import-tflite), then compile it"},
    {0, "IRPA", "a parameter archive (.irpa)",
     "give it as parameters, beside a module"},
    {0, "\x93NUMPY", "a NumPy array (.npy)", "give it as an input"},
    {0, "\x1f\x8b", "a gzip archive", "unpack it first"},
    {0, "BC\xC0\xDE", "LLVM bitcode",
     "a .vmfb file is what iree-compile writes"},
};

bool IsText(absl::string_view head) {
  return std::all_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte != 0x7f : absl::StrContains("\t\n\v\f\r", c);
  });
}

bool IsMlir(absl::string_view text) {
  constexpr absl::string_view kMarks[] = {
      "func.func",         "util.func", "module {",      "module @",
      "module attributes", "vm.module", "hal.executable"};
  return std::any_of(
      std::begin(kMarks), std::end(kMarks),
      [text](absl::string_view mark) { return absl::StrContains(text, mark); });
}

// A protobuf whose first fields are those of an ONNX ModelProto: ir_version
// (field 1, a small number), then the producer's name (2), the opsets (8) or
// the graph (7).
bool IsOnnx(absl::string_view head) {
  constexpr absl::string_view kSecondTags = "\x12\x1a\x22\x3a\x42";
  return head.size() >= 4 && head[0] == 0x08 && head[1] > 0 && head[1] <= 64 &&
         absl::StrContains(kSecondTags, head[2]);
}

}  // namespace

std::string ExplainForeignFile(absl::Span<const uint8_t> bytes) {
  const auto explain = [](absl::string_view what, absl::string_view advice,
                          absl::string_view more = "") {
    return absl::StrCat("this is ", what, ", not a compiled module (.vmfb)",
                        advice.empty() ? "" : "; ", advice, more);
  };
  const absl::string_view head(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), kLookedAt));
  if (head.empty()) return explain("an empty file", "");
  if (absl::StartsWith(head.substr(std::min<size_t>(head.size(), 8)), "IREE")) {
    return "";
  }
  for (const Magic& magic : kMagics) {
    if (head.size() < magic.offset + magic.bytes.size()) continue;
    if (head.substr(magic.offset, magic.bytes.size()) != magic.bytes) continue;
    return explain(magic.what, magic.advice);
  }
  if (absl::StartsWith(head, "PK\3\4") && bytes.size() > 30) {
    const auto name_bytes = LoadUnaligned<uint16_t>(bytes.data() + 26);
    const absl::string_view name = head.substr(30, name_bytes);
    if (absl::EndsWith(name, ".fb")) return "";  // Modules are wrapped so.
    return explain("a zip archive of other files", "unpack it first");
  }
  if (IsOnnx(head)) return explain("an ONNX model", kImportOnnx, kCompile);
  if (!IsText(head)) return "";
  if (IsMlir(head)) return explain("MLIR text", kCompile);
  return explain("text", "a .vmfb file is what iree-compile writes");
}

}  // namespace takt::vm
