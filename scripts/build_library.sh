#!/usr/bin/env bash
# Compiles the library once, and writes the flags with which g++ compiles a program against it.
# Usage: scripts/build_library.sh [annex...]    annexes: http object_stores platforms metrics
#          preprocessing datasets data_service saving language_models arrays saved_model estimator horovod, or all;
#          those named once stay built
#        scripts/build_library.sh --header-only    compiles nothing, writes the flags of the other way
#        scripts/build_library.sh --from FOLDER    takes what a build folder has, and compiles nothing
set -euo pipefail
cd "$(dirname "$0")/.."

annexes=(http object_stores platforms metrics preprocessing datasets data_service saving language_models arrays saved_model estimator horovod)
build=build/library compile=yes header_only=no
wanted=()
while [ $# -gt 0 ]; do
  case $1 in
    --header-only) header_only=yes compile=no ;;
    --from) build=${2:?--from needs the folder of a build} compile=no; shift ;;
    --help | -h) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    all) wanted+=("${annexes[@]}") ;;
    *)
      [[ " ${annexes[*]} " == *" $1 "* ]] || {
        echo "build_library.sh: there is no annex \"$1\"; there are: ${annexes[*]}" >&2
        exit 2
      }
      wanted+=("$1") ;;
  esac
  shift
done
if [ "$compile" = no ] && [ ${#wanted[@]} -gt 0 ]; then
  echo "build_library.sh: nothing is compiled with --header-only and --from, so annexes cannot be named: ${wanted[*]}" >&2
  exit 2
fi

# packages: those of pkg-config that this build folder has archives for.
packages() {
  echo distribute
  local annex
  for annex in "${annexes[@]}"; do
    [ -f "$build/libdistribute_$annex.a" ] && echo "distribute-$annex"
  done
  return 0
}
# write_flags <file> <folder with include and lib> <package...>: one option a line, paths absolute.
write_flags() {
  local file=$1 place=$2 files
  shift 2
  files=$(realpath "$build")/pkgconfig
  PKG_CONFIG_PATH=$files pkg-config --cflags --libs "$@" |
    sed "s|$files/../..|$place|g; s/ *\$//; s/  */\n/g" > "$file.new"
  mv "$file.new" "$file"
}
# use_archives: headers, archives and flags belong together, so the headers are copied: a checkout that
# moves on does not change what was compiled.
use_archives() {
  rm -rf "$build/use.new"
  mkdir -p "$build/use.new/lib"
  cp -r include "$build/use.new/include"
  cp "$build"/libdistribute*.a "$build/use.new/lib"
  rm -rf "$build/use"
  mv "$build/use.new" "$build/use"
  mapfile -t names < <(packages)
  write_flags "$build/flags" "$(realpath "$build")/use" "${names[@]}"
}
# precompile: <distribute/strategy.hpp> is read once for the line below; GCC takes such a header only
# where it is the first one, so that the flags include it.
precompile() {
  local header=$build/use/include/distribute/strategy.hpp
  [ "$name" = g++ ] || return 0
  grep -v '^-[lLW]' "$build/flags" | xargs "$compiler" -std=c++20 -O2 -x c++-header "$header" -w -o "$header.gch"
  printf '%s\n' -include distribute/strategy.hpp >> "$build/flags"
}

begin=$SECONDS
if [ "$build" = build/library ]; then
  scripts/install_dependencies.sh build
  mkdir -p "$build"
  cmake --preset library > "$build/configured.log" || { cat "$build/configured.log"; exit 1; }
fi
if [ "$header_only" = yes ]; then
  write_flags "$build/header_only_flags" "$PWD" distribute-header-only
  echo "compile a program with the whole library in it (a minute or two, 3 GB of memory):"
  echo "  g++ -std=c++20 -O2 trainer.cpp -o trainer @$build/header_only_flags"
  exit 0
fi
if [ "$compile" = yes ]; then
  echo "compiling the library into $build on $(nproc) cores; this is needed once"
  targets=(distribute)
  for annex in "${annexes[@]}"; do  # also those of earlier runs: all archives are of one state
    [[ " ${wanted[*]-} " == *" $annex "* || -f $build/libdistribute_$annex.a ]] && targets+=("distribute_$annex")
  done
  cmake --build "$build" --target "${targets[@]}" || exit 1
fi
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
name=$(basename "$compiler")
if "$compiler" --version | grep -q 'Free Software'; then name=g++; fi
exec 9> "$build/use.lock" && flock 9  # two at once would write the same files
use_archives
if [ "$compile" = yes ]; then precompile; fi
echo "the library is ready in $build, after $((SECONDS - begin)) s; compile your program with"
echo "  $name -std=c++20 -O2 trainer.cpp -o trainer @$build/flags"
