#!/usr/bin/env bash
# Kills workers, the chief and the server of a real training under `distribute run --ps 1 -np 3`, N
# times (20 unless given), in both styles: every worker its own loop, and a chief that gives out the
# steps. The launcher starts again what is lost. The job must reach its last step and its accuracy,
# no restart of a server may fall back behind the newest checkpoint, nothing may hang or be left.
# Prints a line for each job.
# Usage: scripts/parameter_server_test.sh [N] [build folder, such as build/release or build/tsan_attacks] [seed]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-20} build=${2:-build/release} seed=${3:-1}
source scripts/attack_build.sh
build_for_attacks "$build" mnist_cnn distribute_cli test_examples
DISTRIBUTE_KILL_ROUNDS=$rounds DISTRIBUTE_KILL_SEED=$seed \
  "$build/bin/test_examples" "a job with a server trains on when its tasks are killed"
