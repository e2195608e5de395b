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

"$(dirname "$0")/runtime_packages.sh" "$out"/usr/local/bin/* > "$out/opt/distribute/runtime_packages"
