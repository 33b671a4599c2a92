# Builds integrations/ on an installed Takt and runs its tests. What needs a
# framework that is not installed is left out there.
set(prefix ${WORK_DIR}/prefix)
include(${CMAKE_CURRENT_LIST_DIR}/run_samples.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix}
    --component takt --config "${CONFIG}")
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/integrations -B ${WORK_DIR}/build
    -G ${GENERATOR} ${machine} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D TAKT_TESTDATA_DIR=${TESTDATA_DIR})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/build --output-on-failure
    --no-tests=ignore)
