# Builds integrations/ on an installed Takt and runs its tests. What needs a
# framework that is not installed is left out there.
include(${CMAKE_CURRENT_LIST_DIR}/run_samples.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix
    --component takt --config "${CONFIG}")
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/integrations -B ${WORK_DIR}/build
    -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D TAKT_TESTDATA_DIR=${SOURCE_DIR}/tests/testdata)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK_DIR}/build --output-on-failure
    --no-tests=ignore)
