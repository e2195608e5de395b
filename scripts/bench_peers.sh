#!/usr/bin/env bash
# Measures this library, the sum of its oneDNN kernels, TensorFlow and PyTorch side by side, and
# writes the table and the plot of docs/benchmarks.md.
#
# usage: scripts/bench_peers.sh [--no-peers] [options of bench/peers/compare.py]
#   --parts speed framework mirrored all_reduce update workers accuracy rebuild demo resnet
#           resnet_workers cifar10 servers                 what to measure (default: first six)
#   --threads 1 2  --policies float32 mixed_bfloat16         some cases alone; others stay as they are
#   --cifar10_dir DIR                                        CIFAR-10 as TFRecords, for its part
#   --rounds N                                               medians over N rounds (default 3)
# environment: DISTRIBUTE_PEERS_VENV  a Python environment to use or to make
#                                     (default build/peers/venv)
# Wants a quiet machine. Needs build/release (cmake --workflow --preset release).
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${DISTRIBUTE_PEERS_VENV:-build/peers/venv}
python=
if [[ ${1:-} == --no-peers ]]; then
  shift
elif [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
  exit 0
else
  python=$venv/bin/python
fi

make_environment() {
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q 'tensorflow-cpu==2.21.*' numpy
}

# The CPU wheel where its index can be reached; otherwise the wheel of PyPI, which is linked
# against 3 GB of CUDA packages, with stand-ins for the libraries that the CPU never calls.
install_pytorch() {
  local pip="$venv/bin/pip"
  "$pip" install -q filelock typing-extensions sympy networkx jinja2 fsspec
  "$pip" install -q --no-deps torch nvidia-cuda-runtime
  "$venv/bin/python" bench/peers/torch_without_cuda.py \
    "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    "$venv/cuda-stand-ins"
}

if [[ -n $python ]]; then
  [[ -x $python ]] || make_environment
  "$python" -c 'import importlib.util as u; exit(u.find_spec("torch") is None)' ||
    install_pytorch || echo "PyTorch could not be installed; its figures are left out" >&2
  [[ -d $venv/cuda-stand-ins ]] &&
    export LD_LIBRARY_PATH="$(realpath "$venv/cuda-stand-ins")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

for program in mnist_cnn resnet50 distribute shared_update_bench; do
  [[ -x build/release/bin/$program ]] ||
    { echo "build/release/bin/$program is missing: build the preset 'release' and its target shared_update_bench" >&2; exit 1; }
done

python3 bench/peers/compare.py --peers_python "$python" "$@"
python3 bench/peers/report.py
