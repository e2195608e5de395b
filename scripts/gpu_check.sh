#!/usr/bin/env bash
# Runs on a machine with a GPU what tests elsewhere do with a fake one, and prints one table.
#
# usage: scripts/gpu_check.sh [build folder, default build/release]
# Needs the folder's bin/ with test_device, test_ops, test_strategy and mnist_cnn; CUDA's driver and
# NVRTC; compute-sanitizer where memory and races are to be checked.
set -uo pipefail
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
  exit 0
fi
cd "$(dirname "$0")/.."
bin=${1:-build/release}/bin
tests=${1:-build/release}/tests
export DISTRIBUTE_TEST_GPU=1
failures=0
rows=()

find_program() {  # name -> its path in one of the folders
  local folder
  for folder in "$bin" "$tests"; do
    [[ -x $folder/$1 ]] && { echo "$folder/$1"; return; }
  done
  echo "missing: $1" >&2
  return 1
}

run() {  # what is checked, then the command
  local what=$1 log result
  shift
  log=$(mktemp)
  SECONDS=0
  if "$@" >"$log" 2>&1; then result=ok; else result=FAILED; failures=$((failures + 1)); fi
  [[ $result == FAILED ]] && tail -40 "$log" >&2
  rows+=("| $what | $result | $SECONDS s |")
  last_log=$log
}

command -v nvidia-smi >/dev/null || { echo "no nvidia-smi: is this a machine with a GPU?" >&2; exit 2; }
gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | head -1)

device=$(find_program test_device) && run "streams, memory, kernels" "$device" "[cuda]"
ops=$(find_program test_ops) &&
  run "operations agree with the CPU" "$ops" "[gpu_contract]" &&
  run "cuDNN and cuBLASLt agree with the CPU" "$ops" "[gpu_convolution]"
if strategy=$(find_program test_strategy); then  # apart: a GPU in use cannot be divided
  run "training agrees with the CPU" "$strategy" "one GPU trains as the CPU does"
  run "logical GPUs agree with CPU replicas" "$strategy" "replicas on logical GPUs*"
  run "workers on GPUs agree with workers on CPUs" "$strategy" "workers on GPUs train*"
  run "central variables of GPUs agree with those of CPUs" "$strategy" "GPUs with central variables*"
  run "GPUs with parameter servers agree with CPUs" "$strategy" "a worker's GPUs train*"
  run "steps as CUDA graphs agree with plain steps" "$strategy" "[function][gpu_contract]"
fi
if examples=$(find_program test_examples); then
  run "trainers on one GPU agree with the CPU" "$examples" "trainers on one GPU*"
  run "trainers on logical GPUs agree with CPU replicas" "$examples" "trainers on two logical GPUs*"
  run "a trainer's steps as CUDA graphs end where plain ones do" "$examples" "a trainer's steps*"
fi

if command -v compute-sanitizer >/dev/null && [[ -n ${ops:-} ]]; then
  for tool in memcheck racecheck; do
    run "$tool of the operations" compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "$ops" "[gpu_contract]"
  done
else
  rows+=("| memcheck, racecheck | skipped: no compute-sanitizer | |")
fi

train() {  # flags of mnist_cnn, perhaps with what starts it before: $launch
  run "mnist_cnn $*" ${launch:-} "$trainer" --device=gpu --steps=300 --json=- "$@"
  local figures
  figures=$(grep -o '"\(images_per_second\|step_ms_p50\|seconds_to_first_step\|test_accuracy\)": *[0-9.e+-]*' \
    "$last_log" | tr -d '"' | paste -sd, -)
  rows+=("| | $figures | |")
}

if trainer=$(find_program mnist_cnn); then
  for batch in 50 512; do
    for how in --cuda_graph=false --cuda_graph=true --replicas=2; do train --batch_size=$batch $how; done
  done
  for replicas in 1 2; do
    for kind in central_storage parameter_server; do
      train --batch_size=512 --replicas=$replicas --strategy=$kind
    done
  done
  if distribute=$(find_program distribute); then
    launch="$distribute run --ps 1 -np 1 --" train --batch_size=512 --strategy=parameter_server
  fi
fi

printf '\n%s, %s, %s\n\n| what | result | time |\n|---|---|---|\n' "$(date -u +%F)" "$gpu" \
  "$(git rev-parse --short HEAD 2>/dev/null)"
printf '%s\n' "${rows[@]}"
exit $((failures > 0))
