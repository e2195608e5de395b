#!/usr/bin/env bash
# Kills, freezes or tells to leave random workers of an elastic job at random moments and lets them
# join again, N times (20 unless given). The last weights must be, bit for bit, those that one
# process gets which makes the steps of each generation with as many replicas. Prints how long the
# others were out of step.
# Then the same for the ranks of a Horovod-shaped job and the workers of a coordinator.
# Usage: scripts/elastic_test.sh [N] [build folder, such as build/release or build/tsan_attacks] [seed]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-20} build=${2:-build/release} seed=${3:-1}
source scripts/attack_build.sh
build_for_attacks "$build" test_train test_horovod test_coordinator
export DISTRIBUTE_ELASTIC_ROUNDS=$rounds DISTRIBUTE_ELASTIC_SEED=$seed
"$build/bin/test_train" "workers leave and join at random: every update counts once"
# An unescaped comma would part two names.
"$build/bin/test_horovod" "ranks are killed\\, leave and join at random: every step counts once"
"$build/bin/test_coordinator" "a coordinator's workers are killed\\, leave and join at random*"
