# Compares the dynamic symbols that LIBRARY defines with the list in EXPECTED.
# -D UPDATE=1 writes the list instead; a changed one is a changed ABI.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" names "${table}")
list(TRANSFORM names STRIP)
list(SORT names)
list(JOIN names "\n" actual)
if(UPDATE)
  file(WRITE ${EXPECTED} "${actual}\n")
  return()
endif()
file(READ ${EXPECTED} expected)
string(STRIP "${expected}" expected)
if(NOT actual STREQUAL expected)
  string(REPLACE "\n" ";" expected_names "${expected}")
  set(added ${names})
  list(REMOVE_ITEM added ${expected_names})
  set(removed ${expected_names})
  list(REMOVE_ITEM removed ${names})
  message(FATAL_ERROR "${LIBRARY}: symbols differ from ${EXPECTED}
added: ${added}
removed: ${removed}")
endif()
