# shellcheck shell=bash
# A script that sources this file has its help in the comment at its top.
usage_file=$(realpath "${BASH_SOURCE[1]}")

# Prints that comment, which ends before the script's `set` command.
print_usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "$usage_file"
}
