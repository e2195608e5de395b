#pragma once
#include <distribute/base/error.hpp>
#include <distribute/platforms/make_cluster.hpp>

#include <map>

namespace distribute::cluster_internal {

// clang-format off
inline constexpr const char* kBootBegin = R"sh(#!/bin/sh
# Made by "distribute cluster make": starts the tasks of the host it runs on.
# Usage: sh boot.sh [--host NAME] PROGRAM [ARGUMENTS]
set -eu

names="$(hostname) $(hostname -s 2>/dev/null || :) $(hostname -f 2>/dev/null || :)"
names="$names $(hostname -I 2>/dev/null || :)"
if [ "${1:-}" = --host ]; then
  names="${2:?--host needs a name}"
  shift 2
fi
if [ $# -eq 0 ]; then
  echo "usage: sh $0 [--host NAME] PROGRAM [ARGUMENTS]" >&2
  exit 2
fi
if [ -z "${DISTRIBUTE_JOB_TOKEN:-}${DISTRIBUTE_JOB_TOKEN_FILE:-}" ] &&
   [ "${DISTRIBUTE_INSECURE:-0}" != 1 ]; then
  echo "$0: no job token: put one secret on all hosts and name its file in" \
       "DISTRIBUTE_JOB_TOKEN_FILE" >&2
  exit 2
fi

tasks_of() {
  case "$1" in
)sh";

inline constexpr const char* kBootConfigs = R"sh(  esac
}

config_of() {
  case "$1" in
)sh";

inline constexpr const char* kBootEnd = R"sh(  esac
}

tasks=
for name in $names; do
  tasks=$(tasks_of "$name")
  if [ -n "$tasks" ]; then break; fi
done
if [ -z "$tasks" ]; then
  echo "$0: this host ($names) is not one of the cluster's; say which one with --host" >&2
  exit 2
fi

set_config() {
  TF_CONFIG=$(config_of "$1")
  export TF_CONFIG
}
if [ "${tasks#* }" = "$tasks" ]; then
  set_config "$tasks"
  exec "$@"
fi

# Several tasks: a signal goes to all, and the first failure is the script's status.
pids=
trap 'kill $pids 2>/dev/null || :' TERM INT
for task in $tasks; do
  set_config "$task"
  "$@" &
  pids="$pids $!"
done
status=0
for pid in $pids; do
  code=0
  wait "$pid" || code=$?
  while kill -0 "$pid" 2>/dev/null; do  # a signal had ended the wait
    code=0
    wait "$pid" || code=$?
  done
  if [ $status -eq 0 ]; then status=$code; fi
done
exit $status
)sh";
// clang-format on

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string boot_script(const ClusterSpec& cluster) {
  std::map<std::string, std::string> tasks_of_host;
  std::string configs;
  int number = 0;
  for (const auto& [job, tasks] : cluster.as_dict())
    for (const auto& [index, address] : tasks.by_index()) {
      std::string& list = tasks_of_host[host_of_address(address)];
      list += str_cat(list.empty() ? "" : " ", number);
      configs += str_cat("    ", number, ") cat <<'END'\n", tf_config_of(cluster, job, index),
                         "\nEND\n      ;;  # ", job, " ", index, "\n");
      ++number;
    }
  std::string hosts;
  for (const auto& [host, list] : tasks_of_host)
    hosts += str_cat("    '", host, "') echo '", list, "' ;;\n");
  return cluster_internal::kBootBegin + hosts + cluster_internal::kBootConfigs + configs +
         cluster_internal::kBootEnd;
}

}  // namespace distribute
