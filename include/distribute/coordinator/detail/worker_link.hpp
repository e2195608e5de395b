#pragma once
/// The coordinator's way to one worker, whatever carries the bytes.

#include <distribute/net/deadline.hpp>

#include <string>
#include <string_view>

namespace distribute::coordinator_internal {

/// connect() and call() from one thread; control() and close() from any.
class WorkerLink {
 public:
  virtual ~WorkerLink() = default;
  /// "worker 1 (10.0.0.2:2222)".
  virtual std::string name() const = 0;
  /// Reaches the worker, also one that has started again.
  /// Throws  UnavailableError or DeadlineExceededError; AbortedError after close().
  virtual void connect(net::Deadline deadline) = 0;
  /// WorkerService::handle over there.
  /// Blocks  until the answer is there.
  /// Throws  UnavailableError when the worker is lost; what the method threw.
  virtual std::string call(const std::string& method, std::string_view body) = 0;
  /// The same beside a call that runs.
  virtual void control(const std::string& method, std::string_view body,
                       net::Deadline deadline) = 0;
  /// For good: all that waits, and all that comes, throws.
  virtual void close() = 0;
};

}  // namespace distribute::coordinator_internal
