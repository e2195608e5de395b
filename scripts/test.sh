#!/usr/bin/env bash
# Runs every check and test of the project; the last line counts them.
# Usage: scripts/test.sh [stage...]     without stages: all of all_stages
#        Stages by hand: all_headers (internal headers and bodies alone, too), all_whole_programs.
# Two stages run side by side, so that a core is not idle where tests wait or the last long compile is
# alone. No time decides over a check, and each run checks the same. Logs lie in build/logs. A stage
# counts as one check, a run of ctest as many as it has tests.
set -uo pipefail
cd "$(dirname "$0")/.."

# A test runs once: under the sanitizers where it can, else plain (presets asan and ci).
# In the order in which they begin, as soon as there is room and what they need has ended.
all_stages=(build floors umbrella tf_map programs pages api format asan_build tests asan_tests compile_checks package)
# Tests run beside compilers, not beside other tests; and the largest compiles are not at the same time.
declare -A needs=([tests]=build [package]=build [compile_checks]="build asan_build" [asan_tests]="asan_build tests")
jobs=$(nproc)
for stage in "${all_stages[@]}"; do needs[$stage]=${needs[$stage]-}; done
side_by_side=$((jobs < 2 ? 1 : 2))
export CTEST_PARALLEL_LEVEL=$jobs CMAKE_BUILD_PARALLEL_LEVEL=$jobs
export CTEST_OUTPUT_ON_FAILURE=1 CMAKE_COLOR_DIAGNOSTICS=OFF
logs=build/logs
work=build/consumers
passed=0 failed=0 table="" refused=""

floors() { python3 tools/check_floors.py; }
umbrella() { python3 tools/check_umbrella.py; }
tf_map() { python3 tools/check_public_api.py && python3 tools/check_tf_map.py && python3 tools/tf_symbols.py; }
programs() { python3 tools/check_programs.py && python3 tools/tutorial_lines.py; }
# What the pages say of the code: variables, flags, figures, commands, links, options, docstrings;
# words that are refused everywhere.
pages() {
  python3 tools/check_environment.py && python3 tools/flags_page.py && python3 tools/differences_page.py && python3 tools/readme_figures.py && python3 tools/layers_page.py &&
    python3 tools/check_commands.py && python3 tools/check_pages.py && python3 scripts/draw_pictures.py && python3 tools/check_docstrings.py &&
    python3 tools/check_words.py
}
format() {
  git ls-files -z '*.hpp' '*.ipp' '*.cpp' | xargs -0 -r clang-format --dry-run -Werror
}
build() { cmake --preset ci && cmake --build --preset ci -- -k 0; }
# LLVM's OpenMP reads the file that an earlier process of the same number has left, and ends by SIGBUS
# when it is empty, as `ulimit -f 0` leaves it. A new one may be of a process that begins.
drop_empty_files() {
  find /dev/shm -maxdepth 1 -user "$(id -un)" -name '__KMP_REGISTERED_LIB_*' -size 0 -mmin +1 -delete 2> /dev/null
}
# Two more than there are cores: some tests wait for what does not come.
tests() { ctest --preset ci -j $((jobs + 2)); }
headers() { python3 tools/check_headers.py build/ci; }
all_headers() { python3 tools/check_headers.py build/ci --all; }
before_headers() { python3 tests/checks/before_headers.py; }
two_copies() { python3 tests/checks/two_copies.py; }
sizes() { python3 tools/check_sizes.py build/ci; }
two_units() { cmake --build --preset ci --target two_units && build/ci/bin/two_units; }

