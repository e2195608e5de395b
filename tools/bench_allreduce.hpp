#pragma once
/// `distribute bench allreduce`: the time of all-reduces between processes of this machine.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

struct AllReduceBenchOptions {
  std::string transport = "auto";  // auto | threads | shm | tcp | ucx | mpi
  std::string bytes = "1K,64K,1M,25M,100M";
  int world = 2;
  int flows = 1;          // TCP connections between two ranks
  double seconds = 1;     // at least 20 rounds are measured, however long they take
  bool raw = false;       // also sockets, or memory, alone with the same bytes of the same ranks
  bool tls = false;       // tcp: also encrypted, in turn with the plain sockets
  bool in_place = false;  // threads, shm: the array lies in the shared memory
  bool json = false;
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
/// Throws  std::invalid_argument with a line for the user.
std::vector<int64_t> parse_sizes(const std::string& text);

/// Sockets are encrypted when DISTRIBUTE_TLS=1 is set, with a key of this run.
/// Throws  distribute::Error or std::runtime_error.
std::vector<AllReduceTime> time_all_reduces(const AllReduceBenchOptions& options);

/// The command: checks the options, measures, prints. Returns the exit status (0, 1 or 2).
int bench_all_reduce(const AllReduceBenchOptions& options);

}  // namespace distribute_tools
