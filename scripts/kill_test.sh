#!/usr/bin/env bash
# Kills or freezes random tasks at random moments, N times (50 unless given), in two kinds of jobs.
# 1. mnist_cnn in step: all others must end with the name of the worker that was lost.
# 2. A coordinator with 3 workers and 2 parameter servers: workers, servers and the coordinator are
#    lost in turn and start again; training must reach its steps, its accuracy, and no checkpoint
#    may be lost.
# Nothing may hang or be left. Prints tables.
# 3. With --tensorflow PYTHON, trainings of six kinds that save all the time; TensorFlow reads what a
#    kill has left, and compares it (scripts/kill_checkpoints.py).
# Usage: scripts/kill_test.sh [--tensorflow PYTHON] [N] [build folder, such as build/release, or
#        build/asan_attacks, build/tsan_attacks: with a sanitizer]
set -euo pipefail
cd "$(dirname "$0")/.."
python=
if [[ ${1:-} == --tensorflow ]]; then
  python=$2
  shift 2
fi
rounds=${1:-50} build=${2:-build/release}
source scripts/attack_build.sh
build_for_attacks "$build" mnist_cnn distribute_cli test_examples test_coordinator
DISTRIBUTE_KILL_ROUNDS=$rounds \
  "$build/bin/test_examples" "a worker that is killed or stands still ends the others with its name"
# In pieces of 20, each with another order of victims.
for ((seed = 1, left = rounds; left > 0; ++seed, left -= 20)); do
  DISTRIBUTE_KILL_SEED=$seed DISTRIBUTE_KILL_ROUNDS=$((left < 20 ? left : 20)) \
    "$build/bin/test_coordinator" "training goes on when tasks are killed or frozen again and again"
done
if [[ -n $python ]]; then
  scripts/kill_checkpoints.py "$build" --rounds "$rounds" --python "$python"
fi
