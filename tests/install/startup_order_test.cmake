# In PROGRAM, the functions of cmake/startup_functions.txt lie side by side: the
# section that cmake/StartupOrder.cmake makes has at least BYTES. It is smaller
# when functions have other names now; scripts/startup_order.py lists them anew.
execute_process(COMMAND ${READELF} --wide --sections ${PROGRAM}
  OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
if(NOT sections MATCHES
   "[.]text[.]startup_order +PROGBITS +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+)")
  message(FATAL_ERROR "${PROGRAM}: no section .text.startup_order")
endif()
math(EXPR size "0x${CMAKE_MATCH_1}")
if(size LESS BYTES)
  message(FATAL_ERROR "${PROGRAM}: .text.startup_order has ${size} bytes, "
    "expected ${BYTES}: run scripts/startup_order.py")
endif()
