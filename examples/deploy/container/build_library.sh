#!/usr/bin/env bash
# What the stage of the library does: compiles it with all annexes, and the program `distribute`, which
# readiness probes and SageMaker's containers call, into build/library.
# Usage: build_library.sh [CMake options]     in the repository
set -euo pipefail

cmake --preset library "$@" > /dev/null
scripts/build_library.sh all
cmake -B build/library -DDISTRIBUTE_BUILD_PROGRAMS=ON -DDISTRIBUTE_BUILD_TESTS=OFF > /dev/null
cmake --build build/library --target distribute_cli
