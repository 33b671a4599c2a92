# Runs in cpack before it makes the packages, for the whole staged tree: a
# folder for each component. Adds what Debian asks of every package, and leaves
# each file to one package.
file(GLOB stages ${CPACK_TEMPORARY_DIRECTORY}/*)
set(names_libtakt0 libtakt0)
set(names_takt libtakt-dev)
set(names_takt_tools takt-tools)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(stage IN LISTS stages)
  get_filename_component(component ${stage} NAME)
  if(NOT DEFINED names_${component})
    continue()
  endif()
  set(package ${names_${component}})
  set(documents ${stage}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${documents})
  file(COPY_FILE ${CMAKE_CURRENT_LIST_DIR}/copyright ${documents}/copyright)
  file(WRITE ${documents}/changelog.Debian
"takt (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) bookworm; urgency=medium

  * Made by cpack; the changes are in takt's own CHANGELOG.md.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  if(component STREQUAL libtakt0)
    # One package has two libraries, and its name no minor version.
    file(WRITE ${stage}/usr/share/lintian/overrides/libtakt0
      "libtakt0: package-name-doesnt-match-sonames\n")
  endif()
  file(GLOB manuals ${stage}/usr/share/man/man1/*.1)
  execute_process(COMMAND gzip -9n -f ${documents}/changelog.Debian ${manuals}
    COMMAND_ERROR_IS_FATAL ANY)
  if(component STREQUAL takt)
    file(GLOB libraries ${stage}/usr/lib/*.so.* ${stage}/usr/lib/*/*.so.*)
    if(libraries)
      file(REMOVE ${libraries})
    endif()
    file(GLOB shared ${stage}/usr/share/doc/takt/*)
    if(shared)
      file(COPY ${shared} DESTINATION ${documents})
      file(REMOVE_RECURSE ${stage}/usr/share/doc/takt ${documents}/LICENSE)
    endif()
  endif()
endforeach()
