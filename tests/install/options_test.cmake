# Builds Takt without each of its parts, and without all of them, and runs the
# programs of options/. One build tree serves all: what an option leaves out is
# not compiled differently, so only archives and programs change. The objects
# come from the build under test where it has them.
#
#   PARTS  what to leave out, one build each; a comma joins parts of one build
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run_samples.cmake)

set(all SCHEDULER PLANNER NPU VMVX NATIVE_KERNELS AVX512 TRACING IO_PARAMETERS HWLOC)
# Nothing that is offered is forgotten here.
file(STRINGS ${SOURCE_DIR}/CMakeLists.txt offered REGEX "^option\\(TAKT_")
file(STRINGS ${SOURCE_DIR}/src/CMakeLists.txt parts REGEX "^takt_part\\(")
foreach(part IN LISTS parts)
  string(REGEX REPLACE "takt_part.([A-Z0-9_]+).*" "\\1" part "${part}")
  if(offered MATCHES "TAKT_${part} " AND
     NOT (part IN_LIST all AND part IN_LIST PARTS))
    message(FATAL_ERROR "TAKT_${part}=OFF is not built alone")
  endif()
endforeach()
if(NOT ALL IN_LIST PARTS)
  message(FATAL_ERROR "no build is without all parts")
endif()

if(CCACHE)
  set(ENV{CCACHE} ${CCACHE})
endif()
set(ENV{COMPILED_SOURCES} "")
set(launcher ${CMAKE_CURRENT_LIST_DIR}/reuse_objects.sh ${BUILD_DIR})
file(REMOVE_RECURSE ${WORK_DIR})
foreach(without IN LISTS PARTS)
  string(REPLACE "," ";" without "${without}")
  if(without STREQUAL "ALL")
    set(without ${all})
  elseif(without STREQUAL "SCHEDULER")  # It carries plans out.
    list(APPEND without PLANNER)
  endif()
  set(options "")
  foreach(part IN LISTS all)
    set(value ON)
    if(part IN_LIST without)
      set(value OFF)
    endif()
    list(APPEND options -D TAKT_${part}=${value})
  endforeach()
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/options -B ${WORK_DIR}
      -G ${GENERATOR} ${machine} -D CMAKE_BUILD_TYPE=${CONFIG}
      -D TAKT_TREE=${SOURCE_DIR} -D TAKT_TESTDATA_DIR=${TESTDATA_DIR}
      -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
      "-DCMAKE_C_COMPILER_LAUNCHER=${launcher}"
      "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}" ${options})
  run(${CMAKE_COMMAND} --build ${WORK_DIR})
  file(GLOB programs ${WORK_DIR}/*_test)
  if(VMVX IN_LIST without)  # These call modules of that format.
    list(FILTER programs EXCLUDE REGEX
      "/(async_call|command_buffer|context|fence|function|queue|scheduler|stream)_test")
  endif()
  if(PLANNER IN_LIST without)
    list(FILTER programs EXCLUDE REGEX "/scheduler_test")
  endif()
  if(SCHEDULER IN_LIST without)  # It asks for policies.
    list(FILTER programs EXCLUDE REGEX "/stream_test")
  endif()
  list(LENGTH programs count)
  foreach(program IN LISTS programs)
    if(program MATCHES "/absent_test$")
      run(${program} ${without})
    else()
      run(${program})
    endif()
  endforeach()
  file(GLOB library ${WORK_DIR}/takt/src/api/libtakt.a)
  file(SIZE ${library} size)
  list(JOIN without " " names)
  message(STATUS "without ${names}: ${count} programs, libtakt.a ${size} bytes")
endforeach()
