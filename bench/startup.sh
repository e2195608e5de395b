#!/usr/bin/env bash
# From `distribute run` to the end of the first step, for many more workers than cores: 64 over
# shared memory, over TCP and elastic, and 256. A line each: seconds that the program reports for
# rank 0, and those of the whole run. Wants a quiet machine, or the right to take precedence
# (chrt -r 1), which it uses where it has it.
# Usage: bench/startup.sh [build folder, such as build/release] [sizes, such as "64 256"]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release} sizes=${2:-64 256}
export OMP_NUM_THREADS=1
first=()
chrt -r 1 true 2>/dev/null && first=(chrt -r 1)
json=$(mktemp)
trap 'rm -f "$json"' EXIT
measure() {  # name, ranks, environment, further flags
  local begin=$EPOCHREALTIME
  env ${3:+"$3"} "${first[@]}" "$build/bin/distribute" run -np "$2" -- "$build/bin/mnist_cnn" \
    --model=tutorial --batch_size="$2" --steps=3 --json="$json" ${4:+$4} >/dev/null
  local step
  step=$(sed -n 's/.*"seconds_to_first_step": \([0-9.]*\).*/\1/p' "$json")
  awk -v n="$1" -v r="$2" -v s="$step" -v b="$begin" -v e="$EPOCHREALTIME" \
    'BEGIN { printf "%-14s %4d ranks  first step %6.2f s  whole run %6.2f s\n", n, r, s, e - b }'
}
for ranks in $sizes; do
  measure "shared memory" "$ranks" "" ""
  ((ranks > 64)) && continue
  measure "TCP" "$ranks" DISTRIBUTE_TRANSPORT=tcp ""
  measure "elastic" "$ranks" "" "--elastic --min_workers=$ranks"
done
