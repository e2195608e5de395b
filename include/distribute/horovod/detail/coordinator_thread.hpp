#pragma once
/// A thread on rank 0 that receives what every rank is ready for, and tells the ranks what to do.

#include <distribute/base/config.hpp>
#include <distribute/horovod/detail/negotiation.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace distribute::net {
class Socket;
}

namespace distribute::horovod_internal {

/// Types of frames between a rank and the coordinator.
enum class Frames : uint16_t { Requests = 1, Responses = 2, Bye = 3 };
/// The longest message of either side, in bytes.
inline constexpr uint64_t kMostMessageBytes = uint64_t{256} << 20;

/// Coordinates the ranks until stop(). Thread-safe.
class CoordinatorThread {
 public:
  /// `ranks` has a connection to every rank. `log` receives warnings about stalls.
  CoordinatorThread(std::vector<net::Socket> ranks, NegotiationOptions options,
                    std::function<void(const std::string&)> log);
  CoordinatorThread(const CoordinatorThread&) = delete;
  ~CoordinatorThread();

  /// Blocks  until every rank has left or is lost, at most `seconds`.
  void wait_until_all_have_left(double seconds);
  /// Ends the thread.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::horovod_internal
