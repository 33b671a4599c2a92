// takt/module.hpp - modules from C++; contracts are in takt/module.h, rules for
// errors and ownership in takt/takt.hpp.
#ifndef TAKT_MODULE_HPP_
#define TAKT_MODULE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "takt/instance.hpp"
#include "takt/module.h"
#include "takt/native_module.h"
#include "takt/signature.hpp"

namespace takt {
inline namespace cxx {

// Code that exports and imports functions; see takt/module.h.
class Module : public Object<Module, takt_module_t, takt_module_retain,
                             takt_module_release> {
 public:
  using Object::Object;
  static Result<Module> Load(
      const Instance& instance, const std::string& path,
      const takt_module_file_options_t* options = nullptr) {
    takt_module_t* module = nullptr;
    takt_status_t status =
        takt_module_load_file(instance.get(), path.c_str(), options, &module);
    return TakeResult<Module>(status, module);
  }
  static Result<Module> LoadMemory(
      const Instance& instance, std::span<const uint8_t> bytes,
      const takt_module_memory_options_t* options = nullptr) {
    takt_module_t* module = nullptr;
    takt_status_t status = takt_module_load_memory(
        instance.get(), bytes.data(), bytes.size(), options, &module);
    return TakeResult<Module>(status, module);
  }
  static Result<Module> CreateNative(
      const Instance& instance, const takt_native_module_options_t& options) {
    takt_module_t* module = nullptr;
    takt_status_t status =
        takt_native_module_create(instance.get(), &options, &module);
    return TakeResult<Module>(status, module);
  }
  std::string_view name() const { return takt_module_name(get()); }
  uint64_t content_hash() const { return takt_module_content_hash(get()); }
  size_t export_count() const { return takt_module_export_count(get()); }
  // The name of export `index`; "" beyond the count.
  std::string_view export_name(size_t index) const {
    const char* name = takt_module_export_name(get(), index);
    return name != nullptr ? name : "";
  }
  Result<Signature> export_signature(size_t index) const {
    takt_signature_t* signature = nullptr;
    takt_status_t status =
        takt_module_export_signature(get(), index, &signature);
    return TakeResult<Signature>(status, signature);
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_MODULE_HPP_
