# Shows our headers to doxygen: // above a declaration becomes ///, // behind a
# member becomes ///<, and the indented lines of a contract keep their layout.
FILENAME ~ /\.md$/ { print; next }
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
