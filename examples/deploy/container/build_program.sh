#!/usr/bin/env bash
# What the stage of one's own program does: compiles it against the library of scripts/build_library.sh,
# and lays out the files of the final stage; the program is /usr/local/bin/trainer there.
# Usage: build_program.sh SOURCE TARGET_DIR [LIBRARY]
#   SOURCE   a folder with a CMakeLists.txt that makes an executable "trainer" with
#            find_package(distribute), or with .cpp files of one program, or one .cpp file;
#            Abseil's flags are linked, too
#   LIBRARY  the library's build folder, build/library unless given; one of another compiler than g++ is
#            used with that
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source=${1:?build_program.sh SOURCE TARGET_DIR [LIBRARY]} out=${2:?build_program.sh SOURCE TARGET_DIR [LIBRARY]}
library=$(realpath "${3:-build/library}")
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$library/CMakeCache.txt")
mkdir -p "$out/usr/local/bin" "$out/opt/distribute"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -f "$source/CMakeLists.txt" ]; then
  cmake --install "$library" --prefix "$work/installed" > "$work/log" || { cat "$work/log"; exit 1; }
  CXX=$compiler cmake -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/installed"
  cmake --build "$work/build"
  built=$(find "$work/build" -type f -name trainer -perm -u+x | head -n 1)
  [ -n "$built" ] || { echo "build_program.sh: $source/CMakeLists.txt makes no executable \"trainer\"" >&2; exit 1; }
else
  if [ -d "$source" ]; then files=("$source"/*.cpp); else files=("$source"); fi
  [ -f "${files[0]}" ] || { echo "build_program.sh: no .cpp file in $source" >&2; exit 1; }
  built=$work/trainer
  # shellcheck disable=SC2046
  "$compiler" -std=c++20 -O2 "${files[@]}" -o "$built" "@$library/flags" \
    $(pkg-config --libs absl_flags absl_flags_parse absl_flags_usage)
fi
strip -o "$out/usr/local/bin/trainer" "$built"
if [ -x "$library/bin/distribute" ]; then  # for readiness probes, and `distribute run --sagemaker`
  strip -o "$out/usr/local/bin/distribute" "$library/bin/distribute"
fi
"$here/runtime_packages.sh" "$out"/usr/local/bin/* > "$out/opt/distribute/runtime_packages"
