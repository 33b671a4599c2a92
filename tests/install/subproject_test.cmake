# Builds host/, which adds Takt's source tree to its own build, and runs its
# program and the samples. host/CMakeLists.txt checks that the host's variables,
# cache and targets stay the same.
#
#   WAY  add_subdirectory or fetch_content
include(${CMAKE_CURRENT_LIST_DIR}/run_samples.cmake)

set(options -D TAKT_TREE=${SOURCE_DIR})
if(WAY STREQUAL fetch_content)
  list(APPEND options -D USE_FETCH_CONTENT=ON
       -D FETCHCONTENT_SOURCE_DIR_TAKT=${SOURCE_DIR})
endif()

# The smallest source of each layer is compiled; the other objects come from the
# build under test.
file(GLOB layers ${SOURCE_DIR}/src/*)
set(compiled "")
foreach(layer IN LISTS layers)
  file(GLOB sources ${layer}/*.cc)
  set(least "")
  foreach(source IN LISTS sources)
    file(SIZE ${source} size)
    if(least STREQUAL "" OR size LESS least)
      set(least ${size})
      set(smallest ${source})
    endif()
  endforeach()
  if(sources)
    string(APPEND compiled " ${smallest}")
  endif()
endforeach()
set(ENV{COMPILED_SOURCES} "${compiled}")
if(CCACHE)
  set(ENV{CCACHE} ${CCACHE})
endif()
set(launcher ${CMAKE_CURRENT_LIST_DIR}/reuse_objects.sh ${BUILD_DIR})

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/host -B ${WORK_DIR}/build
    -G ${GENERATOR} ${machine} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    "-DCMAKE_C_COMPILER_LAUNCHER=${launcher}"
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}" ${options})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
file(STRINGS ${SOURCE_DIR}/CMakeLists.txt version REGEX "^project\\(takt VERSION")
string(REGEX MATCH "[0-9.]+" version "${version}")
expect_output("42 ${version}" ${WORK_DIR}/build/host)
expect_output("counter: robot.read" ${WORK_DIR}/build/host_tools
  ${TESTDATA_DIR}/api/counter.vmfb)
run_samples(${WORK_DIR}/build/samples)

# The simulator belongs to the tools.
file(GLOB_RECURSE simulator ${WORK_DIR}/build/libtakt_sim.a)
if(simulator)
  message(FATAL_ERROR "built without need: ${simulator}")
endif()

run(${CMAKE_COMMAND} --install ${WORK_DIR}/build --prefix ${WORK_DIR}/prefix)
file(GLOB_RECURSE installed RELATIVE ${WORK_DIR}/prefix ${WORK_DIR}/prefix/*)
if(NOT installed STREQUAL "bin/host")
  message(FATAL_ERROR "installed with the host: ${installed}")
endif()
