#!/usr/bin/env bash
# Starts a study of Vertex AI, 12 trials with 3 at a time: tuning_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER
# Each trial is a custom job of one chief; with WORKERS=2 two workers beside it. With PRINT=1 it prints
# the configuration instead.
set -euo pipefail

usage="tuning_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER"
name=${1:?$usage} region=${2:?$usage} image=${3:?$usage} folder=${4:?$usage}
token=$(openssl rand -hex 32)

pool() { # NUMBER OF REPLICAS
  cat << END
    - machineSpec: {machineType: n2-standard-8}
      replicaCount: $1
      containerSpec:
        imageUri: $image
        args: [--strategy=multi_worker, --epochs=2, --metric_lines]
        env:
          - {name: DISTRIBUTE_JOB_TOKEN, value: "$token"}
          - {name: CLOUD_ML_HP_METRIC_TAG, value: test_accuracy}
END
}
# Parameters reach the trainer as flags of their names.
config="studySpec:
  metrics:
    - {metricId: test_accuracy, goal: MAXIMIZE}
  parameters:
    - parameterId: learning_rate
      doubleValueSpec: {minValue: 0.0003, maxValue: 0.003}
      scaleType: UNIT_LOG_SCALE
    - parameterId: batch_size
      discreteValueSpec: {values: [50, 100, 200]}
trialJobSpec:
  workerPoolSpecs:
$(pool 1)
$([ "${WORKERS:-0}" = 0 ] || pool "$WORKERS")
  baseOutputDirectory: {outputUriPrefix: $folder}"

if [ "${PRINT:-0}" = 1 ]; then
  echo "$config"
  exit
fi
file=$(mktemp)
trap 'rm -f "$file"' EXIT
echo "$config" > "$file"
gcloud ai hp-tuning-jobs create --display-name="$name" --region="$region" --config="$file" \
  --max-trial-count=12 --parallel-trial-count=3
