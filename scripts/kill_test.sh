#!/usr/bin/env bash
# Kills or freezes random tasks at random moments, N times (50 unless given), in two kinds of jobs.
# 1. mnist_cnn in step: all others must end with the name of the worker that was lost.
# 2. A coordinator with 3 workers and 2 parameter servers: workers, servers and the coordinator are
#    lost in turn and start again; training must reach its steps, its accuracy, and no checkpoint
#    may be lost.
# Nothing may hang or be left. Prints tables.
# Usage: scripts/kill_test.sh [N] [build folder, such as build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-50} build=${2:-build/release}
[[ -d $build ]] || cmake --preset "${build##*/}"
cmake --build "$build" --target mnist_cnn test_examples test_coordinator
export OMP_WAIT_POLICY=passive
DISTRIBUTE_KILL_ROUNDS=$rounds \
  "$build/bin/test_examples" "a worker that is killed or stands still ends the others with its name"
# In pieces of 20, each with another order of victims.
for ((seed = 1; rounds > 0; ++seed, rounds -= 20)); do
  DISTRIBUTE_KILL_SEED=$seed DISTRIBUTE_KILL_ROUNDS=$((rounds < 20 ? rounds : 20)) \
    "$build/bin/test_coordinator" "training goes on when tasks are killed or frozen again and again"
done
