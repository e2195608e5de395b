#!/usr/bin/env bash
# Starts a training job of SageMaker: create_training_job.sh NAME IMAGE ROLE_ARN S3_PREFIX
# IMAGE is the target `sagemaker` of container/Dockerfile in ECR; S3_PREFIX is s3://bucket/folder.
# With PRINT=1 it prints the request instead.
set -euo pipefail

usage="create_training_job.sh NAME IMAGE ROLE_ARN s3://BUCKET/FOLDER"
name=${1:?$usage} image=${2:?$usage} role=${3:?$usage} prefix=${4:?$usage}
# One secret for the hosts of the job. Every account that may describe the job can read it.
token=$(openssl rand -hex 32)

request=$(cat << END
{
  "TrainingJobName": "$name",
  "AlgorithmSpecification": {
    "TrainingImage": "$image",
    "TrainingInputMode": "File",
    "MetricDefinitions": [
      {"Name": "loss", "Regex": "[^_]loss=([0-9.e+-]+)"},
      {"Name": "test_accuracy", "Regex": "test_accuracy=([0-9.e+-]+)"}
    ]
  },
  "RoleArn": "$role",
  "HyperParameters": {
    "strategy": "multi_worker", "epochs": "3", "learning_rate": "0.001", "metric_lines": "true"
  },
  "Environment": {"DISTRIBUTE_JOB_TOKEN": "$token"},
  "OutputDataConfig": {"S3OutputPath": "$prefix/output"},
  "CheckpointConfig": {"S3Uri": "$prefix/checkpoints/$name"},
  "ResourceConfig": {
    "InstanceType": "ml.c6i.4xlarge", "InstanceCount": ${INSTANCES:-3}, "VolumeSizeInGB": 30
  },
  "EnableManagedSpotTraining": true,
  "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200}
}
END
)
if [ "${PRINT:-0}" = 1 ]; then
  echo "$request"
else
  aws sagemaker create-training-job --cli-input-json "$request"
fi
