#!/usr/bin/env bash
# A bootstrap action of EMR, run on every node: fetches the archive of `distribute pack` and the job's
# secret from S3.
#   aws emr create-cluster ... --bootstrap-actions Path=s3://BUCKET/bootstrap.sh,Args=[s3://BUCKET/bin]
# A status other than 0 ends the cluster, so it says what went wrong.
set -euo pipefail

source=${1:?bootstrap.sh S3_FOLDER}
target=${DISTRIBUTE_HOME:-/home/hadoop/distribute}
mkdir -p "$target"
for file in job.tar.gz token; do
  if ! aws s3 cp --only-show-errors "$source/$file" "$target/$file"; then
    echo "bootstrap.sh: cannot fetch $source/$file" >&2
    exit 1
  fi
done
tar -xzf "$target/job.tar.gz" -C "$target" --strip-components=1
rm "$target/job.tar.gz"
chmod 600 "$target/token"
