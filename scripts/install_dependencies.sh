#!/usr/bin/env bash
# Installs the packages that are missing (Debian 12, Ubuntu 24.04). Nothing missing: does nothing.
# Usage: scripts/install_dependencies.sh [build]     `build` leaves out what only the checks need
set -euo pipefail

# command:package
tools=(g++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config)
libraries=(libeigen3-dev libabsl-dev nlohmann-json3-dev libasio-dev zlib1g-dev)
# The library builds without these, with less in it.
optional=(libdnnl-dev libssl-dev libcurl4-openssl-dev libpugixml-dev libipsec-mb-dev
          libjpeg-dev libpng-dev libhdf5-dev libzip-dev libfarmhash-dev
          libpcre2-dev libsentencepiece-dev libsqlite3-dev libarchive-dev)
if [ "${1:-}" != build ]; then
  tools+=(git:git python3:python3 clang-format:clang-format ccache:ccache clang++:clang ld.lld:lld make:make
          doxygen:doxygen ctags:universal-ctags)
  libraries+=(catch2 libclang-rt-dev libomp-dev)
  optional+=(iproute2 locales libopenmpi-dev openmpi-bin libmpich-dev mpich libucx-dev
             python3-yaml python3-jsonschema)
fi

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  echo "install_dependencies.sh: this system has no apt; install by hand what CMake reports" >&2
  exit 0
fi

missing=()
for pair in "${tools[@]}"; do
  command -v "${pair%%:*}" > /dev/null || missing+=("${pair#*:}")
done
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${libraries[@]}" "${optional[@]}" \
            2> /dev/null | sed -n 's/^installed //p' || true)
for package in "${libraries[@]}" "${optional[@]}"; do
  grep -qx "$package" <<< "$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "Packages are missing; please run:" >&2
  echo "  sudo apt-get update && sudo apt-get install --no-install-recommends -y ${missing[*]}" >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
echo "Installing: ${missing[*]}"
apt-get update -qq < /dev/null || echo "apt-get update failed; trying with the lists at hand" >&2
available=()
for package in "${missing[@]}"; do
  if [[ " ${optional[*]} " == *" $package "* ]] && ! apt-cache show "$package" > /dev/null 2>&1; then
    echo "This release has no $package; going on without it" >&2
  else
    available+=("$package")
  fi
done
if [ ${#available[@]} -gt 0 ]; then
  apt-get install -qq -y --no-install-recommends "${available[@]}" < /dev/null > /dev/null
fi
