#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/net/address.hpp>
#include <distribute/platforms/make_cluster.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace distribute::cluster_internal {

/// Splits an entry into host and port, if it has one. The name goes into shell scripts unchanged.
DISTRIBUTE_INLINE std::pair<std::string, std::optional<int>> split_entry(const std::string& entry,
                                                                         const std::string& job) {
  const size_t colon = entry.rfind(':');
  const bool bracket = !entry.empty() && entry.front() == '[';
  const bool has_port =
      colon != std::string::npos && (bracket ? entry[colon - 1] == ']' : entry.find(':') == colon);
  std::string host = has_port ? entry.substr(0, colon) : entry;
  if (bracket && host.size() > 2 && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::optional<int> port;
  if (has_port) {
    port = untrusted::parse_int(entry.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535)
      throw InvalidArgumentError(str_cat("--", job, ": ", untrusted::shown(entry),
                                         ": a port is a number from 1 to 65535"));
  }
  const bool good = !host.empty() && host.front() != '-' &&
                    host.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789._:-") == std::string::npos;
  if (!good)
    throw InvalidArgumentError(
        str_cat("--", job, ": ", untrusted::shown(entry), " is not HOST or HOST:PORT"));
  return {host, port};
}

/// Assigns ports to the tasks of a cluster.
class AddressBook {
 public:
  explicit AddressBook(int port) : port_(port) {}
  /// Gives the job's addresses; call reserve() for all jobs first.
  std::vector<std::string> addresses(const std::string& job, const std::vector<std::string>& hosts);
  void reserve(const std::string& job, const std::vector<std::string>& hosts);

 private:
  int port_;
  std::map<std::string, std::string> owners_;  // the task of each address, such as "worker 1"
};

DISTRIBUTE_INLINE void AddressBook::reserve(const std::string& job,
                                            const std::vector<std::string>& hosts) {
  std::set<std::string> portless;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const auto [host, port] = split_entry(hosts[i], job);
    if (!port && !portless.insert(host).second)
      throw InvalidArgumentError(str_cat(
          "--", job, ": host ", untrusted::shown(host), " is named twice; for ",
          "two tasks on it give both a port: ", host, ":", port_, ",", host, ":", port_ + 1));
    if (!port) continue;
    const std::string task = str_cat(job, " ", i);
    const auto [owner, is_new] = owners_.emplace(net::join_host_port(host, *port), task);
    if (!is_new)
      throw InvalidArgumentError(
          str_cat(owner->second, " and ", task, " have the same address, ", owner->first));
  }
}

