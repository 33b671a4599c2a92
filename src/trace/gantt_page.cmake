# Puts the page's three sources together into a C++ header: kPageBegin, the
# trace of the page, kPageEnd.
#
#   SOURCE  path of gantt_page, without an ending
#   OUTPUT  the header
file(READ ${SOURCE}.html page)
file(READ ${SOURCE}.css style)
file(READ ${SOURCE}.js script)
# Drops indentation and comment lines, which no browser needs.
foreach(text IN ITEMS page style script)
  string(REGEX REPLACE "\n +" "\n" ${text} "${${text}}")
endforeach()
string(REGEX REPLACE "\n//[^\n]*" "" script "${script}")
string(REPLACE "<!--style-->\n" "${style}" page "${page}")
string(REPLACE "<!--script-->\n" "${script}" page "${page}")
string(REPLACE "<!--trace-->\n" ")page\";\nconstexpr char kPageEnd[] = R\"page("
       page "${page}")
file(WRITE ${OUTPUT} "constexpr char kPageBegin[] = R\"page(${page})page\";\n")
