#pragma once
#include <distribute/base/error.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>

#include <algorithm>

#include <poll.h>
#include <unistd.h>

namespace distribute::testing_internal {

using launch::Process;
using launch::ProcessGuard;
using testing::NetworkOptions;
using Words = std::vector<std::string>;

inline constexpr double kToolSeconds = 30;

/// Runs a tool until it ends.
/// Throws  UnavailableError with the tool's output.
DISTRIBUTE_INLINE void run_tool(const ProcessGuard& guard, const Words& command,
                                const std::string& input) {
  launch::ProcessOptions options{.command = command, .input = input, .guard = &guard};
  Process process(options);
  process.close_input();
  const launch::ExitStatus status = process.wait(net::Deadline::after_seconds(kToolSeconds));
  std::string printed;
  launch::read_available(process.err().native(), printed);
  launch::read_available(process.out().native(), printed);
  if (!status.ok())
    throw UnavailableError(str_cat("network namespaces: ", printed.substr(0, printed.find('\n')),
                                   ": ", input.substr(0, input.find('\n'))));
}

/// Runs lines of ip's or tc's batch language in a namespace.
DISTRIBUTE_INLINE void run_batch(const ProcessGuard& guard, const Process& place, const char* tool,
                                 const std::string& lines) {
  if (lines.empty()) return;
  run_tool(guard, {"nsenter", "-t", std::to_string(place.pid()), "-n", tool, "-batch", "-"}, lines);
}

/// Starts a process that keeps new namespaces; returns when they exist.
DISTRIBUTE_INLINE std::unique_ptr<Process> make_namespaces(const ProcessGuard& guard,
                                                           const std::string& name) {
  const std::string script = "mount -t tmpfs tmpfs /dev/shm && hostname " + name +
                             " && ip link set lo up && echo ready && exec sleep infinity";
  launch::ProcessOptions options{
      .command = {"unshare", "--net", "--mount", "--uts", "sh", "-c", script}, .guard = &guard};
  auto process = std::make_unique<Process>(options);
  const auto deadline = net::Deadline::after_seconds(kToolSeconds);
  std::string out, err;
  while (out.find("ready\n") == std::string::npos) {
    pollfd entries[] = {{process->out().native(), POLLIN, 0},
                        {process->exit_descriptor(), POLLIN, 0}};
    ::poll(entries, 2, std::min(deadline.left_ms(), 50));
    launch::read_available(process->out().native(), out);
    if (!process->poll() && !deadline.passed()) continue;
    launch::read_available(process->err().native(), err);
    throw UnavailableError("network namespaces: " + err.substr(0, err.find('\n')));
  }
  return process;
}

/// Makes lines for tc that slow an interface down. The bucket holds 4 ms of traffic, at least 64
/// KiB; the queue behind it holds 50 ms.
DISTRIBUTE_INLINE std::string slow_interface(const std::string& name,
                                             const NetworkOptions& options) {
  const int64_t bucket = std::max<int64_t>(options.bits_per_second / 8 / 250, 65536);
  std::string lines, parent = "root";
  if (options.delay_ms > 0) {
    lines += str_cat("qdisc add dev ", name, " root handle 1: netem delay ", options.delay_ms,
                     "ms limit 100000\n");
    parent = "parent 1:";
  }
  if (options.bits_per_second > 0)
    lines += str_cat("qdisc add dev ", name, " ", parent, " tbf rate ", options.bits_per_second,
                     "bit burst ", bucket, " latency 50ms\n");
  return lines;
}

DISTRIBUTE_INLINE std::string port_name(int host) { return str_cat("port", host); }

}  // namespace distribute::testing_internal

