// A BytecodeModule is a verified `.vmfb`, translated into the interpreter's
// own form. Rodata and executables stay in the file's bytes.
#ifndef TAKT_VM_BYTECODE_MODULE_H_
#define TAKT_VM_BYTECODE_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "vm/bytecode_archive.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::vm {

struct Program;  // The translated code; program.h.

class BytecodeModule final : public Module {
 public:
  static constexpr ObjectType kType{"vm.bytecode_module"};

  // Whether a module may name types that are not registered. Such a module can
  // be inspected, but no context takes it.
  enum class UnknownTypes { kRefuse, kAccept };

  // Parses, verifies and translates. `owner` keeps `bytes` alive; `source` is
  // the file's name for messages. Errors: as BytecodeArchive::Parse and
  // VerifyArchive; NOT_FOUND for a type that `types` lacks.
  static absl::StatusOr<Ref<BytecodeModule>> Load(
      const TypeRegistry& types, absl::Span<const uint8_t> bytes,
      Ref<Object> owner, const std::string& source,
      UnknownTypes unknown_types = UnknownTypes::kRefuse);

  const BytecodeArchive& archive() const { return image_->archive; }
  const Program& program() const { return *program_; }
  // NOT_FOUND if it names a type that is not registered.
  absl::Status CheckTypes() const;
  // The file's bytes.
  absl::Span<const uint8_t> bytes() const { return image_->bytes; }

  absl::StatusOr<std::unique_ptr<ModuleState>> CreateState() const override;

 private:
  // The bytes, which rodata buffers keep alive without the module.
  struct Image final : public Object {
    static constexpr ObjectType kType{"vm.bytecode_image"};
    Image() : Object(&kType) {}
    BytecodeArchive archive;
    absl::Span<const uint8_t> bytes;
    Ref<Object> owner;
  };

  BytecodeModule(Ref<Image> image, std::unique_ptr<Program> program);
  ~BytecodeModule() override;

  const Ref<Image> image_;
  const std::unique_ptr<Program> program_;
};

// The content hash of the module's file, by which plans name the module; 0 for
// a module that has no file. Reads the whole file.
uint64_t ContentHashOf(Module& module);

}  // namespace takt::vm

#endif  // TAKT_VM_BYTECODE_MODULE_H_
