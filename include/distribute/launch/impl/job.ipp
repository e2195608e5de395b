#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/launch/detail/job_token.hpp>
#include <distribute/launch/launcher.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

namespace distribute::launch {

DISTRIBUTE_INLINE ReservedPort::ReservedPort(int wanted)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(wanted));
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  // The options are set once the port is ours: with them a port in use would be given to us too.
  const int on = 1;
  if (::bind(socket_.native(), generic, size) != 0 ||
      ::setsockopt(socket_.native(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::setsockopt(socket_.native(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0 ||
      ::getsockname(socket_.native(), generic, &size) != 0)
    throw UnavailableError(str_cat("cannot reserve ", wanted ? "port " : "a port",
                                   wanted ? std::to_string(wanted) : "",
                                   " of 127.0.0.1: ", std::strerror(errno)));
  number_ = ntohs(address.sin_port);
}

}  // namespace distribute::launch

namespace distribute::launch_internal {

using launch::Host;
using launch::JobOptions;
using launch::Task;

inline constexpr int kMostTasks = 65536;

/// Returns a port below the range that systems use for outgoing connections.
DISTRIBUTE_INLINE int random_port() {
  return 20'000 + int(std::stoul(launch::random_hex(8), nullptr, 16) % 10'000);
}

DISTRIBUTE_INLINE void check_counts(const JobOptions& options) {
  if (options.workers < 1)
    throw InvalidArgumentError(str_cat("a job has at least one worker, not ", options.workers));
  if (options.parameter_servers < 0)
    throw InvalidArgumentError(
        str_cat("the number of parameter servers is not ", options.parameter_servers));
  if (options.workers > kMostTasks || options.parameter_servers > kMostTasks)
    throw InvalidArgumentError(str_cat("a job has at most ", kMostTasks, " tasks of a type"));
  if (options.port < 0 || options.port > 65535)
    throw InvalidArgumentError(str_cat("a port is 1 to 65535, not ", options.port));
  if (options.metrics_port < 0 || options.metrics_port > 65535)
    throw InvalidArgumentError(str_cat("a port is 1 to 65535, not ", options.metrics_port));
  if (options.this_host.empty()) return;
  if (options.port == 0 || options.token.empty())
    throw InvalidArgumentError(
        "launchers on several hosts need the same port and token: give --port, and "
        "DISTRIBUTE_JOB_TOKEN or DISTRIBUTE_JOB_TOKEN_FILE");
  if (std::none_of(options.hosts.begin(), options.hosts.end(),
                   [&](const Host& host) { return host.name == options.this_host; }))
    throw InvalidArgumentError("'" + options.this_host + "' is none of the job's hosts");
}

/// Lists the tasks of each type in order, without hosts.
DISTRIBUTE_INLINE std::vector<Task> list_tasks(const JobOptions& options) {
  std::vector<Task> tasks;
  const auto add = [&](const char* type, int count) {
    for (int i = 0; i < count; ++i)
      tasks.push_back({.type = type, .index = i, .host = {}, .address = {}});
  };
  add("chief", options.chief);
  add("worker", options.workers);
  add("ps", options.parameter_servers);
  add("evaluator", options.evaluator);
  return tasks;
}

/// Returns the number of tasks for each host: its slots, and an even share of the remaining tasks.
DISTRIBUTE_INLINE std::vector<int> tasks_per_host(const JobOptions& options, int tasks) {
  const int slots = count_slots(options.hosts);
  if (tasks > slots && !options.oversubscribe)
    throw InvalidArgumentError(str_cat(tasks, " tasks and only ", slots,
                                       " slots; name more hosts or slots (-H host:slots), or say "
                                       "--oversubscribe"));
  std::vector<int> counts;
  int left = tasks;
  for (const Host& host : options.hosts)
    counts.push_back(std::min(host.slots, left)), left -= counts.back();
  for (size_t i = 0; left > 0; --left, ++i) ++counts[i % counts.size()];
  return counts;
}

/// Puts IPv6 addresses in brackets.
DISTRIBUTE_INLINE std::string join_address(const std::string& host, int port) {
  const bool brackets = host.find(':') != std::string::npos;
  return brackets ? str_cat("[", host, "]:", port) : str_cat(host, ":", port);
}

}  // namespace distribute::launch_internal

namespace distribute::launch {

DISTRIBUTE_INLINE std::string Task::name() const { return str_cat(type, " ", index); }

DISTRIBUTE_INLINE Job::Job(const JobOptions& options)
    : token_(options.token.empty() ? random_hex(64) : options.token),
      metrics_port_(options.metrics_port) {
  launch_internal::check_counts(options);
  tasks_ = launch_internal::list_tasks(options);
  place(options);
  give_addresses(options);
}

DISTRIBUTE_INLINE void Job::place(const JobOptions& options) {
  if (options.hosts.empty()) {
    for (size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].host.name = "127.0.0.1";
      tasks_[i].local_rank = int(i);
      tasks_[i].local_size = int(tasks_.size());
    }
    return;
  }
  const std::vector<int> counts = launch_internal::tasks_per_host(options, int(tasks_.size()));
  size_t task = 0;
  for (size_t host = 0; host < counts.size(); ++host) {
    for (int rank = 0; rank < counts[host]; ++rank, ++task) {
      tasks_[task].host = options.hosts[host];
      tasks_[task].local = options.this_host.empty()
                               ? options.hosts[host].is_local()
                               : options.hosts[host].name == options.this_host;
      tasks_[task].elsewhere = !options.this_host.empty() && !tasks_[task].local;
      tasks_[task].local_rank = rank;
      tasks_[task].local_size = counts[host];
    }
  }
}

DISTRIBUTE_INLINE void Job::give_addresses(const JobOptions& options) {
  bool all_local = options.this_host.empty();
  for (const Task& task : tasks_) all_local = all_local && task.local;
  const int first = options.port || all_local ? options.port : launch_internal::random_port();
  for (Task& task : tasks_) {
    int port = first ? first + task.local_rank : 0;
    if (port > 65535) throw InvalidArgumentError(str_cat("port ", port, " is beyond 65535"));
    if (all_local) port = ports_.emplace_back(port).number();
    if (!all_local && options.this_host.empty() && task.host.is_loopback())
      throw InvalidArgumentError("'" + task.host.name +
                                 "' cannot be reached from the other hosts; give the name by which "
                                 "they reach this machine");
    task.address =
        launch_internal::join_address(all_local ? "127.0.0.1" : task.host.address(), port);
  }
}

DISTRIBUTE_INLINE std::string Job::tf_config(const Task& task) const {
  nlohmann::ordered_json cluster;
  for (const Task& member : tasks_)
    if (member.type != "evaluator") cluster[member.type].push_back(member.address);
  const nlohmann::ordered_json config = {{"cluster", cluster},
                                         {"task", {{"type", task.type}, {"index", task.index}}}};
  return json_text(config);
}

DISTRIBUTE_INLINE std::map<std::string, std::string> Job::environment(const Task& task) const {
  std::map<std::string, std::string> variables = {
      {"TF_CONFIG", tf_config(task)},
      {"DISTRIBUTE_JOB_TOKEN", token_},
      {"DISTRIBUTE_LOCAL_RANK", std::to_string(task.local_rank)},
      {"DISTRIBUTE_LOCAL_SIZE", std::to_string(task.local_size)}};
  if (metrics_port_)
    variables["DISTRIBUTE_METRICS_PORT"] = std::to_string(metrics_port_ + task.local_rank);
  return variables;
}

DISTRIBUTE_INLINE std::vector<std::string> variables_of_another_job() {
  return {"DISTRIBUTE_JOB_TOKEN_FILE", "DISTRIBUTE_RESTART_COUNT"};
}

}  // namespace distribute::launch
