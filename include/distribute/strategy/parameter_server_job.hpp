#pragma once
/// A task's place in a job with parameter servers, for workers that run loops of their own.

#include <distribute/cluster/cluster_spec.hpp>

#include <optional>
#include <string>

namespace distribute {

class Strategy;

namespace strategy_internal {
class ParameterServerExtended;
}

/// What a program asks about its job, and what the chief tells the other workers before the first
/// step. Refers to the strategy, which must outlive it. Thread-compatible.
/// Source  the chief's part of tf.compat.v1.train.MonitoredTrainingSession
class ParameterServerJob {
 public:
  /// Nothing for other strategies, and for a ParameterServerStrategy without a cluster.
  static std::optional<ParameterServerJob> of(const Strategy& strategy);

  /// The job, and this task's place in it.
  const ClusterSpec& cluster() const;
  const std::string& task_type() const;
  int task_id() const;
  bool is_chief() const;
  bool is_parameter_server() const { return task_type() == "ps"; }

  /// True on a chief that found variables missing on the servers: the job is new, or a server was
  /// lost, and a checkpoint has to be restored if there is one.
  bool variables_are_new() const;
  /// True on a chief that has come back to servers which hold all variables, and which an earlier
  /// chief has called initialized: nothing is to be restored.
  bool servers_have_kept_variables() const;
  /// The chief tells the others that variables have the values to begin with; `note` is for them.
  void set_initialized(const std::string& note = {}) const;
  /// Waits for set_initialized and gives its note. `seconds`: none is the startup timeout.
  /// Throws  DeadlineExceededError that names the chief.
  std::string wait_until_initialized(std::optional<double> seconds = {}) const;

 private:
  explicit ParameterServerJob(strategy_internal::ParameterServerExtended& extended)
      : extended_(&extended) {}

  strategy_internal::ParameterServerExtended* extended_;
};

}  // namespace distribute
