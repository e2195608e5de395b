#!/usr/bin/env bash
# Starts a custom job of Vertex AI: custom_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER [flags of the trainer]
# IMAGE is the target `cpu`, `cuda` or `trainer` of container/Dockerfile in Artifact Registry. Pool 0 is
# the chief, pool 1 has two workers; pools.sh says which variables change that. With PRINT=1 it prints the
# configuration instead. Flags: those below unless some are given.
set -euo pipefail

usage="custom_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER [flags of the trainer]"
name=${1:?$usage} region=${2:?$usage} image=${3:?$usage} folder=${4:?$usage}
shift 4
# shellcheck source=pools.sh
source "$(dirname "$0")/pools.sh"
[ $# -gt 0 ] || set -- --strategy=multi_worker --epochs=3 --metric_lines

config="workerPoolSpecs:
$(pools "  " "${WORKERS:-2}" "$@")
baseOutputDirectory: {outputUriPrefix: $folder}"
submit "$config" custom-jobs create
