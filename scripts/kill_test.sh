#!/usr/bin/env bash
# Kills or stops a random worker of mnist_cnn at a random moment, N times (50 unless given), and
# looks whether all others end with that worker's name and nothing is left. Prints a table.
# Usage: scripts/kill_test.sh [N] [build folder, such as build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-50} build=${2:-build/release}
[[ -d $build ]] || cmake --preset "${build##*/}"
cmake --build "$build" --target mnist_cnn test_examples
DISTRIBUTE_KILL_ROUNDS=$rounds OMP_WAIT_POLICY=passive \
  "$build/bin/test_examples" "a worker that is killed or stands still ends the others with its name"
