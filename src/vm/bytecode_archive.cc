#include "vm/bytecode_archive.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"
#include "base/unaligned.h"
#include "vm/module_format_generated.h"

namespace takt::vm {
namespace {

// The words and refs that a list of letters takes, placed as arguments are
// at a function's entry.
struct RegisterNeed {
  uint64_t words = 0;
  uint64_t refs = 0;

  void Add(Letter letter) {
    switch (letter) {
      case Letter::kI32:
      case Letter::kF32:
        words += 1;
        break;
      case Letter::kI64:
      case Letter::kF64:
        words = (words + 1) / 2 * 2 + 2;
        break;
      case Letter::kRef:
        refs += 1;
        break;
    }
  }
};

constexpr uint32_t kAllFeatures =
    kFeatureF32 | kFeatureF64 | kFeatureYield | kFeatureUnwind;
constexpr uint32_t kFlagRequired = 1;
constexpr uint32_t kFlagOptional = 2;

// Bounds on what a module can allocate. Each is far above what the compiler
// writes (part 6 of docs/module_format.md).
constexpr uint32_t kMaxEntries = 65535;
constexpr uint32_t kMaxValueRegisters = 32767;
constexpr uint32_t kMaxRefRegisters = 16383;
constexpr int32_t kMaxGlobalBytes = 1 << 24;
constexpr int32_t kMaxGlobalRefs = 1 << 20;

constexpr uint64_t kZipHeaderBytes = 30;
constexpr uint64_t kMinArchiveBytes = 16;
constexpr uint64_t kPrefixBytes = 4;
constexpr uint64_t kRodataAlignment = 64;

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

uint16_t ReadU16(absl::Span<const uint8_t> bytes, uint64_t offset) {
  return LoadUnaligned<uint16_t>(bytes.data() + offset);
}
uint32_t ReadU32(absl::Span<const uint8_t> bytes, uint64_t offset) {
  return LoadUnaligned<uint32_t>(bytes.data() + offset);
}

// Where the parts lie, from the start of the archive.
struct Container {
  uint64_t flatbuffer_offset = 0;  // Of the size prefix.
  uint64_t flatbuffer_bytes = 0;   // With the prefix.
  uint64_t rodata_base = 0;
};

absl::StatusOr<Container> FindParts(absl::Span<const uint8_t> bytes) {
  Container out;
  if (bytes.size() >= kZipHeaderBytes &&
      std::memcmp(bytes.data(), "PK\3\4", 4) == 0) {
    out.flatbuffer_offset =
        kZipHeaderBytes + ReadU16(bytes, 26) + ReadU16(bytes, 28);
  }
  if (!RangeFits(out.flatbuffer_offset, kMinArchiveBytes, bytes.size())) {
    return Invalid("offset ", out.flatbuffer_offset, ": a module of at least ",
                   kMinArchiveBytes, " bytes expected, the file has ",
                   bytes.size());
  }
  const uint64_t prefix = ReadU32(bytes, out.flatbuffer_offset);
  out.flatbuffer_bytes = kPrefixBytes + prefix;
  if (!RangeFits(out.flatbuffer_offset, out.flatbuffer_bytes, bytes.size())) {
    return Invalid("offset ", out.flatbuffer_offset, ": tables of ", prefix,
                   " bytes announced, ",
                   bytes.size() - out.flatbuffer_offset - kPrefixBytes,
                   " left in the file");
  }
  if (std::memcmp(bytes.data() + out.flatbuffer_offset + 8,
                  wire::ModuleIdentifier(), 4) != 0) {
    return Invalid("offset ", out.flatbuffer_offset + 8,
                   ": identifier \"IREE\" expected, found \"",
                   absl::CHexEscape(absl::string_view(
                       reinterpret_cast<const char*>(bytes.data()) +
                           out.flatbuffer_offset + 8,
                       4)),
                   "\"");
  }
  if (out.flatbuffer_bytes >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    return Invalid("tables of ", prefix, " bytes; the format allows 2 GiB");
  }
  out.rodata_base =
      AlignUp(out.flatbuffer_offset + out.flatbuffer_bytes, kRodataAlignment);
  return out;
}

// Reads the version of a module and nothing else, so that the message for
// another major can name it even if its tables do not fit this schema.
struct VersionProbe : private flatbuffers::Table {
  static constexpr flatbuffers::voffset_t kField =
      wire::Module::VT_BYTECODE_VERSION;
  uint32_t bytecode_version() const { return GetField<uint32_t>(kField, 0); }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) &&
           VerifyField<uint32_t>(verifier, kField, sizeof(uint32_t)) &&
           verifier.EndTable();
  }
};

