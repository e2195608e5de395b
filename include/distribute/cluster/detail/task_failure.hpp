#pragma once
/// The failure that ended the job for all tasks.

#include <distribute/base/error.hpp>

#include <string>

namespace distribute {

/// A failure, the same on every surviving rank: the leader decides, and tells all.
struct TaskFailure {
  int rank = 0;                               // the task that failed
  StatusCode code = StatusCode::Unavailable;  // Unavailable: lost; else what it reported
  std::string reason;                         // a whole sentence with the task's name and address
};

/// Thrown when a call needs a task that has left the job.
class TaskLeftError : public UnavailableError {
 public:
  using UnavailableError::UnavailableError;
};

}  // namespace distribute
