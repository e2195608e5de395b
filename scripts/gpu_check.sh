#!/usr/bin/env bash
# Checks the library on a machine with a GPU, in calls of at most seven minutes each.
#
# usage: scripts/gpu_check.sh pack [BUILD [FILE [CACHE]]]    where it was built
#        gpu_check/gpu_check.sh first|again|correctness|speed|sanitizers [FOLDER]    where the GPU is
#
# first: at most five minutes, what tells most at the beginning. The first part that fails runs once
#   more with CUDA_LAUNCH_BLOCKING=1, and below compute-sanitizer. FOLDER/first.failed names the parts
#   that failed.
# again PARTS [FOLDER]: the parts of `first` that the file PARTS names, such as first.failed, then speed.
# pack: makes FILE (default BUILD/gpu_check.tar.xz, below 60 MB) of the stripped programs and tests of
#   BUILD (default build/release), the libraries that they need, data and this script. CACHE, a
#   folder or the gpu_cache.tar.gz of an earlier run, goes with it: kernels and plans that need not
#   be made again. Programs run on any machine whose glibc is not older than the building machine's.
# All but pack: after tar xf gpu_check.tar.xz, or where there is no xz,
#   python3 -m tarfile -e gpu_check.tar.xz. Each part has a limit of its own,
#   and all parts together DISTRIBUTE_GPU_CHECK_SECONDS (420). A part's row goes to
#   FOLDER/MODE.md and its output to FOLDER/MODE.log while it runs and as soon as it ends; FOLDER is
#   $OUT or gpu_check/results. No part stops the others. FOLDER/gpu_cache.tar.gz is for the next pack.
#   Needs CUDA's driver, and NVRTC, cuBLASLt, cuDNN and NCCL on the loader's path, below /usr/local/cuda
#   or in the packages of python3 (nvidia-*), as PyTorch brings them. PyTorch, compute-sanitizer and
#   ncu are used where they are there.
#
# DISTRIBUTE_GPU_CHECK_DRY_RUN=1: the same on a machine without a GPU, on fakes and CPUs, shortened.
# Exit status: 0 all parts are well, 1 some are not, 2 wrong usage.
set -uo pipefail

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }
here=$(cd "$(dirname "$0")" && pwd)
mode=${1:-}
programs=(distribute mnist_cnn resnet50 text_transformer)
tests=(test_device test_ops test_strategy test_examples)
# The system's own, which belong to its loader.
glibc='^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil)\.so'

pack() {
  local root=$here/.. build file cache name found library compress
  build=$(realpath "${1:-$root/build/release}") || exit 2
  file=${2:-$build/gpu_check.tar.xz} cache=${3:-}
  place=$(mktemp -d) || exit 1
  trap 'rm -rf "$place"' EXIT
  mkdir -p "$place/gpu_check"/{bin,lib,cache,examples/{mnist_cnn,text_transformer},data}
  for name in "${programs[@]}" "${tests[@]}"; do
    found=
    for found in "$build/bin/$name" "$build/tests/$name"; do [[ -x $found ]] && break; found=; done
    if [[ -z $found ]]; then echo "not in $build: $name" >&2; continue; fi
    strip -o "$place/gpu_check/bin/$name" "$found" || exit 1
    ldd "$found" | awk '/=> \// { print $3 }'
  done | sort -u | while read -r library; do
    [[ $(basename "$library") =~ $glibc ]] || cp -L "$library" "$place/gpu_check/lib/"
  done
  for name in mnist_cnn text_transformer; do
    cp -r "$root/examples/$name/data" "$place/gpu_check/examples/$name/"
  done
  # Runs of TensorFlow to follow, where they are: see tests/support/shared_data.hpp.
  name=${DISTRIBUTE_SHARED_DATA:-$root/../shared/data}
  if [[ -d $name/parity/book_cnn_adam ]]; then
    mkdir -p "$place/gpu_check/data/book_cnn_adam"
    cp -r "$name/mnist" "$place/gpu_check/data/"
    cp "$name"/parity/book_cnn_adam/{init.*,losses.csv} "$place/gpu_check/data/book_cnn_adam/"
  fi
  if [[ -d $cache ]]; then cp -r "$cache/." "$place/gpu_check/cache/"
  elif [[ -n $cache ]]; then tar xzf "$cache" -C "$place/gpu_check" || exit 1; fi
  cp "$here/gpu_check.sh" "$here/gpu_baseline.py" "$place/gpu_check/"
  git -C "$root" describe --always --dirty >"$place/gpu_check/version" 2>/dev/null
  # The tests hold the same library: what a large dictionary sees again costs nothing.
  compress=${DISTRIBUTE_GPU_CHECK_COMPRESS:-xz -T1 --lzma2=preset=6,dict=256MiB}
  tar -C "$place" -cf - gpu_check | $compress >"$file" || exit 1
  echo "$file: $(stat -c %s "$file") bytes"
  [[ $compress == cat ]] || (($(stat -c %s "$file") < 60000000)) || { echo "that is more than 60 MB" >&2; exit 1; }
}

