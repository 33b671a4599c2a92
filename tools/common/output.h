// What --output= makes of results.
#ifndef TAKT_TOOLS_COMMON_OUTPUT_H_
#define TAKT_TOOLS_COMMON_OUTPUT_H_

#include <string>
#include <vector>

#include "tools/common/status.h"

namespace takt::tools {

extern const char kOutputHelp[];

// Gives the tensors among the results of such a function the sign that its
// declaration says: a module's code knows integers without one only. The same
// buffers, in other views. Other results stay as they are.
Status TakeDeclaredSigns(const Signature& signature,
                         std::vector<Value>* results);

// Prints all results to stdout, as "result[0]: ...".
//
// Errors: a tensor that cannot be read; those before it were printed.
Status PrintResults(const std::vector<Value>& results,
                    size_t element_count_max);

// Checks what can be checked of `outputs` before a function of `result_count`
// results has run.
//
// Errors: INVALID_ARGUMENT  another number of texts than results; a text of
//                           another form than in kOutputHelp.
//         as CheckWritable().
Status CheckOutputs(const std::vector<std::string>& outputs,
                    size_t result_count);

// Does with each result what the text of the same index says (kOutputHelp).
// `outputs` has passed CheckOutputs().
//
// Errors: UNIMPLEMENTED  the value cannot be written so.
//         as WriteFile().
Status WriteOutputs(const std::vector<Value>& results,
                    const std::vector<std::string>& outputs,
                    size_t element_count_max);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_OUTPUT_H_
