#pragma once
/// Limits of a parameter server.

#include <distribute/base/version.hpp>

#include <cstdint>
#include <string>

namespace distribute::parameter_server {

/// Options of a parameter server; times in seconds.
struct ServerOptions {
  /// Updates of several clients never mix within an element of a variable.
  bool use_locking = true;
  /// Clients on the same host read and write through shared memory.
  bool shared_memory = true;
  /// Threads that apply one push; 0: one for each core that the tasks of this host leave.
  int threads = 0;
  /// How long join() waits for a chief that was there and is lost.
  double chief_timeout = 300;
  /// Gradients that have arrived and are not applied yet, together; one push is always let in.
  int64_t max_staged_bytes = int64_t{4} << 30;
  /// Of the library; clients of another one are refused.
  std::string version = kVersion;
};

}  // namespace distribute::parameter_server
