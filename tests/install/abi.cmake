# Compares the ABI that the public headers describe with packaging/abi/: the
# functions, and the types that they use. From each header's declarations a
# library with empty functions is compiled with debug information, and abidw
# (abigail-tools) reads it. symbols_test.cmake compares the functions with those
# of the real libraries, whose sources include the same headers.
#
#   WORK_DIR    for files in between
#   C_COMPILER  gcc or clang
#   UPDATE      ON: writes packaging/abi/ anew
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run_samples.cmake)
get_filename_component(tree ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
find_program(ABIDW abidw REQUIRED)
find_program(ABIDIFF abidiff REQUIRED)
file(MAKE_DIRECTORY ${WORK_DIR})

# A C source with a definition of each function that the headers declare.
function(write_source headers output)
  set(includes "")
  set(definitions "")
  foreach(header IN LISTS headers)
    string(APPEND includes "#include <takt/${header}>\n")
    file(READ ${tree}/include/takt/${header} text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    # Semicolons and brackets mean something to CMake's lists.
    string(REPLACE ";" "@" text "${text}")
    string(REPLACE "[" "<:" text "${text}")
    string(REPLACE "]" ":>" text "${text}")
    string(REGEX MATCHALL "TAKT_EXPORT [^@{#]*[)]@" declarations "${text}")
    foreach(declaration IN LISTS declarations)
      string(REPLACE "@" " { __builtin_trap()@ }\n" declaration
        "${declaration}")
      string(APPEND definitions "${declaration}")
    endforeach()
  endforeach()
  string(REPLACE "@" ";" definitions "${definitions}")
  file(WRITE ${output} "${includes}${definitions}")
endfunction()

set(failed "")
foreach(library libtakt libtakt-tools)
  set(folder "")
  if(library STREQUAL "libtakt-tools")
    set(folder tools/)
  endif()
  file(GLOB headers RELATIVE ${tree}/include/takt
       ${tree}/include/takt/${folder}*.h)
  write_source("${headers}" ${WORK_DIR}/${library}.c)
  # The name of the library is part of what is compared.
  set(file ${WORK_DIR}/${library}.so)
  run(${C_COMPILER} -std=gnu11 -g -O0 -fPIC -shared -fvisibility=hidden
      -Wno-return-type -I${tree}/include -Wl,-soname,${library}.so
      -o ${file} ${WORK_DIR}/${library}.c)
  set(dump ${WORK_DIR}/${library}.abi)
  run(${ABIDW} --no-corpus-path --no-show-locs --no-comp-dir-path
      --drop-undefined-syms --out-file ${dump} ${file})
  set(expected ${tree}/packaging/abi/${library}.abi)
  if(UPDATE)
    file(COPY_FILE ${dump} ${expected})
    message(STATUS "written: ${expected}")
    continue()
  endif()
  execute_process(COMMAND ${ABIDIFF} --no-show-locs ${expected} ${dump}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(APPEND failed "${library}:\n${output}\n")
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "the headers differ from packaging/abi/\n${failed}"
    "if this is meant: scripts/abi.sh --update, and docs/ports.md, "
    "\"What stays stable\"")
endif()
