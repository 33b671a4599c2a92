// The executable formats of a unit's device, besides those of the CPU:
//
//   npu-fb            vmvx bytecode, whose heavy operations run on the unit; or
//                     a program for the unit, as raw bytes or in the container
//                     that the compiler puts around an object file.
//   vmvx-bytecode-fb  as above, always bytecode.
//
// The device may load native code of the CPU as well. Its imports resolve to
// functions of the driver; each call holds the lease.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_NPU_NPU_FORMATS_H_
#define TAKT_NPU_NPU_FORMATS_H_

#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "cpu/code_loader.h"
#include "cpu/import_resolver.h"
#include "npu/npu_offload.h"
#include "npu/npu_unit.h"
#include "vm/native_module.h"

namespace takt::npu {

class NpuFormats final : public cpu::CodeLoader, public cpu::ImportResolver {
 public:
  static constexpr absl::string_view kFormat = "npu-fb";

  NpuFormats(Ref<NpuUnit> unit, bool takes_native_code)
      : unit_(std::move(unit)), takes_native_code_(takes_native_code) {}

  // Keeps `seat` as long as the device's threads run.
  void set_seat(std::shared_ptr<void> seat) { seat_ = std::move(seat); }

  void Retire() override { seat_.reset(); }
  bool Takes(absl::string_view format) const override;
  bool is_exclusive() const override { return !takes_native_code_; }
  absl::StatusOr<std::shared_ptr<cpu::ExecutableCode>> Load(
      absl::string_view format, absl::Span<const uint8_t> data,
      const Ref<Object>& owner, absl::Span<const uint32_t> constants) override;
  std::shared_ptr<cpu::ExecutableCode> Wrap(
      std::shared_ptr<cpu::ExecutableCode> code) override;
  absl::optional<cpu::ImportFunction> Resolve(absl::string_view name) override;

 private:
  struct Import {
    NpuUnit* unit;
    takt_npu_import_t function;
    void* context;
  };
  static int CallImport(void* parameters, void* context, void* reserved);

  absl::StatusOr<Ref<vm::NativeModule>> VmvxModule()
      ABSL_LOCKS_EXCLUDED(mutex_);

  const Ref<NpuUnit> unit_;
  const bool takes_native_code_;
  std::shared_ptr<void> seat_;
  Mutex mutex_;
  Ref<vm::NativeModule> vmvx_module_ ABSL_GUARDED_BY(mutex_);
  std::deque<Import> imports_ ABSL_GUARDED_BY(mutex_);  // Addresses stay.
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_FORMATS_H_
