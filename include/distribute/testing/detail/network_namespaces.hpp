#pragma once
/// Hosts for network tests: Linux network namespaces with cables to one switch, slow or cut.

#include <distribute/base/config.hpp>
#include <distribute/launch/process.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::testing {

struct NetworkOptions {         // of the hosts between each other
  int hosts = 2;                // at most 200
  int64_t bits_per_second = 0;  // of each cable and direction (tc-tbf); 0: no limit
  double delay_ms = 0;          // of each direction of each cable (tc-netem)
};

/// Host i has the address 10.77.0.(i+1), its own loopback interface, host name and /dev/shm, so
/// that shared memory does not reach from one to the other. A process that sleeps keeps the
/// namespaces of each host and of the switch; they vanish with it, also when this process is
/// killed. Nothing of the machine's own network is touched. Needs root, iproute2 and util-linux.
/// Thread-compatible.
class NetworkNamespaces {
 public:
  /// Why this machine has none of it; empty when it has. `options` that need more are asked for.
  static std::string unavailable_reason(const NetworkOptions& options = {});

  /// Throws  UnavailableError with the failed command's words; InvalidArgumentError.
  explicit NetworkNamespaces(const NetworkOptions& options = {});
  ~NetworkNamespaces();
  NetworkNamespaces(const NetworkNamespaces&) = delete;
  NetworkNamespaces& operator=(const NetworkNamespaces&) = delete;

  /// Number of hosts; the address of one.
  int hosts() const { return int(hosts_.size()); }
  std::string address(int host) const;
  /// The host with this address. Throws  NotFoundError
  int host_of(const std::string& address) const;
  /// The words that run `command` on a host. The process that runs them becomes the command.
  std::vector<std::string> command(int host, std::vector<std::string> command) const;

  /// The cable of the host: what is sent is lost, and no side hears of it.
  void cut(int host);
  void mend(int host);
  /// What one host sends to the other is lost on the way, as behind a firewall that drops it; the
  /// way back and all others stay.
  void drop(int from, int to);
  void stop_dropping(int from, int to);
  /// From now on IP packets of more than `bytes` are lost in the cable of the host without an
  /// error, as in a tunnel behind a firewall that drops ICMP.
  void drop_larger(int host, int bytes);

 private:
  void make_host(int host, const NetworkOptions& options);

  launch::ProcessGuard guard_;
  std::unique_ptr<launch::Process> switch_;
  std::vector<std::unique_ptr<launch::Process>> hosts_;
};

}  // namespace distribute::testing
