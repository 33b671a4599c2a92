// takt/tools/module_contents.hpp - the contents of modules from C++; contracts
// are in takt/tools/module_contents.h.
//
// Part of libtakt-tools. This interface may change with every release.
#ifndef TAKT_TOOLS_MODULE_CONTENTS_HPP_
#define TAKT_TOOLS_MODULE_CONTENTS_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <string>

#include "takt/takt.hpp"
#include "takt/tools/module_contents.h"

namespace takt {
inline namespace cxx {

// What is inside a module. The functions of takt/tools/module_contents.h take
// get().
class ModuleContents
    : public Object<ModuleContents, takt_module_contents_t,
                    takt_module_contents_retain, takt_module_contents_release> {
 public:
  using Object::Object;

  static Result<ModuleContents> Read(const Module& module) {
    takt_module_contents_t* contents = nullptr;
    takt_status_t status = takt_module_contents_create(module.get(), &contents);
    return TakeResult<ModuleContents>(status, contents);
  }
  takt_module_info_t info() const { return takt_module_contents_info(get()); }
  Result<std::string> Disassemble(size_t function) const {
    char* text = nullptr;
    Status status(takt_module_contents_disassemble(get(), function, &text));
    if (!status.ok()) return status;
    std::string result(text);
    takt_string_free(text);
    return result;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TOOLS_MODULE_CONTENTS_HPP_
