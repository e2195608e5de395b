#pragma once
/// One piece of work that waits for a worker.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// A function could not run because a value it needs was not made; says which and why.
/// Source  tf.distribute.experimental.coordinator.ClosureInputError
class ClosureInputError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

namespace coordinator_internal {

/// The same bytes for every worker, or what that worker has.
struct ClosureArgument {
  std::shared_ptr<const std::string> bytes = {};
  std::vector<RemoteStatePtr> per_worker = {};
  std::shared_ptr<const WorkerResource> resource = {};  // lives as long as the closure
};

/// Belongs to one thread at a time: who schedules it, then the queue, then a worker's thread.
struct Closure {
  std::string method;   // of the worker's service
  std::string label;    // the function's name, for people
  uint64_t number = 0;  // counts the queue's closures; 0: for one worker alone
  std::vector<ClosureArgument> arguments;
  RemoteStatePtr output = std::make_shared<RemoteState>();

  void mark_cancelled() const;
  /// What the worker's service gets: a ClosureCall.
  /// Throws  ClosureInputError
  std::string body_for(int worker, uint64_t id, uint64_t settled) const;
};

using ClosurePtr = std::shared_ptr<Closure>;

/// CancelledError "... is cancelled. Please reschedule the function."
std::exception_ptr cancelled_error(const std::string& label);

}  // namespace coordinator_internal

}  // namespace distribute