// Verifies all tables and returns the version of their bytecode.
absl::StatusOr<const BytecodeVersion*> VerifyTables(
    absl::Span<const uint8_t> flatbuffer) {
  flatbuffers::Verifier::Options options;
  // Each visit of a table costs time, and any number of entries may point to
  // one table. A distinct table has at least four bytes.
  options.max_tables = Narrow<flatbuffers::uoffset_t>(flatbuffer.size() / 4);
  flatbuffers::Verifier probe(flatbuffer.data(), flatbuffer.size(), options);
  if (!probe.VerifySizePrefixedBuffer<VersionProbe>(nullptr)) {
    return Invalid("damaged module: its root table does not fit the file");
  }
  TAKT_ASSIGN_OR_RETURN(
      const BytecodeVersion* const version,
      FindBytecodeVersion(
          flatbuffers::GetSizePrefixedRoot<VersionProbe>(flatbuffer.data())
              ->bytecode_version()));
  flatbuffers::Verifier verifier(flatbuffer.data(), flatbuffer.size(), options);
  if (!wire::VerifySizePrefixedModuleBuffer(verifier)) {
    return Invalid("damaged module: a table, vector or string does not fit ",
                   "its ", flatbuffer.size(), " bytes of tables");
  }
  return version;
}

const wire::Module* RootOf(absl::Span<const uint8_t> flatbuffer) {
  return wire::GetSizePrefixedModule(flatbuffer.data());
}

// Turns the tables of a verified FlatBuffer into the archive's members.
class TableReader {
 public:
  TableReader(absl::Span<const uint8_t> bytes, uint64_t rodata_base,
              BytecodeArchive* out)
      : bytes_(bytes),
        rodata_base_(rodata_base),
        module_(*RootOf(out->flatbuffer)),
        out_(*out),
        copies_left_(kCopyFactor * out->flatbuffer.size() + kCopySlack) {}

  absl::Status Read() {
    out_.version = module_.version();
    TAKT_RETURN_IF_ERROR(
        ReadFeatures(module_.requirements(), "module", &out_.requirements));
    TAKT_RETURN_IF_ERROR(ReadName(module_.name(), "module name", &out_.name));
    TAKT_RETURN_IF_ERROR(
        ReadAttributes(module_.attributes(), "module", &out_.attributes));
    TAKT_RETURN_IF_ERROR(ReadTypes());
    TAKT_RETURN_IF_ERROR(ReadDependencies());
    TAKT_RETURN_IF_ERROR(ReadImports());
    TAKT_RETURN_IF_ERROR(ReadFunctions());
    TAKT_RETURN_IF_ERROR(ReadExports());
    TAKT_RETURN_IF_ERROR(ReadRodata());
    return ReadState();
  }

 private:
  // Strings and tables may be shared by many tables, and each of them gets a
  // copy. So the copies together may take only so many times the tables' size.
  // The compiler's modules need up to 9 times; the slack is for small ones.
  static constexpr uint64_t kCopyFactor = 32;
  static constexpr uint64_t kCopySlack = 256 * 1024;

