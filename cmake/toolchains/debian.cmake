# What the toolchain files of this folder share: Debian's cross compiler for
# ${takt_triple}, and the other libraries from TAKT_SYSROOT, which
# scripts/cross.sh fills. The C and C++ libraries are the compiler's own, so
# this is no sysroot in the compiler's sense.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${takt_triple}-gcc CACHE STRING "")
set(CMAKE_CXX_COMPILER ${takt_triple}-g++ CACHE STRING "")
set(CMAKE_LIBRARY_ARCHITECTURE ${takt_triple})

# Given by -D, a preset or the environment; trial compilations get it by name.
if(NOT TAKT_SYSROOT)
  if(DEFINED ENV{TAKT_SYSROOT})
    set(TAKT_SYSROOT $ENV{TAKT_SYSROOT})
  else()
    set(TAKT_SYSROOT
      ${CMAKE_CURRENT_LIST_DIR}/../../build/sysroot/${CMAKE_SYSTEM_PROCESSOR})
  endif()
endif()
get_filename_component(TAKT_SYSROOT ${TAKT_SYSROOT} ABSOLUTE)
set(TAKT_SYSROOT ${TAKT_SYSROOT} CACHE PATH "Libraries of the target")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAKT_SYSROOT)

# TAKT_PREFIX is where a Takt for the architecture is installed, if it is.
set(CMAKE_FIND_ROOT_PATH ${TAKT_SYSROOT} /usr/${takt_triple} ${TAKT_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR}
  ${TAKT_SYSROOT}/usr/lib/${takt_triple}/pkgconfig:${TAKT_SYSROOT}/usr/lib/pkgconfig:${TAKT_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TAKT_SYSROOT})
# For headers without a CMake package, archives by name, and the libraries that
# other shared libraries need.
set(takt_libraries ${TAKT_SYSROOT}/usr/lib/${takt_triple})
include_directories(SYSTEM ${TAKT_SYSROOT}/usr/include
                           ${TAKT_SYSROOT}/usr/include/${takt_triple})
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
    "-L${takt_libraries} -Wl,-rpath-link,${takt_libraries}")
endforeach()

# QEMU_CPU in the environment chooses the processor.
find_program(TAKT_QEMU qemu-${CMAKE_SYSTEM_PROCESSOR})
if(TAKT_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${TAKT_QEMU};-L;/usr/${takt_triple};-E;LD_LIBRARY_PATH=${takt_libraries})
endif()
