#include "vm/instance.h"

namespace takt::vm {
namespace {

size_t StorageWords(const Program& program) {
  return program.global_ref_count + (program.global_bytes + 7) / 8;
}

}  // namespace

BytecodeState::BytecodeState(const Program& program)
    : program_(program), storage_(new uint64_t[StorageWords(program)]()) {
  static_assert(sizeof(Object*) == sizeof(uint64_t));
  instance_.global_refs = reinterpret_cast<Object**>(storage_.get());
  instance_.globals =
      reinterpret_cast<uint8_t*>(storage_.get() + program.global_ref_count);
}

BytecodeState::~BytecodeState() {
  for (uint32_t i = 0; i < program_.global_ref_count; ++i) {
    if (instance_.global_refs[i] != nullptr) {
      instance_.global_refs[i]->Release();
    }
  }
}

void BytecodeState::Link(const Callee* imports, ModuleState* const* states,
                         const Instance* const* instances) {
  instance_.imports = imports;
  instance_.states = states;
  instance_.instances = instances;
}

size_t BytecodeState::memory_bytes() const {
  return sizeof(*this) + StorageWords(program_) * sizeof(uint64_t);
}

}  // namespace takt::vm
