#!/usr/bin/env bash
# Installs what is missing, compiles the library once and examples/mnist_mirrored against it, and trains
# the book's network on the bundled digits.
# Usage: scripts/demo.sh [--epochs=N] [--replicas=N] [folder of MNIST]
set -euo pipefail
cd "$(dirname "$0")/.."

begin=$SECONDS
scripts/build_library.sh | grep -v '^  g++ '
line="g++ -std=c++20 -O2 examples/mnist_mirrored/main.cpp -o build/mnist_mirrored @build/library/flags"
echo "$line"
$line
echo "compiled in $((SECONDS - begin)) s"
build/mnist_mirrored "$@"
echo "done in $((SECONDS - begin)) s; your own program, at the top of the checkout:"
echo "  g++ -std=c++20 -O2 trainer.cpp -o trainer @build/library/flags"
