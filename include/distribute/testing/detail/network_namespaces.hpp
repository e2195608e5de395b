#pragma once
/// Hosts for network tests: Linux network namespaces that are cabled to one switch. Cables can be
/// slowed or cut.

#include <distribute/base/config.hpp>
#include <distribute/launch/process.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::testing {

struct NetworkOptions {         // options of the network between the hosts
  int hosts = 2;                // at most 200
  int64_t bits_per_second = 0;  // for each cable and direction (tc-tbf); 0: no limit
  double delay_ms = 0;          // in each direction of each cable (tc-netem)
};

/// Creates hosts as Linux namespaces. Host i has the address 10.77.0.(i+1), its own loopback
/// interface, host name and /dev/shm, so that hosts do not share memory. One sleeping process keeps
/// the namespaces of each host and of the switch; they vanish with that process, also when the test
/// is killed. The machine's own network is not touched. Needs root, iproute2 and util-linux.
/// Thread-compatible.
class NetworkNamespaces {
 public:
  /// Says why this machine cannot make such hosts; empty when it can. It also checks the tools that
  /// `options` need.
  static std::string unavailable_reason(const NetworkOptions& options = {});

  /// Throws  UnavailableError with the output of the failed command; InvalidArgumentError.
  explicit NetworkNamespaces(const NetworkOptions& options = {});
  ~NetworkNamespaces();
  NetworkNamespaces(const NetworkNamespaces&) = delete;
  NetworkNamespaces& operator=(const NetworkNamespaces&) = delete;

  /// Number of hosts, and the address of one of them.
  int hosts() const { return int(hosts_.size()); }
  std::string address(int host) const;
  /// Gives the number of the host with this address.
  /// Throws  NotFoundError when no host has it.
  int host_of(const std::string& address) const;
  /// Gives the command line that runs `command` on a host. The process that runs it becomes the
  /// command.
  std::vector<std::string> command(int host, std::vector<std::string> command) const;

  /// Cuts the host's cable: packets are lost, and neither side gets an error.
  void cut(int host);
  void mend(int host);
  /// Drops all packets from one host to the other without an error, as a firewall would. The
  /// opposite direction and all other hosts are unaffected.
  void drop(int from, int to);
  void stop_dropping(int from, int to);
  /// From now on IP packets larger than `bytes` are lost in the host's cable without an error, as
  /// in a tunnel behind a firewall that drops ICMP.
  void drop_larger(int host, int bytes);

 private:
  void make_host(int host, const NetworkOptions& options);

  launch::ProcessGuard guard_;
  std::unique_ptr<launch::Process> switch_;
  std::vector<std::unique_ptr<launch::Process>> hosts_;
};

}  // namespace distribute::testing
