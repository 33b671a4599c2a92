# Shows our headers to doxygen: // above a declaration becomes ///, // behind a
# member becomes ///<, and the indented lines of a contract keep their layout.
# In a page, links to headings become links to their page, or plain text:
# doxygen 1.9.4 does not know the headings' anchors, nor files outside of docs/.
FILENAME ~ /\.md$/ {
  while (match($0, /\]\([^)#]+\.md#[^)]*\)/)) {
    link = substr($0, RSTART, RLENGTH)
    sub(/#.*/, ")", link)
    $0 = substr($0, 1, RSTART - 1) link substr($0, RSTART + RLENGTH)
  }
  while (match($0, /\[[^]]*\]\((#|\.\.\/)[^)]*\)/)) {
    text = substr($0, RSTART + 1, RLENGTH - 1)
    sub(/\].*/, "", text)
    $0 = substr($0, 1, RSTART - 1) text substr($0, RSTART + RLENGTH)
  }
  print
  next
}
/^ *\/\/( |$)/ {
  match($0, /^ */)
  margin = substr($0, 1, RLENGTH)
  text = substr($0, RLENGTH + 3)
  indented = text ~ /^   +[^ ]/ || (was_indented && text ~ /^  +[^ ]/)
  if (indented && !was_indented) print margin "///"
  print margin "///" (indented ? "   " text : text)
  was_indented = indented
  next
}
{
  was_indented = 0
  if ($0 ~ /^ +[^ ].*[;,{]  \/\/ /) sub(/  \/\/ /, "  ///< ")
  print
}
