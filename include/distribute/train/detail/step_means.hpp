#pragma once
/// Results of a step of all replicas, and their means over the steps of an epoch.

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

/// Results of a step on one replica: named scalars. The sum of a scalar over all replicas is the
/// value of the step, such as the loss. Every replica has the same names.
using StepLogs = std::vector<std::pair<std::string, Tensor>>;

/// Sums the results of all replicas in one operation between workers.
/// Throws  InvalidArgumentError when replicas return different names, or no scalars.
Logs reduce_step_logs(Strategy& strategy, const PerReplica<StepLogs>& shares);

/// A step that has run, and the number of its examples on all replicas.
struct UnreadStep {
  PerReplica<StepLogs> shares;
  int64_t examples = 0;
};
/// Sums the results of several steps in one operation between workers.
std::vector<Logs> reduce_step_logs(Strategy& strategy, const std::vector<UnreadStep>& steps);

/// Means over steps, each weighted by its number of examples. One thread.
class StepMeans {
 public:
  void add(const Logs& step, int64_t examples);
  /// Returns the means of all values, as float32 numbers as Keras's; empty before the first step.
  Logs means() const;
  int64_t examples() const { return examples_; }
  void reset() { *this = {}; }

  /// Returns number of examples, names and sums, bit by bit, for a checkpoint.
  Tensor state() const;
  /// Throws  InvalidArgumentError for the state of another version of the program.
  void restore(const Tensor& state);

 private:
  std::vector<std::pair<std::string, double>> sums_;
  int64_t examples_ = 0;
};

}  // namespace train
}  // namespace distribute