  // Takes `bytes` from what may be copied.
  absl::Status Spend(uint64_t bytes) {
    if (bytes > copies_left_) {
      return Invalid("what the module's tables share adds up to more than ",
                     kCopyFactor, " times the tables' size");
    }
    copies_left_ -= bytes;
    return absl::OkStatus();
  }

  // The memory of a convention: its text and an entry for each letter.
  static uint64_t CostOf(const CallingConvention& convention) {
    return convention.text.size() * (1 + sizeof(CallingConvention::Argument));
  }

  absl::Status ReadText(const flatbuffers::String* text, std::string* out) {
    if (text == nullptr) {
      out->clear();
      return absl::OkStatus();
    }
    TAKT_RETURN_IF_ERROR(Spend(text->size()));
    out->assign(text->data(), text->size());
    return absl::OkStatus();
  }

  absl::Status ReadName(const flatbuffers::String* text, absl::string_view what,
                        std::string* out) {
    TAKT_RETURN_IF_ERROR(ReadText(text, out));
    if (out->empty()) return Invalid(what, " is empty");
    return absl::OkStatus();
  }

  template <typename T>
  absl::Status CheckCount(const flatbuffers::Vector<T>* entries,
                          absl::string_view what) {
    if (entries == nullptr || entries->size() <= kMaxEntries) {
      return absl::OkStatus();
    }
    return Invalid(entries->size(), " ", what, "; at most ", kMaxEntries,
                   " are allowed");
  }

  absl::Status ReadFeatures(uint32_t bits, absl::string_view where,
                            uint32_t* out) {
    *out = bits;
    if ((bits & ~kAllFeatures) == 0) return absl::OkStatus();
    return Invalid(where, ": required features ", absl::Hex(bits),
                   " (hex), of which Takt has ",
                   absl::Hex(bits & kAllFeatures));
  }

  absl::Status ReadFlags(uint32_t flags, absl::string_view where,
                         bool* optional) {
    *optional = flags == kFlagOptional;
    if (flags == kFlagRequired || flags == kFlagOptional) {
      return absl::OkStatus();
    }
    return Invalid(where, ": flags ", flags,
                   "; 1 (required) or 2 (optional) expected");
  }

