# Installs the package below WORK_DIR, builds copies of the samples on it in
# two ways, runs them and compares what they print.
set(prefix ${WORK_DIR}/prefix)
set(samples ${WORK_DIR}/samples)
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " line)
    message(FATAL_ERROR "${line}\n${output}\nended with ${result}")
  endif()
endfunction()

function(expect_output expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(STRIP "${output}" output)
  if(NOT result EQUAL 0 OR NOT output STREQUAL expected)
    message(FATAL_ERROR
      "${ARGN}: expected\n${expected}\ngot ${result}:\n${output}\n${error}")
  endif()
endfunction()

# The control loop's 200 turns, whatever their times; nothing has failed.
function(run_robot_control program)
  execute_process(COMMAND ${program} ${SOURCE_DIR}/tests/testdata/workload 0.2
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(REGEX MATCHALL "[1-9][0-9]* released, [^\n]* 0 failed" streams
    "${output}")
  list(LENGTH streams stream_count)
  if(NOT result EQUAL 0 OR NOT output MATCHES "^loop: 200 turns" OR
     NOT stream_count EQUAL 3)
    message(FATAL_ERROR "${program}: ${result}:\n${output}\n${error}")
  endif()
endfunction()

function(run_samples directory)
  run_robot_control(${directory}/robot_control)
  set(data ${SOURCE_DIR}/tests/testdata/api)
  expect_output("1 4 9 16" ${directory}/hello ${data}/simple_mul.vmfb)
  expect_output("1 4 9 16" ${directory}/hello_cpp ${data}/simple_mul.vmfb)
  expect_output("joint 7: 701\njoint 7: 702\njoint -1: OUT_OF_RANGE"
    ${directory}/native_module ${data}/counter.vmfb)
  expect_output("4xf32=1 16 81 256"
    ${directory}/fences ${data}/simple_mul_async.vmfb)
  expect_output("waiting\n4xf32=1 16 81 256\n4xf32=0 1 16 81"
    ${directory}/coroutine ${data}/simple_mul_async.vmfb)
  set(data ${SOURCE_DIR}/tests/testdata/async)
  foreach(language "" _cpp)
    foreach(order 01234 43210 30214)
      expect_output("4xf32=3 5 7 9\n4xf32=4 16 36 64\n4xf32=-1 -2 -3 -4\n4xf32=0 1 2 3"
        ${directory}/dag${language} ${data}/dag.cpu.async.vmfb ${order})
    endforeach()
    expect_output("2x2xf32=[4 5][8 11]\n2x2xf32=[3 2][7 6]"
      ${directory}/stateful${language} ${data}/state.cpu.async.vmfb)
  endforeach()
endfunction()

file(REMOVE_RECURSE ${prefix} ${samples})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix}
    --component takt --config "${CONFIG}")
file(COPY ${SOURCE_DIR}/samples/ DESTINATION ${samples})

# By find_package.
run(${CMAKE_COMMAND} -S ${samples} -B ${samples}/build -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D CMAKE_C_FLAGS=${flags} -D CMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${samples}/build)
run_samples(${samples}/build)
if(NOT SANITIZE)  # The tool would have to be built with the same.
  run(${BUILD_DIR}/tools/takt-npu-conformance
      ${samples}/build/example_driver.so)
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
foreach(sample hello native_module fences dag stateful)
  run(${C_COMPILER} -std=c11 -Wall -Wextra -Werror ${flags}
      ${samples}/${sample}.c -o ${samples}/pc/${sample} ${package}
      -Wl,-rpath,${lib_dir})
endforeach()
foreach(sample hello dag stateful)
  run(${CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror ${flags}
      ${samples}/${sample}.cpp -o ${samples}/pc/${sample}_cpp ${package}
      -Wl,-rpath,${lib_dir})
endforeach()
foreach(sample coroutine robot_control)
  run(${CXX_COMPILER} -std=c++20 -Wall -Wextra -Werror ${flags}
      ${samples}/${sample}.cpp -o ${samples}/pc/${sample} ${package}
      -Wl,-rpath,${lib_dir})
endforeach()
run_samples(${samples}/pc)
