#!/usr/bin/env bash
# Makes the Debian package of a build, installs it into an empty root, and uses it there: the program,
# pkg-config and CMake.
# Usage: scripts/check_package.sh [build folder]      default: build/ci; it must be built
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build/ci}")
place=$build/package
# The compiler of the build: its OpenMP is the library's, too.
CXX=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
export CXX
rm -rf "$place" && mkdir -p "$place"

# Not compressed: it is unpacked at once.
(cd "$place" && cpack -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none --config "$build/CPackConfig.cmake" -B "$place")
package=$(ls "$place"/libdistribute-dev_*.deb)
dpkg-deb --info "$package"

root=$place/root
mkdir -p "$root"/var/lib/dpkg/{info,updates}
touch "$root"/var/lib/dpkg/{status,available}
# Its dependencies are installed on this system, not in the empty root.
dpkg --root="$root" --log=/dev/null --force-depends --force-script-chrootless --force-not-root \
  --install "$package" > "$place/installed" 2>&1 || { cat "$place/installed"; exit 1; }

"$root/usr/bin/distribute" --help > "$place/help"
grep -q "distribute run" "$place/help"

pkgconfig=$(dirname "$(find "$root/usr" -name distribute.pc)")
export PKG_CONFIG_PATH=$pkgconfig
line=$(grep '^g++ -std=c++20 trainer.cpp -o trainer ' docs/packaging.md)  # the page's command, for the example
line=${line/trainer.cpp/packaging/example/main.cpp}
line=${line/g++/$CXX}
eval "${line/-o trainer/-o "$place/by_pkg_config"}"
"$place/by_pkg_config"
# Each file names all that its archive needs: the whole archive is linked, whatever a program would take.
# Any linker can say so; LLVM's takes a sixth of the time.
linker=
if command -v ld.lld > /dev/null; then linker=-fuse-ld=lld; fi
echo 'int main() {}' > "$place/nothing.cpp"
for file in "$pkgconfig"/distribute*.pc; do
  name=$(basename "$file" .pc)
  [ "$name" = distribute-header-only ] && continue
  flags=$(pkg-config --libs "$name")
  # shellcheck disable=SC2086
  "$CXX" -fopenmp $linker -o "$place/linked" "$place/nothing.cpp" \
    ${flags/-l${name/-/_}/-Wl,--whole-archive -l${name/-/_} -Wl,--no-whole-archive} ||
    { echo "$name.pc does not name all that $name needs"; exit 1; }
done
pkg-config --exists --print-errors distribute-header-only

cmake -S packaging/example -B "$place/by_cmake" -DCMAKE_PREFIX_PATH="$root/usr" > "$place/configured"
cmake --build "$place/by_cmake" > "$place/built"
"$place/by_cmake/uses_package"
du -h "$package"
