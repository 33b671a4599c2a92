# cpack in a build tree makes libtakt0, libtakt-dev and takt-tools; see
# scripts/package.sh.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME takt)
set(CPACK_PACKAGE_VENDOR "Takt")
set(CPACK_PACKAGE_CONTACT "Takt maintainers <maintainers@takt.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runtime for compiled networks of robots")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL libtakt0 takt takt_tools)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
# What each package gets besides its component, and what libtakt-dev leaves to
# libtakt0.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/stage.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(text
"Takt loads modules that iree-compile wrote, runs their functions, and decides
where and when each dispatch runs: on which cores or which NPU, in which
order, against which deadline.

")
set(CPACK_DEBIAN_LIBTAKT0_PACKAGE_NAME libtakt0)
set(CPACK_DEBIAN_LIBTAKT0_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBTAKT0_DESCRIPTION
"runtime for compiled networks of robots, libraries\n${text}This package has the shared libraries.")
set(CPACK_DEBIAN_TAKT_PACKAGE_NAME libtakt-dev)
set(CPACK_DEBIAN_TAKT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TAKT_PACKAGE_DEPENDS
  "libtakt0 (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_COMPONENT_TAKT_DESCRIPTION
"runtime for compiled networks of robots, headers\n${text}This package has what programs are built with.")
set(CPACK_DEBIAN_TAKT_TOOLS_PACKAGE_NAME takt-tools)
set(CPACK_DEBIAN_TAKT_TOOLS_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_TAKT_TOOLS_DESCRIPTION
"runtime for compiled networks of robots, tools\n${text}This package has tools that run, measure, plan, simulate and trace.")

if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps knows installed packages only. These are what Debian 12 has.
  set(CPACK_DEBIAN_LIBTAKT0_PACKAGE_DEPENDS
    "libc6 (>= 2.34), libgcc-s1 (>= 3.0), libstdc++6 (>= 12), libabsl20220623 (>= 20220623.0-1)")
  set(CPACK_DEBIAN_TAKT_TOOLS_PACKAGE_DEPENDS "libc6 (>= 2.34)")
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  else()
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
  endif()
else()
  set(CPACK_DEBIAN_LIBTAKT0_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_TAKT_TOOLS_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${PROJECT_BINARY_DIR}/src/api ${PROJECT_BINARY_DIR}/src/analysis)
endif()
set(CPACK_DEBIAN_LIBTAKT0_PACKAGE_RECOMMENDS libhwloc15)
# Which package a program needs that is linked with a library; and the cache of
# the dynamic linker is brought up to date.
set(control ${PROJECT_BINARY_DIR}/packaging/libtakt0)
set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
file(CONFIGURE OUTPUT ${control}/shlibs @ONLY CONTENT
"libtakt @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ libtakt0 (>= @version@)
libtakt-tools @PROJECT_VERSION@ libtakt0 (= @version@)
")
file(CONFIGURE OUTPUT ${control}/triggers @ONLY CONTENT
"activate-noawait ldconfig
")
set(CPACK_DEBIAN_LIBTAKT0_PACKAGE_CONTROL_EXTRA
  ${control}/shlibs ${control}/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