namespace distribute::testing {

DISTRIBUTE_INLINE std::string NetworkNamespaces::unavailable_reason(const NetworkOptions& options) {
  if (::geteuid() != 0) return "network namespaces need root";
  try {
    NetworkOptions one = options;
    one.hosts = 1;
    const NetworkNamespaces network(one);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

DISTRIBUTE_INLINE NetworkNamespaces::NetworkNamespaces(const NetworkOptions& options) {
  using namespace testing_internal;
  constexpr int kMostHosts = 200;
  if (options.hosts < 1 || options.hosts > kMostHosts)
    throw InvalidArgumentError(
        str_cat("a network has 1 to ", kMostHosts, " hosts, not ", options.hosts));
  switch_ = make_namespaces(guard_, "switch");
  run_batch(guard_, *switch_, "ip", "link add bridge0 type bridge\nlink set bridge0 up\n");
  for (int host = 0; host < options.hosts; ++host) {
    hosts_.push_back(make_namespaces(guard_, str_cat("host", host)));
    make_host(host, options);
  }
}

DISTRIBUTE_INLINE NetworkNamespaces::~NetworkNamespaces() = default;

DISTRIBUTE_INLINE void NetworkNamespaces::make_host(int host, const NetworkOptions& options) {
  using namespace testing_internal;
  const Process& place = *hosts_[size_t(host)];
  const std::string port = port_name(host);
  run_batch(guard_, *switch_, "ip",
            str_cat("link add ", port, " type veth peer name eth0 netns ", place.pid(), "\n",
                    "link set ", port, " master bridge0 up\n"));
  run_batch(guard_, place, "ip",
            str_cat("addr add ", address(host), "/24 dev eth0\nlink set eth0 up\n"));
  run_batch(guard_, *switch_, "tc", slow_interface(port, options));
  run_batch(guard_, place, "tc", slow_interface("eth0", options));
}

DISTRIBUTE_INLINE std::string NetworkNamespaces::address(int host) const {
  return str_cat("10.77.0.", host + 1);
}

DISTRIBUTE_INLINE int NetworkNamespaces::host_of(const std::string& address) const {
  for (int host = 0; host < hosts(); ++host)
    if (this->address(host) == address) return host;
  throw NotFoundError("the network has no host " + address);
}

DISTRIBUTE_INLINE std::vector<std::string> NetworkNamespaces::command(
    int host, std::vector<std::string> command) const {
  std::vector<std::string> words = {"nsenter", "-t", std::to_string(hosts_.at(size_t(host))->pid()),
                                    "-n",      "-m", "-u",
                                    "-w",      "--"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

DISTRIBUTE_INLINE void NetworkNamespaces::cut(int host) {
  testing_internal::run_batch(guard_, *switch_, "ip",
                              "link set " + testing_internal::port_name(host) + " nomaster\n");
}

DISTRIBUTE_INLINE void NetworkNamespaces::mend(int host) {
  testing_internal::run_batch(
      guard_, *switch_, "ip",
      "link set " + testing_internal::port_name(host) + " master bridge0\n");
}

/// Drops packets by telling the sender a hardware address of the receiver that does not exist.
DISTRIBUTE_INLINE void NetworkNamespaces::drop(int from, int to) {
  testing_internal::run_batch(
      guard_, *hosts_.at(size_t(from)), "ip",
      str_cat("neigh replace ", address(to), " lladdr 02:00:00:00:00:fe dev eth0 nud permanent\n"));
}

DISTRIBUTE_INLINE void NetworkNamespaces::stop_dropping(int from, int to) {
  testing_internal::run_batch(guard_, *hosts_.at(size_t(from)), "ip",
                              str_cat("neigh del ", address(to), " dev eth0\n"));
}

/// Senders must cut segments themselves, because the switch would let joined segments pass.
DISTRIBUTE_INLINE void NetworkNamespaces::drop_larger(int host, int bytes) {
  using namespace testing_internal;
  for (const auto& place : hosts_)
    run_batch(guard_, *place, "ip", "link set eth0 gso_max_segs 1\n");
  run_batch(guard_, *switch_, "ip", str_cat("link set ", port_name(host), " mtu ", bytes, "\n"));
}

}  // namespace distribute::testing
