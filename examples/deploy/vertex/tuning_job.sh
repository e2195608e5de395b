#!/usr/bin/env bash
# Starts a study of Vertex AI, 12 trials with 3 at a time:
#   tuning_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER [flags of the trainer]
# Each trial is a custom job of one chief; pools.sh says which variables change that. METRIC names the
# metric as the trainer reports it: test_accuracy, or val_accuracy of a fit with train::MetricLines. With
# PRINT=1 it prints the configuration instead.
set -euo pipefail

usage="tuning_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER [flags of the trainer]"
name=${1:?$usage} region=${2:?$usage} image=${3:?$usage} folder=${4:?$usage}
shift 4
# shellcheck source=pools.sh
source "$(dirname "$0")/pools.sh"
[ $# -gt 0 ] || set -- --strategy=multi_worker --epochs=2 --metric_lines

# Parameters reach the trainer as flags of their names; DISCRETE ones as 50.0, which its flags take.
config="studySpec:
  metrics:
    - {metricId: ${METRIC:-test_accuracy}, goal: ${GOAL:-MAXIMIZE}}
  parameters:
    - parameterId: learning_rate
      doubleValueSpec: {minValue: 0.0003, maxValue: 0.003}
      scaleType: UNIT_LOG_SCALE
    - parameterId: batch_size
      discreteValueSpec: {values: [50, 100, 200]}
trialJobSpec:
  workerPoolSpecs:
$(pools "    " "${WORKERS:-0}" "$@")
  baseOutputDirectory: {outputUriPrefix: $folder}"
submit "$config" hp-tuning-jobs create --max-trial-count=12 --parallel-trial-count=3
