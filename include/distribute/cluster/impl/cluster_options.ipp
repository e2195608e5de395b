#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/net/job_token.hpp>

#include <cstdlib>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void read_switch(const char* name, bool& value) {
  const char* text = std::getenv(name);
  if (!text || !*text) return;
  const std::string_view word(text);
  if (word != "0" && word != "1")
    throw InvalidArgumentError(concat(name, "=", text, ": wanted 0 or 1"));
  value = word == "1";
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ClusterOptions ClusterOptions::from_environment() {
  using namespace cluster_internal;
  ClusterOptions options;
  read_seconds("DISTRIBUTE_STARTUP_TIMEOUT", options.startup_timeout);
  read_seconds("DISTRIBUTE_REPORT_INTERVAL", options.report_interval);
  read_seconds("DISTRIBUTE_HEARTBEAT_INTERVAL", options.heartbeat_interval);
  read_seconds("DISTRIBUTE_LOST_AFTER", options.lost_after);
  read_seconds("DISTRIBUTE_HANDSHAKE_TIMEOUT", options.handshake_timeout);
  read_seconds("DISTRIBUTE_SHUTDOWN_TIMEOUT", options.shutdown_timeout);
  read_seconds("DISTRIBUTE_OPERATION_TIMEOUT", options.operation_timeout);
  read_limit("DISTRIBUTE_MAX_MESSAGE_BYTES", int64_t{65536}, int64_t{1} << 31,
             options.max_message_bytes);
  read_limit("DISTRIBUTE_MAX_UNAUTHENTICATED", 1, 65536, options.max_unauthenticated);
  if (const char* address = std::getenv("DISTRIBUTE_BIND_ADDRESS")) options.bind_address = address;
  read_switch("DISTRIBUTE_INSECURE", options.insecure);
  options.job_token = value_or_throw(net::job_token_from_environment());
  check_options(options);
  return options;
}

DISTRIBUTE_INLINE void ClusterOptions::print(const std::string& line) const {
  if (log) return log(line);
  log_info("cluster", line);
}

DISTRIBUTE_INLINE void check_options(const ClusterOptions& options) {
  for (const double seconds :
       {options.startup_timeout, options.report_interval, options.heartbeat_interval,
        options.lost_after, options.handshake_timeout, options.shutdown_timeout,
        options.operation_timeout})
    if (!(seconds > 0 && seconds <= 1e7))
      throw InvalidArgumentError(
          concat("cluster options: a time of ", seconds, " s; wanted 0.001 to 1e7"));
  if (options.lost_after < 2 * options.heartbeat_interval)
    throw InvalidArgumentError(
        concat("cluster options: a task would be lost after ", options.lost_after,
               " s of silence (DISTRIBUTE_LOST_AFTER) while heartbeats come every ",
               options.heartbeat_interval,
               " s (DISTRIBUTE_HEARTBEAT_INTERVAL); wanted at least two heartbeats"));
}

}  // namespace distribute
