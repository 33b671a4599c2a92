// Finds functions in C++ sources by their names, well enough for this tree's
// own style: a definition is a name, its parameters and a body in braces.
#ifndef TAKT_TESTS_TIDY_SOURCE_CODE_H_
#define TAKT_TESTS_TIDY_SOURCE_CODE_H_

#include <string>
#include <vector>

#include "tests/tidy/source_tree.h"

namespace takt::tidy {

// The file's text with spaces in place of comments and literals.
std::string CodeOf(const SourceFile& file);

// The bodies of all definitions of `function` in `code`: several if it is
// overloaded, none if it is not defined there. The name of a method begins
// with its class, such as "Timeline::Signal", also if it is defined in it.
std::vector<std::string> BodiesOf(const std::string& code,
                                  const std::string& function);

// True if `body` calls a function of this name, whatever object it is of.
bool Calls(const std::string& body, const std::string& function);

}  // namespace takt::tidy

#endif  // TAKT_TESTS_TIDY_SOURCE_CODE_H_