# The three ways to use the library, each on an example as a user would build it.
# page_command <page>: the compiler's line that it shows for one file.
page_command() { sed -n '/^g++ -std=c++20/,/[^\\]$/p' "$1"; }
# trains <program>: the README's trainer, where its data is; it must have learned.
trains() {
  local place=$1.run
  rm -rf "$place" && mkdir "$place" && ln -s "$PWD/examples" "$place/examples" &&
    (cd "$place" && "$1") | tee "$place/printed"
  awk '/^epoch 2 loss/ { good = $4 + 0 < 0.2 } END { exit !good }' "$place/printed"
}
# The README's line against the compiled library, with the compiler of that.
library_flags() {
  local program=$PWD/$work/library_flags line place=$work/library
  # A folder of its own: a test takes the archives of build/ci at the same time.
  rm -rf "$place" && mkdir "$place" &&
    ln -s "$PWD"/build/ci/{pkgconfig,CMakeCache.txt,libdistribute*.a} "$place" &&
    scripts/build_library.sh --from "$place" || return 1
  line=$(page_command README.md | head -1)
  [ "$line" = "$(page_command docs/using.md | head -1)" ] || { echo "docs/using.md has another line"; return 1; }
  line=${line/g++/clang++} line=${line/build\/library/$place}
  line=${line/trainer.cpp -o trainer/examples/three_ways/one_file/trainer.cpp -o $program}
  echo "$line"
  $line && trains "$program"
}
one_file() {
  local program=$PWD/$work/one_file
  cp examples/three_ways/one_file/trainer.cpp "$work/trainer.cpp"
  local line=$(sed -n '/^g++ .* -I include/,/[^\\]$/p' docs/using.md)
  # Without optimization, which takes two thirds off: it is GCC's compile of a whole trainer.
  line=${line/ -O2/ -O0 -save-temps=obj -Wall -Wextra -Wpedantic -Wshadow -Werror}
  line=${line/trainer.cpp -o trainer/$work/trainer.cpp -o $program}
  echo "$line"
  bash -c "python3 tools/check_sizes.py --program examples/three_ways/one_file/trainer.cpp $line" &&
    python3 tools/check_bodies.py "$work/one_file-trainer.o" 1500 && trains "$program"
}
# With Clang.
one_file_clang() {
  clang++ -std=c++20 -O0 -I include -DDISTRIBUTE_HAS_ONEDNN=1 \
    examples/three_ways/one_file/trainer.cpp -o "$work/one_file_clang" -ldnnl -lz -lgomp \
    $(pkg-config --libs absl_statusor) && trains "$PWD/$work/one_file_clang"
}
every_body() { python3 tools/check_bodies.py build/ci; }
# With Clang, which takes half of GCC's time.
several_files() {
  local place=$work/several_files
  rm -rf "$place" && cp -r examples/three_ways/several_files "$place" &&
    make -C "$place" CXX=clang++ OPTIMIZE=-O0 DISTRIBUTE="$PWD/include" -j2 &&
    "$place/trainer" examples/mnist_cnn/data
}
# with_cmake: an installed copy, its components, and what goes wrong with them. With the compiler of
# preset ci, whose OpenMP the library needs.
with_cmake() {
  local place=$PWD/$work/cmake
  configure_consumer "$place" && cmake --build "$place/build" &&
    "$place/build/trainer" examples/mnist_cnn/data "$place/saved" &&
    python3 tests/checks/package_errors.py "$place/installed" "$place"
}
header_only_target() {
  local place=$PWD/$work/header_only_target
  configure_consumer "$place" && cmake --build "$place/build" --target trainer_header_only &&
    python3 tools/check_bodies.py "$place/build/CMakeFiles/trainer_header_only.dir/main.cpp.o" 3000 &&
    "$place/build/trainer_header_only" examples/mnist_cnn/data "$place/saved"
}
# configure_consumer <place>: the example with CMake, on an installed copy of its own.
configure_consumer() {
  rm -rf "$1"
  export CXX=clang++
  cmake --install build/ci --prefix "$1/installed" > /dev/null &&
    cmake -S examples/three_ways/cmake -B "$1/build" -G Ninja -DCMAKE_PREFIX_PATH="$1/installed"
}
# Each compiles all bodies once more. Every run takes two of them, and every_body.
whole_programs=(one_file one_file_clang several_files header_only_target)
all_whole_programs() {
  local program
  for program in "${whole_programs[@]}"; do "$program" || return 1; done
}
# consumer_within <name>: a project that takes the sources in.
consumer_within() {
  local place=$work/$1
  rm -rf "$place"
  cmake -S "tests/consumer_$1" -B "$place" -G Ninja && cmake --build "$place" && "$place/consumer"
}
consumer_subdirectory() { consumer_within subdirectory; }
consumer_kernels() { consumer_within kernels; }
# A project that adds kinds of its own to an installed copy.
consumer_extension() {
  local place=$PWD/$work/extension
  rm -rf "$place"
  export CXX=clang++
  cmake --install build/ci --prefix "$place/installed" > /dev/null &&
    cmake -S tests/consumer_extension -B "$place/build" -G Ninja \
      -DCMAKE_PREFIX_PATH="$place/installed" && cmake --build "$place/build" && "$place/build/consumer"
}
# Side by side, as many as there are cores.
compile_checks() {
  local checks=(one_file library_flags every_body several_files two_units headers before_headers two_copies with_cmake sizes consumer_kernels
    consumer_subdirectory consumer_extension)
  local check failed=0 result seconds
  for check in "${checks[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    (SECONDS=0; "$check" > "$logs/$check.log" 2>&1; echo "$? $SECONDS" > "$logs/$check.status") &
  done
  wait
  for check in "${checks[@]}"; do
    read -r result seconds < "$logs/$check.status"
    printf '%-22s %5d s\n' "$check" "$seconds"
    [ "$result" -eq 0 ] && continue
    echo "$check FAILED; the end of $logs/$check.log:"
    tail -n 20 "$logs/$check.log"
    failed=1
  done
  return $failed
}
# The API reference from the docstrings; a warning of Doxygen is an error.
api() { python3 scripts/api_reference.py; }
# The Debian package of the build, installed into an empty root and used.
package() { scripts/check_package.sh build/ci; }
asan_build() { cmake --preset asan && cmake --build --preset asan -- -k 0; }
asan_tests() { ctest --preset asan -j $((jobs + 2)); }

