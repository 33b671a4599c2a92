#include "vm/bytecode_module.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/content_hash.h"
#include "base/status.h"
#include "vm/bytecode_verifier.h"
#include "vm/file_kind.h"
#include "vm/instance.h"
#include "vm/program.h"
#include "vm/translator.h"

namespace takt::vm {

absl::StatusOr<Ref<BytecodeModule>> BytecodeModule::Load(
    const TypeRegistry& types, absl::Span<const uint8_t> bytes,
    Ref<Object> owner, const std::string& source, UnknownTypes unknown_types) {
  absl::StatusOr<BytecodeArchive> archive = BytecodeArchive::Parse(bytes);
  if (!archive.ok()) {
    const std::string foreign = ExplainForeignFile(bytes);
    return Annotate(foreign.empty() ? archive.status()
                                    : absl::InvalidArgumentError(foreign),
                    source);
  }
  auto image = MakeRef<Image>();
  image->archive = *std::move(archive);
  image->bytes = bytes;
  image->owner = std::move(owner);
  if (absl::Status status = VerifyArchive(image->archive); !status.ok()) {
    return Annotate(status, source);
  }
  absl::StatusOr<std::unique_ptr<Program>> program =
      Translate(image->archive, types, image);
  if (!program.ok()) return Annotate(program.status(), source);
  auto module = Ref<BytecodeModule>::Adopt(
      new BytecodeModule(std::move(image), *std::move(program)));
  if (unknown_types == UnknownTypes::kRefuse) {
    absl::Status status = module->CheckTypes();
    if (!status.ok()) return Annotate(status, source);
  }
  return module;
}

absl::Status BytecodeModule::CheckTypes() const {
  if (program_->unknown_type.empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("no type is known as ", program_->unknown_type));
}

BytecodeModule::BytecodeModule(Ref<Image> image,
                               std::unique_ptr<Program> program)
    : Module(&kType, Kind::kBytecode),
      image_(std::move(image)),
      program_(std::move(program)) {
  const BytecodeArchive& archive = image_->archive;
  name_ = archive.name;
  version_ = archive.version;
  attributes_ = archive.attributes;
  imports_ = archive.imports;
  dependencies_ = archive.dependencies;
  for (const ArchiveExport& e : archive.exports) {
    const ArchiveFunction& function = archive.functions[e.function];
    exports_.push_back(
        {e.local_name, function.convention, function.attributes, {}});
  }
}

BytecodeModule::~BytecodeModule() = default;

absl::StatusOr<std::unique_ptr<ModuleState>> BytecodeModule::CreateState()
    const {
  return std::make_unique<BytecodeState>(*program_);
}

uint64_t ContentHashOf(Module& module) {
  const auto* const bytecode = DynCast<BytecodeModule>(&module);
  if (bytecode == nullptr) return 0;
  const absl::Span<const uint8_t> bytes = bytecode->bytes();
  return ContentHash(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace takt::vm
