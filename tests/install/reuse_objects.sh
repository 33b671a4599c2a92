#!/bin/sh
# A compiler launcher for the host project: takes objects of Takt's layers from
# the build under test, because compiling them again takes half an hour.
# $COMPILED_SOURCES, one of each layer, and all other sources are compiled, so that
# the options of each layer are tested.
#
#   reuse_objects.sh BUILD_DIR COMPILER ARGUMENT...
build_dir=$1
shift
object=
last=
for argument in "$@"; do
  if [ "$last" = -o ]; then object=$argument; fi
  last=$argument
done
case $object in
  *src/CMakeFiles/takt_*.o)
    reused=$build_dir/src/CMakeFiles/${object##*src/CMakeFiles/}
    case " $COMPILED_SOURCES " in
      *" $last "*) ;;
      *) if [ -e "$reused" ]; then exec cp "$reused" "$object"; fi ;;
    esac ;;
esac
exec $CCACHE "$@"