# The assertions that failed, each with the values that it saw; they end the output of a failed run.
refused_assertions() {
  grep -E -A 9 ': (FAILED|error):' "$1" | cut -c 1-300 | head -n 60
}

# cpu_seconds <file>: of children, from what the shell's `times` wrote there.
cpu_seconds() { awk 'NR == 2 { gsub(/[ms]/, " "); $0 = $0; printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$1"; }
# run_stage <stage>: leaves its log, and its exit status, seconds and CPU seconds in a line. Tests have
# the right of way, so that they wait no longer than they would alone.
run_stage() {
  local begin=$SECONDS status=0
  [[ $1 == *tests ]] || renice -n 10 -p $BASHPID > /dev/null
  "$1" > "$logs/$1.log" 2>&1 < /dev/null || status=$?
  times > "$logs/$1.times"
  echo "$status $((SECONDS - begin)) $(cpu_seconds "$logs/$1.times")" > "$logs/$1.status"
}
# report_stage <stage>: counts and prints what it left.
report_stage() {
  local stage=$1 log=$logs/$1.log status=1 seconds=0 cpu=0 counts
  read -r status seconds cpu < "$logs/$stage.status"
  echo "== $stage"
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
    refused+=$(refused_assertions "$log")
  else
    tail -n 3 "$log"
  fi
  table+=$(printf '%-22s %5d s %5d s of CPU  %s' "$stage" "$seconds" "$cpu" "$([ "$status" -eq 0 ] && echo ok || echo FAILED)")$'\n'
}

declare -A running=()  # stages, by the numbers of their processes
waiting=()
# waits_for_another <stage>: what it needs is still to come, or runs. Stages by hand need the build.
waits_for_another() {
  local need other
  for other in "${running[@]}"; do
    [ "$1" = "$other" ] && return 0
  done
  for need in ${needs[$1]-build}; do
    for other in ${waiting[@]+"${waiting[@]}"} "${running[@]}"; do
      [ "$need" = "$other" ] && return 0
    done
  done
  return 1
}
# begin_next: starts the first stage that may begin; fails where there is none.
begin_next() {
  local place stage
  for place in "${!waiting[@]}"; do
    stage=${waiting[place]}
    waits_for_another "$stage" && continue
    unset "waiting[place]"
    drop_empty_files
    rm -f "$logs/$stage.status"
    echo "-- $stage begins"
    run_stage "$stage" &
    running[$!]=$stage
    return 0
  done
  return 1
}
run_stages() {
  local ended
  waiting=("$@")
  while [ ${#waiting[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
    while [ ${#running[@]} -lt $side_by_side ] && begin_next; do :; done
    wait -n -p ended "${!running[@]}"
    report_stage "${running[$ended]}"
    unset "running[$ended]"
  done
}

mkdir -p "$logs" "$work"
scripts/install_dependencies.sh || { echo "0 passed, 1 failed"; exit 1; }
if [ $# -eq 0 ]; then set -- "${all_stages[@]}"; fi
run_stages "$@"
if [ -n "$refused" ]; then printf '\n%s\n' "$refused"; fi
printf '\n%s%-22s %5d s\n\n' "$table" "all" "$SECONDS"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
