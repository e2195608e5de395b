#!/usr/bin/env bash
# Installs what is missing, compiles examples/mnist_mirrored with nothing but the compiler, and trains
# the book's network on the bundled digits.
# Usage: scripts/demo.sh [--epochs=N] [--replicas=N] [folder of MNIST]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh build
begin=$SECONDS
mkdir -p build
echo "compiling examples/mnist_mirrored/main.cpp with the whole library in it"
g++ -std=c++20 -O1 -fopenmp -I include -DDISTRIBUTE_HAS_ONEDNN=1 \
  examples/mnist_mirrored/main.cpp -o build/mnist_mirrored -ldnnl -lz \
  $(pkg-config --libs absl_statusor)
echo "compiled in $((SECONDS - begin)) s"
build/mnist_mirrored "$@"
echo "done in $((SECONDS - begin)) s"
