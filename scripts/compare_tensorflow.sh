#!/usr/bin/env bash
# Runs the same small cases in TensorFlow and here and prints where they differ. Ends with status 1
# where a case differs that tests/comparison/differences.json does not name.
# Usage: scripts/compare_tensorflow.sh [--python=PYTHON] [--recorded] [--build=FOLDER]
#        --python    one that has TensorFlow (or DISTRIBUTE_TENSORFLOW_PYTHON); without it TensorFlow
#                    is installed from PyPI into an environment that is thrown away
#        --recorded  with what TensorFlow printed when tests/comparison/tensorflow_cases.txt was made
#        --build     CMake's build folder, build/dev unless given; configured when it is not there
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.21.0  # that the recorded answers are of
python=${DISTRIBUTE_TENSORFLOW_PYTHON:-} recorded= build=build/dev
for argument; do
  case $argument in
    --python=*) python=${argument#*=} ;;
    --recorded) recorded=1 ;;
    --build=*) build=${argument#*=} ;;
    *) sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2; exit 2 ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

theirs=tests/comparison/tensorflow_cases.txt
if [ -z "$recorded" ]; then
  if [ -z "$python" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet "tensorflow-cpu==$version" ||
      "$work/venv/bin/pip" install --quiet "tensorflow==$version"
    python=$work/venv/bin/python
  fi
  theirs=$work/tensorflow.txt
  "$python" tests/comparison/tensorflow_cases.py > "$theirs" 2> "$work/log" || {
    cat "$work/log" >&2
    exit 1
  }
fi

[ -f "$build/CMakeCache.txt" ] || cmake -B "$build" -G Ninja > "$work/log"
cmake --build "$build" --target tensorflow_cases > "$work/log" || { tail -30 "$work/log" >&2; exit 1; }
"$build/bin/tensorflow_cases" > "$work/ours.txt"
python3 tests/comparison/compare.py "$theirs" "$work/ours.txt"
