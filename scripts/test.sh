#!/usr/bin/env bash
# Runs every check and test of the project; the last line counts them.
# Usage: scripts/test.sh [stage...]     without stages: all of all_stages. Of the headers headers and
#        budgets take a twentieth and the newest; all_headers and all_budgets take them all (12 minutes);
#        all_units compiles the library twice, header-only, and links
# Logs lie in build/logs. A stage counts as one check, a run of ctest as many as it has tests.
set -uo pipefail
cd "$(dirname "$0")/.."

# A test runs once: under the sanitizers where it can, else plain (presets asan and ci).
all_stages=(floors umbrella tf_map format build budgets tests header_only compile_checks
  asan_build asan_tests)
jobs=$(nproc)
export CTEST_PARALLEL_LEVEL=$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs
export CTEST_OUTPUT_ON_FAILURE=1 CMAKE_COLOR_DIAGNOSTICS=OFF
logs=build/logs
work=build/consumers
trainer=$PWD/examples/mnist_cnn
passed=0 failed=0 table=""

floors() { python3 tools/check_floors.py; }
umbrella() { python3 tools/check_umbrella.py; }
tf_map() { python3 tools/check_tf_map.py; }
format() {
  git ls-files -z '*.hpp' '*.ipp' '*.cpp' | xargs -0 -r clang-format --dry-run -Werror
}
build() { cmake --preset ci && cmake --build --preset ci -- -k 0; }
# One more than there are cores: some tests wait for what does not come.
tests() { ctest --preset ci -j $((jobs + 1)); }
header_only() { cmake --preset header-only; }
headers() { python3 tools/check_headers.py build/header-only --part; }
all_headers() { python3 tools/check_headers.py build/header-only; }
budgets() { python3 tools/check_compile_budgets.py build/ci --part; }
all_budgets() { python3 tools/check_compile_budgets.py build/ci; }
# run_two_units <preset>
run_two_units() {
  cmake --build --preset "$1" --target two_units && "build/$1/bin/two_units"
}
two_units() { run_two_units ci; }
all_units() { run_two_units header-only; }
# may_be_in_two_units <object>: else a second header-only unit would define the same once more.
may_be_in_two_units() {
  nm --defined-only --extern-only "$1" | awk '
    $3 !~ /^_Z(T[VTSI])?N[KVRO]*10distribute/ { next }
    $2 ~ /[uVW]/ { ++inline; next }
    { print $3 " is not inline"; bad = 1 }
    END { exit bad || inline < 10000 }'
}

# consume <preset> <cmake arguments>: installs a build and builds a user's project on the copy.
consume() {
  local preset=$1 place=$PWD/$work/$1
  rm -rf "$place"
  cmake --install "build/$preset" --prefix "$place/installed" > /dev/null &&
    cmake -S tests/consumer_find_package -B "$place/build" -G Ninja \
      -DCMAKE_PREFIX_PATH="$place/installed" "${@:2}" &&
    cmake --build "$place/build"
}
consumer_header_only() {
  consume header-only -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
    -DTRAINER="$trainer" || return 1
  local build=$work/header-only/build answer=$work/answer.json
  may_be_in_two_units "$build"/CMakeFiles/mnist_cnn.dir/Unity/unity_0_cxx.cxx.o || return 1
  DISTRIBUTE_WINOGRAD=0 "$build/mnist_cnn" --data_dir="$trainer/data" --epochs=1 --optimizer=adam \
    --learning_rate=1e-3 --batch_size=50 --json="$answer" &&
    python3 - "$answer" << 'PYTHON'
import json, sys
accuracy = json.load(open(sys.argv[1]))["test_accuracy"]
sys.exit(accuracy < 0.9 and f"test accuracy {accuracy} after one epoch; expected 0.9 or more")
PYTHON
}
consumer_compiled() { consume ci -DCMAKE_BUILD_TYPE=Debug && "$work/ci/build/consumer"; }
# consumer_within <name>: a project that takes the sources in.
consumer_within() {
  local place=$work/$1
  rm -rf "$place"
  cmake -S "tests/consumer_$1" -B "$place" -G Ninja && cmake --build "$place" && "$place/consumer"
}
consumer_subdirectory() { consumer_within subdirectory; }
consumer_kernels() { consumer_within kernels; }
# Side by side: the second is one compiler for long.
compile_checks() {
  local checks=(headers consumer_header_only two_units consumer_compiled consumer_subdirectory
    consumer_kernels)
  local check pids=() failed=0 i
  for check in "${checks[@]}"; do
    "$check" > "$logs/$check.log" 2>&1 &
    pids+=($!)
  done
  for i in "${!checks[@]}"; do
    wait "${pids[$i]}" && continue
    echo "${checks[$i]} FAILED; the end of $logs/${checks[$i]}.log:"
    tail -n 20 "$logs/${checks[$i]}.log"
    failed=1
  done
  return $failed
}
asan_build() { cmake --preset asan && cmake --build --preset asan -- -k 0; }
asan_tests() { ctest --preset asan -j "$jobs"; }

run_stage() {
  local stage=$1 log=$logs/$1.log begin=$SECONDS status=0 counts
  echo "== $stage"
  "$stage" > "$log" 2>&1 < /dev/null || status=$?
  counts=$(sed -n 's/.* \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log" | tail -1)
  if [[ $stage == *tests && -n $counts ]]; then
    passed=$((passed + ${counts#* } - ${counts% *})) failed=$((failed + ${counts% *}))
  elif [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
  if [ "$status" -ne 0 ]; then
    echo "-- $stage FAILED; the end of $log:"
    grep -nE 'error:|FAILED|\*\*\*Failed' "$log" | head -40
    grep -vE '^(/?tmp/|/?.*/bin/).*/test_|^Looked in' "$log" | tail -n 40
  else
    tail -n 3 "$log"
  fi
  table+=$(printf '%-22s %5d s  %s' "$stage" $((SECONDS - begin)) "$([ "$status" -eq 0 ] && echo ok || echo FAILED)")$'\n'
}

mkdir -p "$logs" "$work"
scripts/install_dependencies.sh || { echo "0 passed, 1 failed"; exit 1; }
if [ $# -eq 0 ]; then set -- "${all_stages[@]}"; fi
for stage; do
  run_stage "$stage"
done
printf '\n%s%-22s %5d s\n\n' "$table" "all" "$SECONDS"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
