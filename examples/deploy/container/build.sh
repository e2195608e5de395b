#!/usr/bin/env bash
# What the images' build stage does: builds the programs and lays out the files of the final stage.
# Usage: build.sh TARGET_DIR [CMake options]     in the repository
set -euo pipefail

out=$1
shift
root=$(pwd)
cmake --preset release -DDISTRIBUTE_BUILD_TESTS=OFF "$@"
cmake --build --preset release --target mnist_cnn resnet50 text_transformer distribute_cli

mkdir -p "$out/usr/local/bin" "$out/opt/distribute"
for program in mnist_cnn resnet50 text_transformer distribute; do
  strip -o "$out/usr/local/bin/$program" "build/release/bin/$program"
done
for example in mnist_cnn text_transformer; do  # data where the program looks for it
  mkdir -p "$out$root/examples/$example"
  cp -r "examples/$example/data" "$out$root/examples/$example/"
done

# The packages that own the programs' shared libraries (those of the C library are everywhere), and
# the certificate authorities, without which no https:// store is trusted.
{
  echo ca-certificates
  ldd "$out"/usr/local/bin/* | awk '$3 ~ /^\// {print $3}' | sort -u | xargs -n 1 readlink -f |
    { xargs dpkg -S 2> /dev/null || true; } | cut -d: -f1
} | sort -u > "$out/opt/distribute/runtime_packages"
