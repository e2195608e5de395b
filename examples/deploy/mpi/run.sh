#!/usr/bin/env bash
# Starts the trainer on hosts with mpirun: run.sh host-a:1,host-b:1,host-c:1 [flags]
# MPIRUN may hold flags as well: MPIRUN="mpirun --mca btl ^openib".
set -euo pipefail

hosts=${1:?run.sh HOST:SLOTS,... [flags of the trainer]}
shift
program=${PROGRAM:-build/release/bin/mnist_cnn}
ranks=0
for host in ${hosts//,/ }; do
  slots=1
  [[ $host == *:* ]] && slots=${host##*:}
  ranks=$((ranks + slots))
done
first=${hosts%%,*}

DISTRIBUTE_JOB_TOKEN=$(openssl rand -hex 32)
export DISTRIBUTE_JOB_TOKEN
# mpirun tells ranks, not addresses: rank 0 runs on the first host.
read -ra mpirun <<< "${MPIRUN:-mpirun}"
# Open MPI refuses root, who is the user of most containers, unless told.
if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
exec "${mpirun[@]}" -np "$ranks" --host "$hosts" --map-by slot -x DISTRIBUTE_JOB_TOKEN \
  -x MASTER_ADDR="${first%%:*}" "$program" --strategy=multi_worker "$@"
