// Non-maximum suppression, as compiled kernels import it; see kernel_imports.h.
// A result other than 0 says that the parameters are invalid.
#ifndef TAKT_CPU_BOXES_IMPORT_H_
#define TAKT_CPU_BOXES_IMPORT_H_

namespace takt::cpu {

// One workgroup computes everything.
int SelectBoxesImport(void* parameters, void* context, void* reserved);
// Lists of boxes (kernels::SelectBoxLists), and what they are together.
int SelectBoxListsImport(void* parameters, void* context, void* reserved);
int JoinBoxListsImport(void* parameters, void* context, void* reserved);

}  // namespace takt::cpu

#endif  // TAKT_CPU_BOXES_IMPORT_H_
