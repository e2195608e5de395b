#!/usr/bin/env bash
# Starts a custom job of Vertex AI: custom_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER
# IMAGE is the target `cpu` of container/Dockerfile in Artifact Registry. Pool 0 is the chief, pool 1
# the workers. With PRINT=1 it prints the configuration instead.
set -euo pipefail

usage="custom_job.sh NAME REGION IMAGE gs://BUCKET/FOLDER"
name=${1:?$usage} region=${2:?$usage} image=${3:?$usage} folder=${4:?$usage}
# One secret for the replicas of the job. Every account that may describe the job can read it.
token=$(openssl rand -hex 32)

pool() { # NUMBER OF REPLICAS
  cat << END
  - machineSpec: {machineType: n2-standard-8}
    replicaCount: $1
    containerSpec:
      imageUri: $image
      args: [--strategy=multi_worker, --epochs=3, --metric_lines]
      env:
        - {name: DISTRIBUTE_JOB_TOKEN, value: "$token"}
END
}
config="workerPoolSpecs:
$(pool 1)
$(pool "${WORKERS:-2}")
baseOutputDirectory: {outputUriPrefix: $folder}"

if [ "${PRINT:-0}" = 1 ]; then
  echo "$config"
  exit
fi
file=$(mktemp)
trap 'rm -f "$file"' EXIT
echo "$config" > "$file"
gcloud ai custom-jobs create --display-name="$name" --region="$region" --config="$file"
