#pragma once
/// `distribute bench ps`: what parameter servers on this machine move, beside what it could move.

#include <cstdint>
#include <string>
#include <vector>

namespace distribute_tools {

/// The flags of the command, which its table explains.
struct ServerBenchOptions {
  std::string transport = "auto", bytes = "1K,64K,1M,25M,100M";
  int servers = 1, world = 2;
  int64_t rows = 10'000'000;
  double seconds = 1;
  bool json = false;
};

/// A pull of everything and a push of a gradient for everything, by client 0 while the others do
/// the same: until the servers have it, and from then on until they have applied it (SGD). The
/// limits move the same bytes there and back: memcpy, and a socket between two processes.
struct ServerTime {
  std::string transport;
  int servers = 0, world = 0;
  int64_t bytes = 0;
  double ms_pull = 0, ms_push = 0, ms_apply = 0, ms_memory = 0, ms_socket = 0;  // medians
  /// The limit's time by ours. Through shared memory nothing moves but what the update reads and
  /// writes, so it counts there.
  double share() const {
    return transport == "shm" ? ms_memory / (ms_pull + ms_push + ms_apply)
                              : ms_socket / (ms_pull + ms_push);
  }
};

/// Gathers and pushes of 4,096 rows of 64 numbers.
struct SparseTime {
  int64_t rows = 0, table_bytes = 0;
  double rows_per_second = 0;
  double bytes_per_row = 0;  // there and back; the numbers of a row are 2 * 256 bytes of it
};

/// How the bytes of ResNet-50's variables lie on two servers: the larger share by the mean.
struct BalanceOfServers {
  double round_robin = 0, greedy = 0;
};

struct ServerBenchResult {
  std::vector<ServerTime> dense;
  SparseTime sparse;
  BalanceOfServers balance;
};

/// Throws  distribute::Error or std::runtime_error.
ServerBenchResult time_parameter_servers(const ServerBenchOptions& options);

}  // namespace distribute_tools
