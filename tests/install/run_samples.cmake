# For the tests of this folder: run() stops at a command that fails, and
# run_samples() runs the programs of samples/ and compares their output.
#
#   TESTDATA_DIR, TOOLCHAIN, SYSROOT  of the build under test; a build for its own
#                                     machine has neither of the latter two
#   prefix                            where Takt is installed, if it is
#
# A project that is built for the same machine is given ${machine}.
set(machine "")
if(TOOLCHAIN)
  set(machine -D CMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -D TAKT_SYSROOT=${SYSROOT}
      -D TAKT_PREFIX=${prefix})
endif()

function(run)
  # Semicolons inside an argument stay.
  set(command "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE ${last})
    string(REPLACE ";" "\\;" argument "${ARGV${i}}")
    list(APPEND command "${argument}")
  endforeach()
  execute_process(COMMAND ${command} RESULT_VARIABLE result
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

# The control loop has 200 turns, of any duration, and no failure.
function(run_robot_control program)
  execute_process(COMMAND ${program} ${TESTDATA_DIR}/workload 0.2
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(REGEX MATCHALL "[1-9][0-9]* released, [^\n]* 0 failed" streams
    "${output}")
  list(LENGTH streams stream_count)
  if(NOT result EQUAL 0 OR NOT output MATCHES "^loop: 200 turns" OR
     NOT stream_count EQUAL 3)
    message(FATAL_ERROR "${program}: ${result}:\n${output}\n${error}")
  endif()
endfunction()

# Both runs have jobs and write a page. The number of late jobs depends on the
# machine.
function(run_contention program)
  execute_process(
    COMMAND ${program} ${TESTDATA_DIR}/workload 0.2 ${WORK_DIR}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  foreach(row "estimator, every 2 ms" "policy, every 5 ms")
    if(NOT output MATCHES "${row} +[|] +[0-9]+ of +[1-9][^\n]+[|] +[0-9]+ of +[1-9]")
      message(FATAL_ERROR "${program}: no row of ${row}:\n${output}\n${error}")
    endif()
  endforeach()
  if(NOT result EQUAL 0 OR NOT EXISTS ${WORK_DIR}/first_come.html OR
     NOT EXISTS ${WORK_DIR}/takt.html)
    message(FATAL_ERROR "${program}: ${result}:\n${output}\n${error}")
  endif()
endfunction()

# A robot runs in each way and its record is complete. Whether it falls depends
# on the machine.
function(run_balance program models joint_count)
  foreach(way first-come threads threads-fifo takt)
    set(record ${WORK_DIR}/balance.json)
    file(REMOVE ${record})
    execute_process(
      COMMAND ${program} ${way} ${SOURCE_DIR}/samples/balance/${models} 0.5 1
              ${record}
      RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
    if(NOT result EQUAL 0 OR NOT output MATCHES "^${way}: upright [0-9.]+ of 0[.]5 s"
       OR NOT EXISTS ${record})
      message(FATAL_ERROR "${program}: ${result}:\n${output}\n${error}")
    endif()
    file(READ ${record} json)
    string(JSON moment_count LENGTH ${json} moments)
    string(JSON job_count GET ${json} policy jobs)
    string(JSON value_count LENGTH ${json} moments 49)
    math(EXPR value_count "${value_count} - 5")
    if(NOT value_count EQUAL joint_count)
      message(FATAL_ERROR "${record}: ${value_count} joints")
    endif()
    if(NOT moment_count EQUAL 50 OR job_count LESS 1)
      message(FATAL_ERROR "${record}: ${moment_count} moments, ${job_count} jobs")
    endif()
  endforeach()
endfunction()

# The detector runs on OpenVINO's device CPU. How well the camera follows
# depends on the machine.
function(run_tracker program driver)
  execute_process(
    COMMAND ${program} ${driver},device=CPU ${SOURCE_DIR}/samples/npu/tracker/models 1
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  foreach(row "device +local-npu-openvino: ." "detector +[1-9][0-9]* released"
          "policy +[1-9][0-9]* released" "npu +[1-9][0-9]* operations"
          "tracker +[0-9]+ detections")
    if(NOT result EQUAL 0 OR NOT output MATCHES "${row}")
      message(FATAL_ERROR "${program}: ${row}: ${result}:\n${output}\n${error}")
    endif()
  endforeach()
endfunction()

function(run_samples directory)
  set(driver ${BUILD_DIR}/drivers/openvino/libtakt_npu_openvino.so)
  if(EXISTS ${directory}/tracker AND EXISTS ${driver})
    run_tracker(${directory}/tracker ${driver})
  else()
    message(STATUS "tracker was not run: it needs scripts/install_deps.sh --openvino")
  endif()
  if(EXISTS ${directory}/balance/balance)
    run_balance(${directory}/balance/balance models 3)
    run_balance(${directory}/balance/balance two_wheeled/models 9)
  else()
    message(STATUS "balance was not run: it needs scripts/install_deps.sh --robot")
  endif()
  run_contention(${directory}/contention)
  run_robot_control(${directory}/robot_control)
  set(data ${TESTDATA_DIR}/api)
  expect_output("1 4 9 16" ${directory}/hello ${data}/simple_mul.vmfb)
  expect_output("1 4 9 16" ${directory}/hello_cpp ${data}/simple_mul.vmfb)
  expect_output("2 4 6 8" ${directory}/static_call
    ${TESTDATA_DIR}/fat/fat.vmfb)
  file(SHA256 ${data}/simple_mul.vmfb hash)
  expect_output("simple is loaded"
    ${directory}/verify ${data}/simple_mul.vmfb ${hash})
  expect_output("refused: PERMISSION_DENIED"
    ${directory}/verify ${data}/counter.vmfb ${hash})
  expect_output("joint 7: 701\njoint 7: 702\njoint -1: OUT_OF_RANGE"
    ${directory}/native_module ${data}/counter.vmfb)
  expect_output("4xf32=1 16 81 256"
    ${directory}/fences ${data}/simple_mul_async.vmfb)
  expect_output("waiting\n4xf32=1 16 81 256\n4xf32=0 1 16 81"
    ${directory}/coroutine ${data}/simple_mul_async.vmfb)
  expect_output("cpu: 1536, in place\ncancelled\nnpu: 1536, in place\nthe npu ran operations\nin use at the end: 0 bytes"
    ${directory}/embed_runtime ${TESTDATA_DIR}/npu/either_way.vmfb)
  if(EXISTS ${directory}/embed_event_loop)
    expect_output("4xf32=0 1 16 81\n4xf32=1 16 81 256\n4xf32=16 81 256 625\nthreads: 1"
      ${directory}/embed_event_loop ${data}/simple_mul_async.vmfb)
  endif()
  if(EXISTS ${directory}/embed_pool)
    execute_process(
      COMMAND ${directory}/embed_pool
              ${TESTDATA_DIR}/workload/perception.cpu.vmfb
      RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
    if(NOT result EQUAL 0 OR
       NOT output MATCHES "\nthe pool's own work: done, Takt's: done, its threads: 0\n")
      message(FATAL_ERROR "embed_pool: ${result}:\n${output}\n${error}")
    endif()
  endif()
  set(data ${TESTDATA_DIR}/async)
  foreach(language "" _cpp)
    foreach(order 01234 43210 30214)
      expect_output("4xf32=3 5 7 9\n4xf32=4 16 36 64\n4xf32=-1 -2 -3 -4\n4xf32=0 1 2 3"
        ${directory}/dag${language} ${data}/dag.cpu.async.vmfb ${order})
    endforeach()
    expect_output("2x2xf32=[4 5][8 11]\n2x2xf32=[3 2][7 6]"
      ${directory}/stateful${language} ${data}/state.cpu.async.vmfb)
  endforeach()
endfunction()