row() { printf '| %s | %s | %s |\n' "$@" | tee -a "$rows"; }

# part LIMIT WHAT COMMAND...: runs it for at most LIMIT seconds and writes its row.
part() {
  local limit=$1 what=$2 left result status begin=$SECONDS
  shift 2
  left=$((deadline - SECONDS))
  if ((left < 3)); then row "$what" "not run: the time of this call is over" ""; return 1; fi
  [[ -n $dry_run ]] && limit=$left  # a fake GPU says nothing about time
  ((limit > left)) && limit=$left
  printf '\n===== %s\n$ %s\n' "$what" "$*" >>"$log"
  offset=$(stat -c %s "$log")
  timeout -k 5 "$limit" "$@" >>"$log" 2>&1 </dev/null
  status=$?
  case $status in
    0) result=ok ;;
    124 | 137) result="STOPPED after $limit s" ;;
    *) result="FAILED ($status)" ;;
  esac
  if ((status)); then
    failures=$((failures + 1))
    echo "$what" >>"$out/$mode.failed"
    ((${#failed[@]})) || failed=("$@")
    [[ $mode == first || $mode == again ]] && first_error
  fi
  row "$what" "$result" "$((SECONDS - begin)) s"
  return "$status"
}

# figures PATTERN: what the last part printed as "name": number.
figures() {
  local found
  found=$(tail -c +$((offset + 1)) "$log" |
    grep -oE "\"($1)\": *[0-9.e+-]+" | tr -d '"' | paste -sd, -)
  [[ -n $found ]] && row "" "${found//,/, }" ""
}

# The first error of the last part: where no second look is possible, it belongs on the terminal.
first_error() {
  tail -c +$((offset + 1)) "$log" | grep -nE -m 1 -B 8 -A 16 'FAILED:|[Ee]rror|[Aa]bort|SIG[A-Z]+|FAIL' |
    cut -c 1-400 || tail -n 25 "$log" | cut -c 1-400
}

skipped() { row "$1" "skipped: $2" ""; }

# tests LIMIT WHAT PROGRAM FILTER [DRY FILTER]: tests of that tag. A dry run takes some of them, or
# only asks whether there are any.
run_tests() {
  local limit=$1 what=$2 program=$root/bin/$3 filter=$4 dry=${5:-}
  [[ -x $program ]] || { skipped "$what" "$3 was not built"; return; }
  if [[ -z $dry_run ]]; then part "$limit" "$what" "${ours[@]}" "$program" "$filter"
  elif [[ -n $dry ]]; then part "$limit" "$what" "${ours[@]}" "$program" "$dry"
  else
    # Catch2 gives the number of tests as its status here.
    part "$limit" "$what" "${ours[@]}" sh -c '"$@"; true' sh "$program" "$filter" --list-tests ||
      return
    tail -c +$((offset + 1)) "$log" | grep -qE '^[1-9][0-9]* matching test' ||
      { failures=$((failures + 1)); row "$what" "FAILED: no test has this tag" ""; }
  fi
}

kFigures='images_per_second|tokens_per_second|step_ms_p50|seconds_to_first_step|test_accuracy|peak_gpu_bytes|loss'
# train LIMIT PROGRAM FLAGS...: a trainer's run and its figures.
train() {
  local limit=$1 program=$2
  shift 2
  [[ -x $root/bin/$program ]] || { skipped "$program $*" "it was not built"; return; }
  part "$limit" "${settings:+$settings }$program $*" "${ours[@]}" ${settings:-} "$root/bin/$program" \
    "--device=$device" --json "$@"
  figures "$kFigures"
}

# The first ten losses of a run beside TensorFlow's, relative difference below 1e-4.
follows_tensorflow() {
  local out
  out=$(mktemp -d)
  "$root/bin/mnist_cnn" "--device=$device" "--data_dir=$root/data/mnist" --batch_size=50 --steps=10 \
    --optimizer=adam --learning_rate=1e-4 --shuffle=false --float32_matmul_precision=highest \
    "--init_checkpoint=$root/data/book_cnn_adam/init" "--loss_csv=$out/losses.csv" &&
    paste -d, "$root/data/book_cnn_adam/losses.csv" "$out/losses.csv" | awk -F, '
      NR > 1 && $4 != "" {
        d = ($2 - $5) / $2; if (d < 0) d = -d; print "step", $1, "TensorFlow", $2, "here", $5, d
        if (d > 1e-4) bad = 1; ++steps }
      END { exit bad || steps < 10 }'
  local status=$?
  rm -rf "$out"
  return $status
}

# decoder DEVICE FILE FLAGS...: steps of text_transformer whose losses go to FILE.
decoder() {
  local where=$1 file=$2
  shift 2
  "$root/bin/text_transformer" "--device=$where" "--data_dir=$root/examples/text_transformer/data" \
    --steps=12 --batch_size=8 --shuffle=false --sample_length=0 "--loss_csv=$file" "$@"
}

# decoder_agrees LIMIT FLAGS...: its losses and norms of gradients here beside those of the CPU,
# relative difference at most LIMIT, and the last loss below the first.
decoder_agrees() {
  local limit=$1 out
  shift
  out=$(mktemp -d)
  decoder cpu "$out/cpu.csv" "$@" && decoder "$device" "$out/here.csv" "$@" &&
    paste -d, "$out/cpu.csv" "$out/here.csv" | awk -F, -v limit="$limit" '
      function apart(a, b) { return (a > b ? a - b : b - a) / (a > 0 ? a : -a) }
      NR > 1 {
        d = apart($2, $5); n = apart($3, $6); if (n > d) d = n
        print "step", $1, "loss", $2, $5, "norm", $3, $6, d
        if (!(d <= limit)) bad = 1
        if (++steps == 1) first = $5
        last = $5
      }
      END { exit bad || steps < 12 || !(last < first) }'
  local status=$?
  rm -rf "$out"
  return $status
}

correctness() {
  local doctor=(--require_gpu)
  [[ -n $dry_run ]] && doctor=()
  # First: without its libraries every later row would say ok about our own kernels.
  part 60 "doctor: GPU and libraries" "${ours[@]}" "$root/bin/distribute" doctor "${doctor[@]}"
  tail -c +$((offset + 1)) "$log" | grep -E 'FAIL|NVRTC|cuBLASLt|cuDNN|NCCL|CUDA driver|GPU [0-9]'
  run_tests 60 "streams, memory, recorded work" test_device "[gpu_contract]" \
    "a stream runs on after an event of another"
  run_tests 120 "cuDNN and cuBLASLt agree with the CPU" test_ops \
    "[gpu_convolution],[gpu_attention],[gpu_recurrent]"
  run_tests 200 "operations agree with the CPU" test_ops "[gpu_contract]" "softmax agrees on both devices"
  run_tests 90 "strategies agree with the CPU" test_strategy "[gpu_contract]~[function]"
  run_tests 60 "recorded steps agree with plain steps" test_strategy "[function][gpu_contract]"
  run_tests 90 "trainers agree with the CPU" test_examples "[examples][gpu_contract]"
  if [[ -d $root/data/book_cnn_adam ]]; then
    part 60 "mnist_cnn follows TensorFlow's losses" "${ours[@]}" bash -c follows_tensorflow
  else
    skipped "mnist_cnn follows TensorFlow's losses" "the pack was made without its data"
  fi
  if [[ -x $root/bin/text_transformer ]]; then
    local small=(--layers=2 --width=64 --heads=4 --context=64)
    part 60 "text_transformer has the CPU's losses" "${ours[@]}" bash -c 'decoder_agrees "$@"' sh \
      1e-3 "${small[@]}" --float32_matmul_precision=highest
    # Attention of 16 bits is cuDNN's.
    part 60 "text_transformer has the CPU's losses in bfloat16" "${ours[@]}" \
      bash -c 'decoder_agrees "$@"' sh 5e-2 "${small[@]}" --policy=mixed_bfloat16
  else
    skipped "text_transformer has the CPU's losses" "it was not built"
  fi
}

speed() {
  local flags=() batch
  [[ -n $dry_run ]] && flags=(--model=resnet8 --width=8 --image_size=32 --num_classes=10)
  # batches and steps of a run on a GPU, and of a dry one
  pick() { if [[ -n $dry_run ]]; then echo "$2"; else echo "$1"; fi; }
  if has_torch; then
    part 30 "the card: copy and matrix product" "$python" "$root/gpu_baseline.py" ceilings
    figures 'copy_gbytes_per_second|bf16_tflops_per_second'
  else
    skipped "the card and PyTorch" "python3 has no PyTorch that finds a GPU"
    python=
  fi
  local common=(--dataset=synthetic --policy=mixed_bfloat16 --optimizer=momentum
    "--steps=$(pick 60 2)" "${flags[@]}")
  # The first run compiles kernels and normalization's plans, which the others find on disk.
  train 120 resnet50 "${common[@]}" "--batch_size=$(pick 256 4)"
  train 60 resnet50 "${common[@]}" "--batch_size=$(pick 256 4)" --cuda_graph=false
  settings=TF_CUDNN_USE_AUTOTUNE=0 train 60 resnet50 "${common[@]}" "--batch_size=$(pick 256 4)"
  # Compiles 23 kernels of convolutions, 2 to 4 seconds each, and 16 that scale.
  settings=DISTRIBUTE_CUDNN_STATISTICS=1 train 100 resnet50 "${common[@]}" \
    "--batch_size=$(pick 256 4)"
  [[ -n $python ]] && part 60 "PyTorch: ResNet-50, channels_last, bf16, batch 256" \
    "$python" "$root/gpu_baseline.py" resnet50 256 && figures "$kFigures"
  train 60 resnet50 "${common[@]}" "--batch_size=$(pick 512 6)"
  for batch in 50 "$(pick 512 60)"; do
    train 30 mnist_cnn "--steps=$(pick 500 2)" "--batch_size=$batch"
  done
  # What recording the GPU's kernels costs (CUPTI), and whether they are in the timeline.
  settings="DISTRIBUTE_TIMELINE=$out/gpu_timeline.json" train 30 mnist_cnn \
    "--steps=$(pick 500 2)" --batch_size=50
  [[ -z $dry_run ]] && part 5 "the timeline has the GPU's rows" grep -c '"GPU 0 stream' "$out/gpu_timeline.json"
  run_tests 30 "NCCL with one rank" test_strategy "[nccl_real]"
  # A decoder of 85 million weights; both sides have these sizes.
  local sizes=(--layers=12 --width=768 --heads=12 --context=1024)
  [[ -n $dry_run ]] && sizes=(--layers=1 --width=16 --heads=2 --context=16)
  train 60 text_transformer "${sizes[@]}" --policy=mixed_bfloat16 --sample_length=0 \
    "--data_dir=$root/examples/text_transformer/data" "--steps=$(pick 60 12)" \
    "--batch_size=$(pick 16 2)"
  [[ -n $python ]] && part 60 "PyTorch: the same decoder, bf16, batch 16" \
    "$python" "$root/gpu_baseline.py" decoder 16 && figures "$kFigures"
  # Two replicas on one card, each with its own batch statistics, then with those of both: the
  # latter compiles 64 kernels, a second each. Their steps are not recorded as graphs: that takes
  # NCCL, and so a card for each replica.
  train 60 resnet50 "${common[@]}" "--batch_size=$(pick 256 4)" --replicas=2
  train 100 resnet50 "${common[@]}" "--batch_size=$(pick 256 4)" --replicas=2 --sync_batch_norm
  [[ -n $python ]] && part 110 "PyTorch: the same, compiled" \
    "$python" "$root/gpu_baseline.py" resnet50 256 compiled && figures "$kFigures"
}

# A part of `first`; a second call runs those that failed.
wanted() { [[ -z $only ]] || grep -qF -- "$1" "$only"; }
first_tests() { wanted "$2" && run_tests "$@"; }

first() {
  local doctor=(--require_gpu) common steps=40 batch=256
  [[ -n $dry_run ]] && doctor=() steps=2 batch=4
  common=(--dataset=synthetic --policy=mixed_bfloat16 --optimizer=momentum "--steps=$steps"
    "--batch_size=$batch")
  [[ -n $dry_run ]] && common+=(--model=resnet8 --width=8 --image_size=32 --num_classes=10)
  if wanted doctor; then
    part 20 "doctor: GPU and libraries" "${ours[@]}" "$root/bin/distribute" doctor "${doctor[@]}"
    tail -c +$((offset + 1)) "$log" | grep -E 'FAIL|WARN|NVRTC|cuBLASLt|cuDNN|NCCL|CUDA driver|GPU [0-9]'
  fi
  first_tests 30 "streams, memory, recorded work" test_device "[gpu_contract]" \
    "a stream runs on after an event of another"
  first_tests 20 "own kernels" test_ops "softmax agrees on both devices" "softmax agrees on both devices"
  first_tests 20 "cuBLASLt" test_ops "dense layers on cuBLASLt agree with the CPU"
  first_tests 30 "cuDNN" test_ops "convolutions on cuDNN agree with the CPU"
  first_tests 20 "NCCL with one rank" test_strategy "[nccl_real]"
  if wanted "mnist_cnn follows" && [[ -d $root/data/book_cnn_adam ]]; then
    part 20 "mnist_cnn follows TensorFlow's losses" "${ours[@]}" bash -c follows_tensorflow
  fi
  if wanted resnet50; then
    train 60 resnet50 "${common[@]}"
    [[ $mode == first ]] && has_torch && part 40 "PyTorch: ResNet-50, channels_last, bf16, batch 256" \
      "$python" "$root/gpu_baseline.py" resnet50 256 && figures "$kFigures"
  fi
  if wanted text_transformer; then
    part 30 "text_transformer has the CPU's losses" "${ours[@]}" bash -c 'decoder_agrees "$@"' sh \
      1e-3 --layers=2 --width=64 --heads=4 --context=64 --float32_matmul_precision=highest
  fi
  first_tests 60 "operations agree with the CPU" test_ops "[gpu_contract]" "softmax agrees on both devices"
  first_tests 60 "cuDNN and cuBLASLt agree with the CPU" test_ops \
    "[gpu_convolution],[gpu_attention],[gpu_recurrent]"
  first_tests 60 "strategies agree with the CPU" test_strategy "[gpu_contract]~[function]"
  first_tests 60 "recorded steps agree with plain steps" test_strategy "[function][gpu_contract]"
  first_tests 60 "trainers agree with the CPU" test_examples "[examples][gpu_contract]"
  look_closer
}

has_torch() { "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; }

# The first part that failed, once more: each launch waits for its end, then below memcheck.
look_closer() {
  ((${#failed[@]})) && [[ $mode == first ]] || return
  local command=("${failed[@]}") sanitizer
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  deadline=$((SECONDS + 60))
  part 25 "the first that failed, each launch awaited" env CUDA_LAUNCH_BLOCKING=1 "${command[@]}"
  [[ -x $sanitizer && -z $dry_run ]] || return
  part 35 "the first that failed, below memcheck" env CUDA_LAUNCH_BLOCKING=1 "$sanitizer" \
    --tool memcheck --target-processes all "${command[@]}"
}

again() {
  [[ -s $only ]] && first
  only=
  speed
}

# Kernels of a profile in CSV, the slowest first by their sum: "name<TAB>share".
slowest() {
  "$python" - "$1" <<'PYTHON'
import csv, sys
rows = [r for r in csv.reader(open(sys.argv[1], errors="replace")) if len(r) > 5]
head = rows[0]
name, value = head.index("Kernel Name"), head.index("Metric Value")
times = {}
for r in rows[1:]:
    try:
        times[r[name]] = times.get(r[name], 0) + float(r[value].replace(",", ""))
    except ValueError:
        pass
for k in sorted(times, key=times.get, reverse=True)[:3]:
    print(k.split("(")[0].split("<")[0].split("::")[-1])
PYTHON
}

sanitizers() {
  local tool kernel
  if [[ -n $dry_run ]]; then sanitizer=env
  else sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer); fi
  if [[ -z $dry_run && ! -x $sanitizer ]]; then
    skipped "memcheck, racecheck" "no compute-sanitizer"
  else
    # Exact sizes: what is behind a block's end is not allocated.
    for tool in memcheck racecheck; do
      [[ -n $dry_run ]] && words=() || words=(--tool "$tool" --error-exitcode 9)
      local wrapped=("${ours[@]}" DISTRIBUTE_CUDA_EXACT_MEMORY=1 "$sanitizer" "${words[@]}")
      if [[ -n $dry_run ]]; then
        part 60 "$tool of memory and streams" "${wrapped[@]}" "$root/bin/test_device" \
          "elements of every width are filled"
      else
        # Without the test that asks for too much memory: the driver's answer counts as an error.
        part 60 "$tool of memory and streams" "${wrapped[@]}" "$root/bin/test_device" \
          "[gpu_contract]~more memory*"
        part 110 "$tool of own kernels" "${wrapped[@]}" "$root/bin/test_ops" \
          "[gpu_contract]~*searches*~*every width*"
      fi
    done
  fi
  local ncu
  ncu=$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null)
  if [[ -n $dry_run || -z $ncu ]]; then skipped "the three slowest kernels" "no ncu"; return; fi
  local csv=$out/sanitizers_kernels.csv
  part 90 "times of all kernels of two steps" "${ours[@]}" "$ncu" --csv --metrics \
    gpu__time_duration.sum --launch-skip 1200 --launch-count 900 --log-file "$csv" \
    "$root/bin/resnet50" --device=gpu --cuda_graph=false --dataset=synthetic --policy=mixed_bfloat16 --steps=6 \
    --batch_size=64 --optimizer=momentum
  sed -i '/^==/d' "$csv"
  while read -r kernel; do
    part 40 "ncu of $kernel" "${ours[@]}" "$ncu" --set basic -k "regex:$kernel" --launch-skip 5 \
      --launch-count 1 "$root/bin/resnet50" --device=gpu --cuda_graph=false --dataset=synthetic \
      --policy=mixed_bfloat16 --steps=2 --batch_size=64 --optimizer=momentum
  done < <(slowest "$csv")
}

case $mode in
  pack) shift; pack "$@"; exit ;;
  first | correctness | speed | sanitizers) ;;
  again)
    only=$(realpath -e "${2:-}") || { echo "gpu_check.sh again: name the file of the parts" >&2; exit 2; }
    shift ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
root=$here
if [[ ! -d $root/bin ]]; then
  echo "gpu_check.sh $mode: run it where its pack was unpacked; see gpu_check.sh --help" >&2
  exit 2
fi
out=${2:-${OUT:-$root/results}}
mkdir -p "$out" || exit 2
log=$out/$mode.log rows=$out/$mode.md
: >"$log"
[[ $mode == first ]] && seconds=300 || seconds=420
deadline=$((SECONDS + ${DISTRIBUTE_GPU_CHECK_SECONDS:-$seconds}))
rm -f "$out/$mode.failed"
failures=0 offset=0 settings= failed=() only=${only:-}
dry_run=${DISTRIBUTE_GPU_CHECK_DRY_RUN:-}
[[ $dry_run == 0 ]] && dry_run=
device=gpu
[[ -n $dry_run ]] && device=cpu
python=$(command -v python3 || echo python3)
# Python's own copies of the libraries, which its packages keep in <site-packages>/nvidia.
packages=$("$python" -c 'import importlib.util as u
s = u.find_spec("nvidia")
print(":".join(p.rsplit("/", 1)[0] for p in s.submodule_search_locations) if s else "")' 2>/dev/null)
packages=${DISTRIBUTE_CUDA_LIBRARY_PATH:+$DISTRIBUTE_CUDA_LIBRARY_PATH:}$packages:/usr/local/cuda/lib64
ours=(env "LD_LIBRARY_PATH=$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  "DISTRIBUTE_TEST_SOURCE_DIR=$root" "DISTRIBUTE_CUDA_CACHE=$root/cache"
  "DISTRIBUTE_CUDA_LIBRARY_PATH=$packages")
[[ -z $dry_run ]] && ours+=(DISTRIBUTE_TEST_GPU=1)
gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | head -1)
printf '%s, %s, version %s, %s\n\n| what | result | time |\n|---|---|---|\n' "$mode" "$(date -u +%F)" \
  "$(cat "$root/version" 2>/dev/null)" "${gpu:-no nvidia-smi}" | tee "$rows"
export root device
export -f follows_tensorflow decoder decoder_agrees
"$mode"
tar -C "$root" -czf "$out/gpu_cache.tar.gz" cache 2>/dev/null
row "all parts of $mode" "$( ((failures)) && echo "$failures FAILED" || echo ok)" "$SECONDS s"
exit $((failures > 0))
