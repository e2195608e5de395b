#!/bin/sh
# Runs a compiler by ccache, with words that begin with the folder made relative.
# Usage: relative_paths.sh FOLDER/ ccache compiler...    in that folder
# A precompiled header names the files of its own clone, so it is compiled without the cache. Beside
# it lies a checksum of what went into it, which ccache compares in its place (CCACHE_PCH_EXTSUM):
# clones share what is compiled with it.
folder=$1
shift
previous= precompiled= dependencies=
for word; do
  shift
  case $word in "$folder"*) word=${word#"$folder"} ;; esac
  case $previous in
    -o) case $word in *.pch | *.gch) precompiled=$word ;; esac ;;
    -MF) dependencies=$word ;;
  esac
  previous=$word
  set -- "$@" "$word"
done
[ -n "$precompiled" ] || exec "$@"

shift
rm -f "$precompiled.sum"
"$@" || exit
[ -f "$dependencies" ] || exit 0
{
  echo "$*" | sed "s|${0%/cmake/*}/||g; s/ -f\\(no-\\)\\{0,1\\}color-diagnostics//"
  sed -e '1s/^[^:]*://' -e 's/\\$//' "$dependencies" | xargs cat
} | sha256sum > "$precompiled.sum"
