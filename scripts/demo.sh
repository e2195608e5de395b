#!/usr/bin/env bash
# Installs what is missing, builds mnist_cnn and trains the book's network on the bundled digits.
# Usage: scripts/demo.sh [further flags of mnist_cnn]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh build
begin=$SECONDS
cmake --preset release
cmake --build --preset release --target mnist_cnn
echo "built in $((SECONDS - begin)) s"
build/release/bin/mnist_cnn --data_dir=examples/mnist_cnn/data --model=book --optimizer=adam \
  --learning_rate=1e-3 --batch_size=50 --epochs=3 "$@"
echo "done in $((SECONDS - begin)) s"