DISTRIBUTE_INLINE std::vector<std::string> AddressBook::addresses(
    const std::string& job, const std::vector<std::string>& hosts) {
  std::vector<std::string> result;
  for (const std::string& entry : hosts) {
    const auto [host, port] = split_entry(entry, job);
    int number = port.value_or(port_);
    if (!port)
      while (!owners_.emplace(net::join_host_port(host, number), job).second) ++number;
    result.push_back(net::join_host_port(host, number));
  }
  return result;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string host_of_address(const std::string& address) {
  return cluster_internal::split_entry(address, "cluster").first;
}

DISTRIBUTE_INLINE ClusterSpec make_cluster(const ClusterHosts& hosts) {
  const std::pair<const char*, const std::vector<std::string>*> jobs[] = {
      {"chief", &hosts.chief},
      {"worker", &hosts.worker},
      {"ps", &hosts.ps},
      {"evaluator", &hosts.evaluator}};
  if (hosts.port < 1 || hosts.port > 65535)
    throw InvalidArgumentError(str_cat("--port must be from 1 to 65535, not ", hosts.port));
  if (hosts.chief.empty() && hosts.worker.empty())
    throw InvalidArgumentError("a cluster needs a chief or a worker");
  if (hosts.chief.size() > 1)
    throw InvalidArgumentError(str_cat("a cluster has one chief, not ", hosts.chief.size()));
  if (hosts.evaluator.size() > 1)
    throw InvalidArgumentError(
        str_cat("a cluster has one evaluator, not ", hosts.evaluator.size()));
  cluster_internal::AddressBook book(hosts.port);
  for (const auto& [job, entries] : jobs) book.reserve(job, *entries);
  ClusterSpec::Jobs result;
  for (const auto& [job, entries] : jobs)
    if (!entries->empty()) result.emplace(job, book.addresses(job, *entries));
  return ClusterSpec(std::move(result));
}

DISTRIBUTE_INLINE ClusterHosts deal_roles(const std::vector<std::string>& hosts, HostRoles roles) {
  const auto wanted = size_t(roles.chiefs) + size_t(roles.ps) + size_t(roles.evaluators);
  if (roles.chiefs < 0 || roles.ps < 0 || roles.evaluators < 0 || hosts.size() < wanted ||
      (hosts.size() == wanted && roles.chiefs == 0))
    throw InvalidArgumentError(str_cat("there are ", hosts.size(), " hosts: too few for ",
                                       roles.chiefs, " chief(s), ", roles.ps, " ps, ",
                                       roles.evaluators, " evaluator(s) and at least one worker"));
  ClusterHosts result;
  auto next = hosts.begin();
  const auto take = [&](std::vector<std::string>& job, int64_t count) {
    job.assign(next, next + count);
    next += count;
  };
  take(result.chief, roles.chiefs);
  take(result.ps, roles.ps);
  take(result.worker, (hosts.end() - next) - roles.evaluators);
  take(result.evaluator, roles.evaluators);
  return result;
}

DISTRIBUTE_INLINE std::vector<std::string> hosts_of_slurm(const Environment& variables) {
  for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"})
    if (const auto list = variables(name); list && !list->empty()) return expand_hostlist(*list);
  throw FailedPreconditionError(
      "SLURM_JOB_NODELIST is not set: run this inside of an allocation (sbatch or salloc)");
}

DISTRIBUTE_INLINE std::vector<std::string> hosts_of_emr(std::string_view json,
                                                        const std::string& source) {
  using namespace cluster_internal;
  const untrusted::JsonValue root = untrusted::parse_json(json, source);
  const untrusted::JsonValue* instances = untrusted::object_of(root, source).find("Instances");
  if (!instances || !instances->is_array())
    throw InvalidArgumentError(
        source + ": there is no list `Instances`; is it what \"aws emr list-instances\" prints?");
  std::vector<std::string> hosts;
  for (const untrusted::JsonValue& instance : instances->items) {
    const std::string place =
        str_cat(source, ": Instances[", &instance - instances->items.data(), "]");
    const untrusted::JsonValue* status = untrusted::object_of(instance, place).find("Status");
    const untrusted::JsonValue* state = status ? status->find("State") : nullptr;
    if (state && untrusted::string_of(*state, place + ": Status.State") != "RUNNING") continue;
    const untrusted::JsonValue* name = instance.find("PrivateDnsName");
    if (!name) name = instance.find("PrivateIpAddress");
    if (!name)
      throw InvalidArgumentError(place + " has neither PrivateDnsName nor PrivateIpAddress");
    hosts.push_back(untrusted::string_of(*name, place + ": its name"));
  }
  if (hosts.empty())
    throw InvalidArgumentError(
        str_cat(source, ": none of ", instances->items.size(), " instance(s) is RUNNING"));
  return hosts;
}

DISTRIBUTE_INLINE std::string tf_config_of(const ClusterSpec& cluster, const std::string& type,
                                           int index) {
  ClusterSpec::Jobs jobs = cluster.as_dict();
  jobs.erase("evaluator");
  nlohmann::ordered_json config;
  config["cluster"] = ordered_json_of(ClusterSpec(std::move(jobs)).to_json());
  config["task"] = {{"type", type}, {"index", index}};
  return json_text(config);
}

}  // namespace distribute
