# Writes OUTPUT from the public headers of INCLUDE_DIR: for each exported
# function a line
#
#   NULL_CALL(takt_list_get, true, "list", "index", "out_value")
#
# The second argument says whether the comment above the declaration mentions
# NULL; the names of the parameters follow. The script fails if no header
# declares a function of the files SYMBOLS.
file(GLOB_RECURSE headers ${INCLUDE_DIR}/takt/*.h)
set(lines "")
set(declared "")
foreach(header IN LISTS headers)
  file(READ ${header} text)
  # Semicolons and brackets mean something to CMake's lists.
  string(REPLACE ";" "@" text "${text}")
  string(REGEX REPLACE "[][]" "" text "${text}")
  string(REGEX MATCHALL
    "(//[^\n]*\n)*(TAKT_NODISCARD )?TAKT_EXPORT[^@{]*@" declarations "${text}")
  foreach(declaration IN LISTS declarations)
    set(speaks_of_null false)
    if(declaration MATCHES "//[^\n]*NULL")
      set(speaks_of_null true)
    endif()
    string(REGEX REPLACE "//[^\n]*\n" "" declaration "${declaration}")
    string(REGEX REPLACE "[ \n]+" " " declaration "${declaration}")
    if(NOT declaration MATCHES "(takt_[a-z0-9_]+) ?\\((.*)\\)@$")
      continue()  # The macro's own definition.
    endif()
    set(name ${CMAKE_MATCH_1})
    set(parameters "${CMAKE_MATCH_2}")
    # A pointer to a function is replaced by its name.
    string(REGEX REPLACE "[a-z_]+ \\(\\*([a-z_]+)\\)\\([^)]*\\)" "\\1"
      parameters "${parameters}")
    string(REPLACE "," ";" parameters "${parameters}")
    set(line "NULL_CALL(${name}, ${speaks_of_null}")
    foreach(parameter IN LISTS parameters)
      string(REGEX MATCH "[a-z0-9_]+$" parameter "${parameter}")
      if(NOT parameter STREQUAL "void")
        string(APPEND line ", \"${parameter}\"")
      endif()
    endforeach()
    list(APPEND declared ${name})
    list(APPEND lines "${line})\n")
  endforeach()
endforeach()
set(symbols "")
foreach(list IN LISTS SYMBOLS)
  file(STRINGS ${list} names)
  list(APPEND symbols ${names})
endforeach()
list(REMOVE_ITEM symbols ${declared})
if(symbols)
  message(FATAL_ERROR "exported, but in no header: ${symbols}")
endif()
list(JOIN lines "" text)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${text}" @ONLY)
