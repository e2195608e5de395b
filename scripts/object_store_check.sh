#!/usr/bin/env bash
# Runs the tests tagged [object_store] against real servers on loopback ports, each started, filled
# with a bucket and stopped again:
#   moto    moto_server from PATH or in $MOTO_SERVER (PyPI: moto[s3,server]); with a token service
#   moto_tls   the same behind https, with a certificate that only S3_CA_FILE vouches for
#   gcs     gcp-storage-emulator from PATH or in $GCP_STORAGE_EMULATOR (PyPI), without tokens
#   swift   OpenStack Swift's S3 interface (Debian: python3-swift), which checks every signature
# A server that is not installed is skipped and said so.
# Usage: scripts/object_store_check.sh [build folder, such as build/release] [server...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
shift || true
servers=("$@")
[ $# -gt 0 ] || servers=(moto moto_tls gcs swift)
request="$PWD/scripts/s3_request.py"

work=$(mktemp -d)
pids=()
stop_servers() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2> /dev/null || true
  [ ${#pids[@]} -eq 0 ] || wait "${pids[@]}" 2> /dev/null || true
  pids=()
}
trap 'stop_servers; rm -rf "$work"' EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# make_bucket URL: as soon as the server answers, within half a minute
make_bucket() {
  for _ in $(seq 60); do
    python3 "$request" PUT "$1" > /dev/null 2> "$work/last" && return
    sleep 0.5
  done
  echo "object_store_check: no bucket at $1: $(cat "$work/last")" >&2
  return 1
}

# run_tests NAME: with the server's settings in the environment
run_tests() {
  for binary in test_io test_checkpoint; do
    [ -x "$build/bin/$binary" ] || { echo "object_store_check: no $build/bin/$binary" >&2; exit 1; }
    echo "== $1: $binary"
    DISTRIBUTE_OBJECT_STORE_URL=${url} AWS_EC2_METADATA_DISABLED=true \
      AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null \
      S3_MULTI_PART_UPLOAD_CHUNK_SIZE=$((5 << 20)) "$build/bin/$binary" "[object_store]"
  done
}

# start_moto SCHEME [option...]: sets url and the client's settings; 1 where there is no moto
start_moto() {
  local moto=${MOTO_SERVER:-$(command -v moto_server || true)} scheme=$1 port
  if [ -z "$moto" ]; then
    echo "== moto: skipped, no moto_server (pip install 'moto[s3,server]')"
    return 1
  fi
  port=$(free_port)
  "$moto" -H 127.0.0.1 -p "$port" "${@:2}" > "$work/moto.log" 2>&1 &
  pids+=($!)
  export S3_ENDPOINT=$scheme://127.0.0.1:$port AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret
  export AWS_REGION=us-east-1 url=s3://bucket
}

check_moto() {
  start_moto http || return 0
  make_bucket "$S3_ENDPOINT/bucket"
  AWS_ENDPOINT_URL_STS=$S3_ENDPOINT run_tests moto
  stop_servers
}

check_moto_tls() {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2> /dev/null
  start_moto https -c "$work/cert.pem" -k "$work/key.pem" || return 0
  SSL_CERT_FILE=$work/cert.pem make_bucket "$S3_ENDPOINT/bucket"
  S3_CA_FILE=$work/cert.pem run_tests "moto over TLS"
  stop_servers
}

check_gcs() {
  local emulator=${GCP_STORAGE_EMULATOR:-$(command -v gcp-storage-emulator || true)}
  if [ -z "$emulator" ]; then
    echo "== gcs: skipped, no gcp-storage-emulator (pip install gcp-storage-emulator)"
    return
  fi
  local port
  port=$(free_port)
  "$emulator" start --host=127.0.0.1 --port="$port" --in-memory --default-bucket=bucket \
    > "$work/gcs.log" 2>&1 &
  pids+=($!)
  for _ in $(seq 60); do
    curl -sf "http://127.0.0.1:$port/storage/v1/b/bucket" > /dev/null && break
    sleep 0.5
  done
  url=gs://bucket STORAGE_EMULATOR_HOST=127.0.0.1:$port run_tests gcs
  stop_servers
}

# swift_config FOLDER: what four servers on one machine need; the ports are in ports[]
swift_config() {
  local kind
  mkdir -p "$1/srv/d1" "$1/rings"
  cat > "$1/swift.conf" << END
[swift-hash]
swift_hash_path_prefix = a
swift_hash_path_suffix = b
[swift-constraints]
[storage-policy:0]
name = p0
default = yes
END
  for kind in object container account; do
    local ring="/usr/bin/python3 $1/rings.py $1/rings/$kind.builder"
    $ring create 4 1 0 > /dev/null
    $ring add "r1z1-127.0.0.1:${ports[$kind]}/d1" 1 > /dev/null
    $ring rebalance > /dev/null
    cat > "$1/$kind.conf" << END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${ports[$kind]}
devices = $1/srv
mount_check = false
swift_dir = $1/rings
user = $(id -un)
workers = 0
log_level = WARNING
[pipeline:main]
pipeline = $kind-server
[app:$kind-server]
use = egg:swift#$kind
END
  done
  cat > "$1/proxy.conf" << END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${ports[proxy]}
swift_dir = $1/rings
user = $(id -un)
workers = 0
log_level = WARNING
[pipeline:main]
pipeline = catch_errors gatekeeper cache s3api tempauth bulk slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
END
  for kind in catch_errors gatekeeper bulk slo dlo; do
    printf '[filter:%s]\nuse = egg:swift#%s\n' $kind $kind >> "$1/proxy.conf"
  done
}

check_swift() {
  if ! /usr/bin/python3 -c 'import swift, eventlet' 2> /dev/null; then
    echo "== swift: skipped, no Swift (apt-get install --no-install-recommends python3-swift)"
    return
  fi
  local folder="$work/swift" kind
  declare -A ports
  for kind in object container account proxy; do ports[$kind]=$(free_port); done
  mkdir -p "$folder"
  cat > "$folder/rings.py" << 'END'
import sys
from swift.cli.ringbuilder import main
main(['swift-ring-builder'] + sys.argv[1:])
END
  cat > "$folder/run.py" << 'END'
import sys, eventlet
eventlet.monkey_patch()
import swift.common.utils as utils
utils.SWIFT_CONF_FILE = sys.argv[3]  # before the servers are imported
import swift.common.storage_policy
from swift.common.wsgi import run_wsgi
kind, conf = sys.argv[1:3]
more = {}
if kind == 'object':
    from swift.obj.server import global_conf_callback
    more = {'global_conf_callback': global_conf_callback}
sys.exit(run_wsgi(conf, kind + '-server', **more))
END
  swift_config "$folder"
  for kind in object container account proxy; do
    /usr/bin/python3 "$folder/run.py" $kind "$folder/$kind.conf" "$folder/swift.conf" \
      > "$folder/$kind.log" 2>&1 &
    pids+=($!)
  done
  export S3_ENDPOINT=http://127.0.0.1:${ports[proxy]} AWS_ACCESS_KEY_ID=test:tester
  export AWS_SECRET_ACCESS_KEY=testing AWS_REGION=us-east-1
  make_bucket "$S3_ENDPOINT/bucket"
  url=s3://bucket
  DISTRIBUTE_OBJECT_STORE_CHECKS_KEYS=1 run_tests swift
  stop_servers
}

for server in "${servers[@]}"; do "check_$server"; done
