#!/usr/bin/env bash
# A step of EMR: trains on the core nodes, with checkpoints and TensorBoard's files on S3.
#   aws emr add-steps --cluster-id j-... --steps Type=CUSTOM_JAR,Name=mnist,Jar=command-runner.jar,\
#     Args=[bash,-c,"aws s3 cp s3://BUCKET/step.sh . && bash step.sh j-... s3://BUCKET/runs/1"]
# A chief and parameter servers: SERVERS=1 CHIEFS=1 bash step.sh ... --strategy=parameter_server
# PROGRAM names another program of the archive than mnist_cnn; the archive's data is its --data_dir.
# The nodes need ssh among each other for user hadoop, or DISTRIBUTE_SSH with another way.
set -euo pipefail

cluster=${1:?step.sh CLUSTER_ID S3_FOLDER [flags]} folder=${2:?step.sh CLUSTER_ID S3_FOLDER [flags]}
shift 2
home=${DISTRIBUTE_HOME:-/home/hadoop/distribute}
data=
if [ -d "$home/data" ]; then data=--data_dir=$home/data; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

aws emr list-instances --cluster-id "$cluster" --instance-group-types CORE > "$work/instances.json"
"$home/distribute" cluster make --emr "$work/instances.json" --boot-script "$work/boot.sh" \
  --chiefs "${CHIEFS:-0}" --servers "${SERVERS:-0}" > "$work/tf_config.sh"
hosts_of() { # ROLE
  sed -n "s/^# \([^:]*\): $1 .*/\1/p" "$work/tf_config.sh" | tr '\n' ' '
}
hosts="$(hosts_of ps)$(hosts_of chief)$(hosts_of worker)"
echo "workers: $(hosts_of worker) servers: $(hosts_of ps) chief: $(hosts_of chief)"

# The same script on every node; it knows which task it is.
pids=
for host in $hosts; do
  ${DISTRIBUTE_SSH:-ssh -o StrictHostKeyChecking=accept-new} "$host" \
    "cat > boot.sh && DISTRIBUTE_JOB_TOKEN_FILE=$home/token exec sh boot.sh --host $host \
    $home/${PROGRAM:-mnist_cnn} $data --checkpoint_dir=$folder/checkpoints --logdir=$folder/logs $*" \
    < "$work/boot.sh" &
  pids="$pids $!"
done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
exit $status
