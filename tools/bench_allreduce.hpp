#pragma once
/// `distribute bench allreduce`: the time of all-reduces between processes of this machine.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

/// The flags of the command, which its table explains.
struct AllReduceBenchOptions {
  std::string transport = "auto", bytes = "1K,64K,1M,25M,100M";
  int world = 2, flows = 1;
  double seconds = 1;
  bool raw = false, tls = false, in_place = false, json = false;
};

/// All times are those of rank 0.
struct AllReduceTime {
  std::string transport;
  int ranks = 0;
  int64_t bytes = 0;
  double us_best = 0, us_p50 = 0, us_p99 = 0;
  /// What every rank must send, 2 (n-1)/n * bytes, by the median.
  double bus_gbytes_per_second() const;
};

/// "64K" -> 65536. K, M and G are powers of 1024.
/// Throws  UsageProblem
std::vector<int64_t> parse_sizes(const std::string& text);

/// Sockets are encrypted when DISTRIBUTE_TLS=1 is set, with a key of this run.
/// Throws  distribute::Error or std::runtime_error.
std::vector<AllReduceTime> time_all_reduces(const AllReduceBenchOptions& options);

}  // namespace distribute_tools
