# What custom_job.sh and tuning_job.sh share; to be sourced. Variables, all optional:
#   WORKERS, SERVERS, EVALUATORS    replicas of pools 1, 2 and 3, beside the chief of pool 0
#   MACHINE                         machine type, n2-standard-8
#   ACCELERATOR                     cards of each machine but the servers', such as NVIDIA_L4:1 or
#                                   NVIDIA_TESLA_T4:2, which take a MACHINE that offers them
#                                   (g2-standard-8, n1-standard-8)
#   SERVER_MACHINE                  machine type of the servers, which get no cards: MACHINE, or
#                                   n2-standard-8 beside an ACCELERATOR

# One secret for the replicas of the job. Every account that may describe the job can read it.
token=$(openssl rand -hex 32)

# A list for YAML and JSON of the words that are given.
list() {
  local text="" word
  for word; do
    word=${word//\\/\\\\}
    text+="${text:+, }\"${word//\"/\\\"}\""
  done
  echo "[$text]"
}

# machine NUMBER: the machines of a pool. Pool 2 has the servers, which compute on their CPUs.
machine() {
  local type=${MACHINE:-n2-standard-8} cards=${ACCELERATOR:-}
  if [ "$1" = 2 ]; then
    [ -z "$cards" ] || type=n2-standard-8
    type=${SERVER_MACHINE:-$type} cards=""
  fi
  echo "machineType: $type${cards:+, acceleratorType: ${cards%:*}, acceleratorCount: ${cards##*:}}"
}

# pool INDENT NUMBER REPLICAS FLAGS...
pool() {
  local indent=$1 number=$2 replicas=$3
  shift 3
  sed "s/^/$indent/" << END
- machineSpec: {$(machine "$number")}
  replicaCount: $replicas
  containerSpec:
    imageUri: $image
    args: $(list "$@")
    env:
      - {name: DISTRIBUTE_JOB_TOKEN, value: "$token"}
END
}

# pools INDENT WORKERS FLAGS...: the chief's pool and those behind it, where a later one asks for them; an
# empty pool keeps its place.
pools() {
  local indent=$1 number
  local counts=(1 "$2" "${SERVERS:-0}" "${EVALUATORS:-0}") last=0
  shift 2
  for number in 1 2 3; do [ "${counts[number]}" = 0 ] || last=$number; done
  for ((number = 0; number <= last; ++number)); do
    if [ "${counts[number]}" = 0 ]; then echo "$indent- {}"; else pool "$indent" $number "${counts[number]}" "$@"; fi
  done
}

# submit CONFIGURATION COMMAND...: gcloud ai COMMAND; with PRINT=1 it prints the configuration instead.
submit() {
  local config=$1 file
  shift
  if [ "${PRINT:-0}" = 1 ]; then
    echo "$config"
    return
  fi
  file=$(mktemp)
  trap 'rm -f "$file"' EXIT
  echo "$config" > "$file"
  gcloud ai "$@" --display-name="$name" --region="$region" --config="$file"
}
