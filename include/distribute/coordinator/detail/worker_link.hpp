#pragma once
/// The coordinator's connection to one worker, independent of the transport.

#include <distribute/net/deadline.hpp>

#include <string>
#include <string_view>

namespace distribute::coordinator_internal {

/// Connection to a worker. One thread calls connect() and call(), any thread control() and close().
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  /// Returns "worker 1 (10.0.0.2:2222)".
  virtual std::string name() const = 0;
  /// Connects to the worker, also to one that has started again.
  /// Throws  UnavailableError or DeadlineExceededError; AbortedError after close().
  virtual void connect(net::Deadline deadline) = 0;
  /// Calls WorkerService::handle of the worker.
  /// Blocks  until the answer has come.
  /// Throws  UnavailableError when the worker is lost; what the method threw.
  virtual std::string call(const std::string& method, std::string_view body) = 0;
  /// Calls a method while a call() runs.
  virtual void control(const std::string& method, std::string_view body,
                       net::Deadline deadline) = 0;
  /// Closes the connection for ever: all waiting and later calls throw.
  virtual void close() = 0;
};

}  // namespace distribute::coordinator_internal
