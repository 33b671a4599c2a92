# takt_startup_order(target): the functions of startup_functions.txt come first
# in the code of the target, one after the other (scripts/startup_order.py). They
# are sections of their own in objects that were built with -ffunction-sections.
set(takt_startup_script ${PROJECT_BINARY_DIR}/startup_order.ld)
set(takt_startup_functions ${CMAKE_CURRENT_LIST_DIR}/startup_functions.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${takt_startup_functions})
file(STRINGS ${takt_startup_functions} takt_startup_sections)
list(TRANSFORM takt_startup_sections REPLACE "(.+)" "    *(.text.\\1 .text.startup.\\1)")
list(JOIN takt_startup_sections "\n" takt_startup_sections)
file(CONFIGURE OUTPUT ${takt_startup_script} @ONLY CONTENT
"SECTIONS {
  .text.startup_order : {
@takt_startup_sections@
  }
} INSERT BEFORE .text;
")
# Where ld shortens calls of RISC-V, it does not see the distances that the
# script makes longer: "relocation truncated to fit: R_RISCV_JAL".
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES riscv)
  check_linker_flag(CXX "LINKER:-T,${takt_startup_script}" takt_orders_functions)
endif()
function(takt_startup_order target)
  if(takt_orders_functions)
    target_link_options(${target} PRIVATE LINKER:-T,${takt_startup_script})
    set_property(TARGET ${target} APPEND PROPERTY
      LINK_DEPENDS ${takt_startup_script})
  endif()
endfunction()
