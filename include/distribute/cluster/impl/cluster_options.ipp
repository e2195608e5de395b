#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/detail/tls.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void read_tls(ClusterOptions& options) {
  const Environment variables;
  options.tls = variables.flag("DISTRIBUTE_TLS", options.tls);
  options.tls_certificate_file = variables.text("DISTRIBUTE_TLS_CERT");
  options.tls_key_file = variables.text("DISTRIBUTE_TLS_KEY");
  options.tls_ca_file = variables.text("DISTRIBUTE_TLS_CA");
}

/// Returns DISTRIBUTE_BIND_ADDRESS; "" if it is not set.
DISTRIBUTE_INLINE std::string bind_address_of_environment() {
  std::string text = Environment().text("DISTRIBUTE_BIND_ADDRESS");
  if (text.empty()) return text;
  if (const auto address = net::parse_address(text); !address.ok())
    throw InvalidArgumentError(str_cat("DISTRIBUTE_BIND_ADDRESS: ", address.status().message()));
  return text;
}

DISTRIBUTE_INLINE ClusterOptions read_cluster_options() {
  ClusterOptions options;
  const Environment variables;
  variables.read_seconds("DISTRIBUTE_STARTUP_TIMEOUT", options.startup_timeout);
  variables.read_seconds("DISTRIBUTE_REPORT_INTERVAL", options.report_interval);
  variables.read_seconds("DISTRIBUTE_HEARTBEAT_INTERVAL", options.heartbeat_interval);
  variables.read_seconds("DISTRIBUTE_LOST_AFTER", options.lost_after);
  variables.read_seconds("DISTRIBUTE_HANDSHAKE_TIMEOUT", options.handshake_timeout);
  variables.read_seconds("DISTRIBUTE_SHUTDOWN_TIMEOUT", options.shutdown_timeout);
  variables.read_seconds("DISTRIBUTE_OPERATION_TIMEOUT", options.operation_timeout);
  variables.read("DISTRIBUTE_MAX_MESSAGE_BYTES", int64_t{65536}, int64_t{1} << 31,
                 options.max_message_bytes);
  variables.read("DISTRIBUTE_MAX_UNAUTHENTICATED", 1, 65536, options.max_unauthenticated);
  options.bind_address = bind_address_of_environment();
  options.insecure = variables.flag("DISTRIBUTE_INSECURE", options.insecure);
  read_tls(options);
  options.job_token = value_or_throw(net::job_token_from_environment());
  for (const char* set_by_launcher :
       {"DISTRIBUTE_LOCAL_RANK", "DISTRIBUTE_LOCAL_SIZE", "DISTRIBUTE_RESTART_COUNT"})
    (void)variables.integer(set_by_launcher);
  check_options(options);
  return options;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ClusterOptions ClusterOptions::from_environment() {
  return base_internal::reading_usage(cluster_internal::read_cluster_options);
}

DISTRIBUTE_INLINE void ClusterOptions::print(const std::string& line) const {
  if (log) return log(line);
  log_info("cluster", line);
}

DISTRIBUTE_INLINE std::shared_ptr<const net::TlsContext> make_tls(const ClusterOptions& options,
                                                                  const std::string& name) {
  if (!options.tls) return nullptr;
  return value_or_throw(net::TlsContext::make({.name = name,
                                               .token = options.job_token,
                                               .certificate_file = options.tls_certificate_file,
                                               .key_file = options.tls_key_file,
                                               .ca_file = options.tls_ca_file}));
}

DISTRIBUTE_INLINE void check_options(const ClusterOptions& options) {
  for (const double seconds :
       {options.startup_timeout, options.report_interval, options.heartbeat_interval,
        options.lost_after, options.handshake_timeout, options.shutdown_timeout,
        options.operation_timeout})
    if (!(seconds > 0 && seconds <= 1e7))
      throw InvalidArgumentError(
          str_cat("cluster options: a time of ", seconds, " s; wanted 0.001 to 1e7"));
  if (options.lost_after < 2 * options.heartbeat_interval)
    throw InvalidArgumentError(
        str_cat("cluster options: a task would be lost after ", options.lost_after,
                " s of silence (DISTRIBUTE_LOST_AFTER) while heartbeats come every ",
                options.heartbeat_interval,
                " s (DISTRIBUTE_HEARTBEAT_INTERVAL); wanted at least two heartbeats"));
  throw_if_error(net::check_job_token(options.job_token, "ClusterOptions::job_token"));
  const bool files = !options.tls_certificate_file.empty() || !options.tls_key_file.empty() ||
                     !options.tls_ca_file.empty();
  if (files && !options.tls)
    throw InvalidArgumentError(
        "cluster options: there are certificates (DISTRIBUTE_TLS_CERT, _KEY, _CA), but nothing is "
        "encrypted: set DISTRIBUTE_TLS=1 or unset them");
}

DISTRIBUTE_INLINE ElasticOptions ElasticOptions::from_environment() {
  ElasticOptions limits;
  const Environment variables;
  variables.read("DISTRIBUTE_MIN_WORKERS", 0, 1'000'000, limits.min_workers);
  variables.read("DISTRIBUTE_MAX_WORKERS", 0, 1'000'000, limits.max_workers);
  return limits;
}

DISTRIBUTE_INLINE void check_elastic(const ElasticOptions& options, const ClusterPlace& place) {
  if (!place.alone || place.task_type == TaskType::Evaluator || options.min_workers < 2) return;
  throw InvalidArgumentError(
      str_cat("an elastic job needs at least ", options.min_workers,
              " workers (min_workers), but the environment names no other task: start with "
              "distribute run -np N --min-np ",
              options.min_workers, ", or set TF_CONFIG"));
}

}  // namespace distribute

namespace distribute::cluster_internal {

/// Returns the line of `text` that contains the character at `place`; "nothing" behind its end.
DISTRIBUTE_INLINE std::string line_at(const std::string& text, size_t place) {
  const size_t begin = place ? text.rfind('\n', place - 1) + 1 : 0;
  if (begin >= text.size()) return "nothing";
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string options_text(const AgreedOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) text += name + "=" + value + "\n";
  return text;
}

DISTRIBUTE_INLINE std::string agreed_json(const AgreedOptions& options) {
  nlohmann::json all = options;
  all["version of distribute"] = kVersion;
  return json_text(all);
}

DISTRIBUTE_INLINE void check_same_options(const char* tasks, const OptionsOfTask& one,
                                          const OptionsOfTask& other) {
  const std::string &a = one.options, &b = other.options;
  if (a == b) return;
  const size_t place =
      size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  throw FailedPreconditionError(str_cat("the ", tasks,
                                        " were started with different flags: ", one.task, " has ",
                                        cluster_internal::line_at(a, place), ", ", other.task, " ",
                                        cluster_internal::line_at(b, place)));
}

}  // namespace distribute
