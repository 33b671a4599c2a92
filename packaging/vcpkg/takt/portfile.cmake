# An overlay port: vcpkg install takt --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" is_shared)
vcpkg_check_features(OUT_FEATURE_OPTIONS features
  FEATURES
    hwloc TAKT_HWLOC
    npu TAKT_NPU
    planner TAKT_PLANNER
    tracing TAKT_TRACING)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${features}
    -DTAKT_BUILD_SHARED=${is_shared}
    -DTAKT_BUILD_TESTS=OFF
    -DTAKT_BUILD_TOOLS=OFF
    -DTAKT_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/takt)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include"
                    "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
