#pragma once
/// What a step of all replicas gave, and its mean over the steps of an epoch.

#include <distribute/base/config.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/tensor/tensor.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

class Strategy;

namespace train {

/// What one replica gives of a step: scalars with names, its shares. The sum of the shares over all
/// replicas is the value of the step, such as the loss. Every replica gives the same names.
using StepLogs = std::vector<std::pair<std::string, Tensor>>;

/// Sums up the shares of all replicas: one operation between workers.
/// Throws  InvalidArgumentError when replicas give different names, or no scalars.
Logs reduce_step_logs(Strategy& strategy, const PerReplica<StepLogs>& shares);

/// A step that has run, and its examples on all replicas.
struct UnreadStep {
  PerReplica<StepLogs> shares;
  int64_t examples = 0;
};
/// The same for several steps: one operation between workers for all.
std::vector<Logs> reduce_step_logs(Strategy& strategy, const std::vector<UnreadStep>& steps);

/// Means over steps, each weighted by its number of examples. One thread.
class StepMeans {
 public:
  void add(const Logs& step, int64_t examples);
  /// The means of all figures; empty before the first step.
  Logs means() const;
  int64_t examples() const { return examples_; }
  void reset() { *this = {}; }

  /// Number of examples, names and sums, bit by bit, for a checkpoint.
  Tensor state() const;
  /// Throws  InvalidArgumentError for the state of another version of the program.
  void restore(const Tensor& state);

 private:
  std::vector<std::pair<std::string, double>> sums_;
  int64_t examples_ = 0;
};

}  // namespace train
}  // namespace distribute
