# Installs the package below WORK_DIR, builds copies of the samples on it in
# two ways, runs them and compares their output.
set(prefix ${WORK_DIR}/prefix)
set(samples ${WORK_DIR}/samples)
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/run_samples.cmake)

file(REMOVE_RECURSE ${prefix} ${samples} ${WORK_DIR}/all ${WORK_DIR}/letters
     ${WORK_DIR}/tools)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix}
    --component takt --config "${CONFIG}")
file(COPY ${SOURCE_DIR}/samples/ DESTINATION ${samples})

# By find_package.
run(${CMAKE_COMMAND} -S ${samples} -B ${samples}/build -G ${GENERATOR} ${machine}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D CMAKE_C_FLAGS=${flags} -D CMAKE_CXX_FLAGS=${flags}
    -D TAKT_MUJOCO_DIR=${MUJOCO_DIR})
run(${CMAKE_COMMAND} --build ${samples}/build)
run_samples(${samples}/build)
if(NOT EXISTS ${prefix}/share/doc/takt/LICENSE OR
   NOT EXISTS ${prefix}/share/doc/takt/docs/embedding.md)
  message(FATAL_ERROR "${prefix}/share/doc/takt: no licence or no pages")
endif()
# A user who names no component gets nothing of the wheel.
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/all
    --config "${CONFIG}")
if(NOT EXISTS ${WORK_DIR}/all/include/takt/takt.h OR
   EXISTS ${WORK_DIR}/all/takt)
  message(FATAL_ERROR "${WORK_DIR}/all: no headers, or the wheel's files")
endif()
# The name of the package in another case.
file(WRITE ${WORK_DIR}/letters/CMakeLists.txt
"cmake_minimum_required(VERSION 3.20)
project(letters C)
find_package(Takt 0.1 REQUIRED)
if(NOT Takt_FOUND OR NOT TARGET takt::takt)
  message(FATAL_ERROR \"no target takt::takt\")
endif()
")
run(${CMAKE_COMMAND} -S ${WORK_DIR}/letters -B ${WORK_DIR}/letters/build
    -G ${GENERATOR} ${machine} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_C_COMPILER=${C_COMPILER})
# The second library, by find_package.
file(COPY ${CMAKE_CURRENT_LIST_DIR}/host/tools.c DESTINATION ${WORK_DIR}/tools)
file(WRITE ${WORK_DIR}/tools/CMakeLists.txt
"cmake_minimum_required(VERSION 3.20)
project(tools C CXX)
find_package(takt 0.1 REQUIRED)
add_executable(by_package tools.c)
target_link_libraries(by_package PRIVATE takt::tools)
")
run(${CMAKE_COMMAND} -S ${WORK_DIR}/tools -B ${WORK_DIR}/tools/build
    -G ${GENERATOR} ${machine} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D CMAKE_C_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/tools/build)
set(counter ${TESTDATA_DIR}/api/counter.vmfb)
expect_output("counter: robot.read" ${WORK_DIR}/tools/build/by_package
  ${counter})
if(NOT SANITIZE)  # The tool would have to be built with the same.
  run(${BUILD_DIR}/tools/takt-npu-conformance
      ${samples}/build/example_driver.so)
endif()

if(TOOLCHAIN)  # What pkg-config leaves out is in its flags.
  return()
endif()

# By pkg-config.
file(GLOB_RECURSE pc ${prefix}/takt.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
find_program(PKG_CONFIG pkg-config REQUIRED)
set(pkg_flags --cflags --libs)
file(GLOB_RECURSE archive ${prefix}/libtakt.a)
if(archive)
  list(APPEND pkg_flags --static)
endif()
execute_process(COMMAND ${PKG_CONFIG} ${pkg_flags} takt
  OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(package UNIX_COMMAND "${package}")
get_filename_component(lib_dir ${pc_dir} DIRECTORY)
file(MAKE_DIRECTORY ${samples}/pc)
foreach(sample hello static_call native_module fences dag stateful verify)
  run(${C_COMPILER} -std=c11 -Wall -Wextra -Werror ${flags}
      ${samples}/${sample}.c -o ${samples}/pc/${sample} ${package}
      -Wl,-rpath,${lib_dir})
endforeach()
foreach(sample hello dag stateful)
  run(${CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror ${flags}
      ${samples}/${sample}.cpp -o ${samples}/pc/${sample}_cpp ${package}
      -Wl,-rpath,${lib_dir})
endforeach()
foreach(sample coroutine contention embed_runtime robot_control)
  run(${CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror ${flags}
      ${samples}/${sample}.cpp -o ${samples}/pc/${sample} ${package}
      -Wl,-rpath,${lib_dir})
endforeach()
run_samples(${samples}/pc)

# The second library, by pkg-config.
execute_process(COMMAND ${PKG_CONFIG} ${pkg_flags} takt-tools
  OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(package UNIX_COMMAND "${package}")
run(${C_COMPILER} -std=c11 -Wall -Wextra -Werror ${flags}
    ${WORK_DIR}/tools/tools.c -o ${WORK_DIR}/tools/by_pkg_config ${package}
    -Wl,-rpath,${lib_dir})
expect_output("counter: robot.read" ${WORK_DIR}/tools/by_pkg_config ${counter})
