#!/usr/bin/env bash
# A bootstrap action of EMR, run on every node: fetches the programs and the job's secret from S3.
#   aws emr create-cluster ... --bootstrap-actions Path=s3://BUCKET/bootstrap.sh,Args=[s3://BUCKET/bin]
# A status other than 0 ends the cluster, so it says what went wrong.
set -euo pipefail

source=${1:?bootstrap.sh S3_FOLDER}
target=/home/hadoop/distribute
mkdir -p "$target"
for file in mnist_cnn distribute token; do
  if ! aws s3 cp --only-show-errors "$source/$file" "$target/$file"; then
    echo "bootstrap.sh: cannot fetch $source/$file" >&2
    exit 1
  fi
done
chmod 755 "$target/mnist_cnn" "$target/distribute"
chmod 600 "$target/token"