  using WireAttributes =
      flatbuffers::Vector<flatbuffers::Offset<wire::Attribute>>;
  absl::Status ReadAttributes(const WireAttributes* entries,
                              absl::string_view where,
                              std::vector<Attribute>* out) {
    if (entries == nullptr) return absl::OkStatus();
    TAKT_RETURN_IF_ERROR(Spend(entries->size() * sizeof(Attribute)));
    out->reserve(entries->size());
    for (const wire::Attribute* entry : *entries) {
      Attribute& attribute = out->emplace_back();
      TAKT_RETURN_IF_ERROR(ReadName(
          entry->key(),
          absl::StrCat(where, ": attribute ", out->size() - 1, ": key"),
          &attribute.key));
      TAKT_RETURN_IF_ERROR(ReadText(entry->value(), &attribute.value));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTypes() {
    TAKT_RETURN_IF_ERROR(CheckCount(module_.types(), "types"));
    if (module_.types() == nullptr) return absl::OkStatus();
    for (const wire::Type* type : *module_.types()) {
      const std::string where = absl::StrCat("type ", out_.type_names.size());
      TAKT_RETURN_IF_ERROR(ReadName(type->full_name(),
                                    absl::StrCat(where, ": name"),
                                    &out_.type_names.emplace_back()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadDependencies() {
    TAKT_RETURN_IF_ERROR(CheckCount(module_.dependencies(), "dependencies"));
    if (module_.dependencies() == nullptr) return absl::OkStatus();
    for (const wire::Dependency* entry : *module_.dependencies()) {
      const std::string where =
          absl::StrCat("dependency ", out_.dependencies.size());
      Dependency& dependency = out_.dependencies.emplace_back();
      TAKT_RETURN_IF_ERROR(ReadName(entry->name(),
                                    absl::StrCat(where, ": name"),
                                    &dependency.module_name));
      TAKT_RETURN_IF_ERROR(
          ReadFlags(entry->flags(), where, &dependency.optional));
      dependency.minimum_version = entry->minimum_version();
    }
    return absl::OkStatus();
  }

  absl::Status ReadConvention(const wire::Signature* signature,
                              const std::string& where,
                              CallingConvention* out) {
    std::string text;
    if (signature == nullptr) return Invalid(where, ": no signature");
    TAKT_RETURN_IF_ERROR(ReadText(signature->calling_convention(), &text));
    TAKT_RETURN_IF_ERROR(
        Spend(text.size() * sizeof(CallingConvention::Argument)));
    absl::StatusOr<CallingConvention> convention =
        CallingConvention::Parse(text);
    if (!convention.ok()) return Annotate(convention.status(), where);
    *out = *std::move(convention);
    return absl::OkStatus();
  }

  absl::Status ReadImports() {
    TAKT_RETURN_IF_ERROR(CheckCount(module_.imports(), "imports"));
    if (module_.imports() == nullptr) return absl::OkStatus();
    for (const wire::Import* entry : *module_.imports()) {
      const std::string where = absl::StrCat("import ", out_.imports.size());
      ImportInfo& import = out_.imports.emplace_back();
      TAKT_RETURN_IF_ERROR(ReadName(entry->full_name(),
                                    absl::StrCat(where, ": name"),
                                    &import.full_name));
      const size_t dot = import.full_name.find('.');
      if (dot == 0 || dot == std::string::npos ||
          dot + 1 == import.full_name.size()) {
        return Invalid(where, ": name \"", absl::CHexEscape(import.full_name),
                       "\" is not of the form module.function");
      }
      TAKT_RETURN_IF_ERROR(ReadFlags(entry->flags(), where, &import.optional));
      TAKT_RETURN_IF_ERROR(
          ReadConvention(entry->signature(), where, &import.convention));
    }
    return absl::OkStatus();
  }

  absl::Status ReadFunctions() {
    const uint32_t count =
        module_.functions() == nullptr ? 0 : module_.functions()->size();
    const uint32_t signature_count =
        module_.signatures() == nullptr ? 0 : module_.signatures()->size();
    TAKT_RETURN_IF_ERROR(CheckCount(module_.functions(), "functions"));
    if (count != signature_count) {
      return Invalid(count, " functions, but ", signature_count, " signatures");
    }
    // Messages name each function by its module.
    TAKT_RETURN_IF_ERROR(Spend(uint64_t{count} * out_.name.size()));
    out_.functions.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      const std::string where = absl::StrCat("function ", i);
      const wire::Signature* signature = module_.signatures()->Get(i);
      ArchiveFunction& function = out_.functions[i];
      TAKT_RETURN_IF_ERROR(
          ReadDescriptor(*module_.functions()->Get(i), where, &function));
      TAKT_RETURN_IF_ERROR(
          ReadConvention(signature, where, &function.convention));
      TAKT_RETURN_IF_ERROR(AddRegistersOfArguments(where, &function));
      TAKT_RETURN_IF_ERROR(
          ReadAttributes(signature->attributes(), where, &function.attributes));
    }
    return absl::OkStatus();
  }

  // A function need not declare registers for arguments that its code does not
  // use (iree-as-module counts only the registers used). It gets them here, so
  // that every caller can write all arguments.
  static absl::Status AddRegistersOfArguments(const std::string& where,
                                              ArchiveFunction* function) {
    RegisterNeed need;
    for (const auto& argument : function->convention.arguments) {
      need.Add(argument.letters[0]);
    }
    if (need.words > kMaxValueRegisters || need.refs > kMaxRefRegisters) {
      return Invalid(where, ": the arguments of ", function->convention.text,
                     " take ", need.words, " value and ", need.refs,
                     " ref registers; at most ", kMaxValueRegisters, " and ",
                     kMaxRefRegisters, " can be encoded");
    }
    function->value_register_count =
        std::max(function->value_register_count, Narrow<uint16_t>(need.words));
    function->ref_register_count =
        std::max(function->ref_register_count, Narrow<uint16_t>(need.refs));
    return absl::OkStatus();
  }

  absl::Status ReadDescriptor(const wire::FunctionDescriptor& descriptor,
                              const std::string& where, ArchiveFunction* out) {
    const int64_t offset = descriptor.bytecode_offset();
    const int64_t length = descriptor.bytecode_length();
    const uint64_t code_bytes =
        module_.bytecode() == nullptr ? 0 : module_.bytecode()->size();
    if (offset < 0 || length <= 0 || !RangeFits(offset, length, code_bytes)) {
      return Invalid(where, ": body at ", offset, " of ", length,
                     " bytes is not within the ", code_bytes,
                     " bytes of bytecode");
    }
    if (descriptor.reserved() != 0 || descriptor.block_count() == 0) {
      return Invalid(where, ": reserved field ", descriptor.reserved(),
                     " (0 expected), ", descriptor.block_count(),
                     " blocks (at least 1 expected)");
    }
    if (descriptor.value_register_count() > kMaxValueRegisters ||
        descriptor.ref_register_count() > kMaxRefRegisters) {
      return Invalid(where, ": ", descriptor.value_register_count(),
                     " value and ", descriptor.ref_register_count(),
                     " ref registers; at most ", kMaxValueRegisters, " and ",
                     kMaxRefRegisters, " can be encoded");
    }
    // Each body is verified and translated for its function, so functions must
    // not share one.
    body_bytes_ += Narrow<uint64_t>(length);
    if (body_bytes_ > code_bytes) {
      return Invalid(where, ": body at ", offset, " of ", length,
                     " bytes overlaps another: the bodies so far have ",
                     body_bytes_, " bytes, the bytecode ", code_bytes);
    }
    out->body = {module_.bytecode()->data() + offset, Narrow<size_t>(length)};
    out->block_count = descriptor.block_count();
    out->value_register_count = descriptor.value_register_count();
    out->ref_register_count = descriptor.ref_register_count();
    return ReadFeatures(descriptor.requirements(), where, &out->requirements);
  }

  absl::Status ReadExports() {
    TAKT_RETURN_IF_ERROR(CheckCount(module_.exports(), "exports"));
    if (module_.exports() == nullptr) return absl::OkStatus();
    // A context names each export by its module, once for the entry and once
    // for the callee.
    TAKT_RETURN_IF_ERROR(
        Spend(uint64_t{module_.exports()->size()} * 2 * out_.name.size()));
    for (const wire::Export* entry : *module_.exports()) {
      const std::string where = absl::StrCat("export ", out_.exports.size());
      ArchiveExport& exported = out_.exports.emplace_back();
      TAKT_RETURN_IF_ERROR(ReadName(entry->local_name(),
                                    absl::StrCat(where, ": name"),
                                    &exported.local_name));
      if (entry->function() < 0 ||
          Narrow<size_t>(entry->function()) >= out_.functions.size()) {
        return Invalid(where, " (", absl::CHexEscape(exported.local_name),
                       "): function ", entry->function(), " of ",
                       out_.functions.size());
      }
      exported.function = entry->function();
      // Each export has the convention and the attributes of its function.
      const ArchiveFunction& function = out_.functions[exported.function];
      TAKT_RETURN_IF_ERROR(Spend(CostOf(function.convention)));
      for (const Attribute& attribute : function.attributes) {
        TAKT_RETURN_IF_ERROR(Spend(sizeof(Attribute) + attribute.key.size() +
                                   attribute.value.size()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadRodata() {
    TAKT_RETURN_IF_ERROR(CheckCount(module_.rodata(), "rodata segments"));
    if (module_.rodata() == nullptr) return absl::OkStatus();
    out_.rodata.reserve(module_.rodata()->size());
    for (const wire::Rodata* entry : *module_.rodata()) {
      const std::string where = absl::StrCat("rodata ", out_.rodata.size());
      if (entry->compression_type() != wire::Compression::NONE &&
          entry->compression_type() != wire::Compression::Uncompressed) {
        return absl::UnimplementedError(
            absl::StrCat(where, ": compression of kind ",
                         Narrow<int>(entry->compression_type())));
      }
      if (entry->embedded_data() != nullptr) {
        out_.rodata.emplace_back(entry->embedded_data()->data(),
                                 entry->embedded_data()->size());
        continue;
      }
      uint64_t offset = 0;
      if (!CheckedAdd(rodata_base_, entry->external_offset(), &offset) ||
          !RangeFits(offset, entry->external_length(), bytes_.size())) {
        return Invalid(where, ": ", entry->external_length(), " bytes at ",
                       rodata_base_, " + ", entry->external_offset(),
                       " are not within the file's ", bytes_.size());
      }
      out_.rodata.push_back(bytes_.subspan(offset, entry->external_length()));
    }
    return absl::OkStatus();
  }

  absl::Status ReadState() {
    if (module_.rwdata() != nullptr && module_.rwdata()->size() != 0) {
      return absl::UnimplementedError(
          absl::StrCat(module_.rwdata()->size(), " rwdata segments"));
    }
    if (module_.state() == nullptr) return absl::OkStatus();
    const int32_t bytes = module_.state()->global_bytes();
    const int32_t refs = module_.state()->global_ref_count();
    if (bytes < 0 || bytes > kMaxGlobalBytes || refs < 0 ||
        refs > kMaxGlobalRefs) {
      return Invalid("globals: ", bytes, " bytes and ", refs, " refs; at most ",
                     kMaxGlobalBytes, " and ", kMaxGlobalRefs, " are allowed");
    }
    out_.global_bytes = bytes;
    out_.global_ref_count = refs;
    return absl::OkStatus();
  }

  const absl::Span<const uint8_t> bytes_;
  const uint64_t rodata_base_;
  const wire::Module& module_;
  BytecodeArchive& out_;
  uint64_t copies_left_;
  uint64_t body_bytes_ = 0;  // Of the functions so far.
};

// Points out->flatbuffer at the tables, or at a copy if they are not aligned
// as the verifier and the accessors need them.
void PlaceTables(absl::Span<const uint8_t> tables, BytecodeArchive* out) {
  if (reinterpret_cast<uintptr_t>(tables.data()) % sizeof(uint64_t) == 0) {
    out->flatbuffer = tables;
    return;
  }
  out->aligned_copy.reset(new uint64_t[(tables.size() + 7) / 8]);
  std::memcpy(out->aligned_copy.get(), tables.data(), tables.size());
  out->flatbuffer = {reinterpret_cast<const uint8_t*>(out->aligned_copy.get()),
                     tables.size()};
}

// Prints locations by their index. Locations refer to each other, in hostile
// files in cycles, so depth and length are bounded.
class LocationPrinter {
 public:
  explicit LocationPrinter(const wire::DebugDatabase& debug) : debug_(debug) {}

  std::string Text(int32_t index) const {
    std::string out;
    Append(index, 0, &out);
    return out;
  }

 private:
  static constexpr int kMaxDepth = 8;
  static constexpr size_t kMaxBytes = 512;

  void Append(int32_t index, int depth, std::string* out) const {
    const auto* table = debug_.location_table();
    if (table == nullptr || index < 0 ||
        Narrow<uint32_t>(index) >= table->size()) {
      absl::StrAppend(out, "?");
      return;
    }
    if (depth == kMaxDepth || out->size() > kMaxBytes) {
      absl::StrAppend(out, "...");
      return;
    }
    const void* const entry = table->Get(index);
    switch (debug_.location_table_type()->GetEnum<wire::Location>(index)) {
      case wire::Location::FileLineColumn:
        AppendFile(*static_cast<const wire::FileLineColumn*>(entry), out);
        return;
      case wire::Location::CallSite: {
        const auto& site = *static_cast<const wire::CallSite*>(entry);
        Append(site.callee(), depth + 1, out);
        absl::StrAppend(out, " called from ");
        Append(site.caller(), depth + 1, out);
        return;
      }
      case wire::Location::Name: {
        const auto& name = *static_cast<const wire::Name*>(entry);
        AppendString(name.name(), out);
        absl::StrAppend(out, " at ");
        Append(name.child_location(), depth + 1, out);
        return;
      }
      case wire::Location::Fused:
        AppendFused(*static_cast<const wire::Fused*>(entry), depth, out);
        return;
      default:
        absl::StrAppend(out, "?");
    }
  }

  static void AppendFile(const wire::FileLineColumn& file, std::string* out) {
    AppendString(file.filename(), out);
    absl::StrAppend(out, ":", file.line(), ":", file.column());
  }

  void AppendFused(const wire::Fused& fused, int depth,
                   std::string* out) const {
    if (fused.locations() == nullptr) return;
    const char* separator = "";
    for (int32_t index : *fused.locations()) {
      absl::StrAppend(out, separator);
      Append(index, depth + 1, out);
      if (out->size() > kMaxBytes) return;
      separator = " and ";
    }
  }

  static void AppendString(const flatbuffers::String* text, std::string* out) {
    if (text == nullptr) return;
    absl::StrAppend(
        out,
        absl::string_view(text->data(), text->size()).substr(0, kMaxBytes));
  }

  const wire::DebugDatabase& debug_;
};

}  // namespace

absl::StatusOr<BytecodeArchive> BytecodeArchive::Parse(
    absl::Span<const uint8_t> bytes) {
  TAKT_ASSIGN_OR_RETURN(const Container parts, FindParts(bytes));
  BytecodeArchive archive;
  PlaceTables(bytes.subspan(parts.flatbuffer_offset, parts.flatbuffer_bytes),
              &archive);
  TAKT_ASSIGN_OR_RETURN(archive.bytecode_version,
                        VerifyTables(archive.flatbuffer));
  TAKT_RETURN_IF_ERROR(TableReader(bytes, parts.rodata_base, &archive).Read());
  return archive;
}

std::vector<ArchiveSourceMap> BytecodeArchive::ReadSourceMaps() const {
  std::vector<ArchiveSourceMap> maps;
  const wire::DebugDatabase* debug = RootOf(flatbuffer)->debug_database();
  if (debug == nullptr || debug->functions() == nullptr) return maps;
  const LocationPrinter printer(*debug);
  // Maps may share one vector and one name: all maps together get at most as
  // many entries, and as much text, as the tables can hold.
  size_t entries_left = flatbuffer.size() / sizeof(wire::BytecodeLocation);
  size_t text_left = flatbuffer.size();
  for (const wire::SourceMap* entry : *debug->functions()) {
    ArchiveSourceMap& map = maps.emplace_back();
    if (entry->local_name() != nullptr) {
      if (entry->local_name()->size() > text_left) return maps;
      text_left -= entry->local_name()->size();
      map.local_name = entry->local_name()->str();
    }
    if (entry->locations() == nullptr) continue;
    for (const wire::BytecodeLocation* location : *entry->locations()) {
      if (entries_left == 0) return maps;
      --entries_left;
      map.locations.push_back({Truncate<uint32_t>(location->bytecode_offset()),
                               printer.Text(location->location())});
    }
  }
  return maps;
}

}  // namespace takt::vm
