#pragma once
/// One training step: forward, backward and update on every replica.

#include "way.hpp"

#include <distribute/distribute.hpp>

#include <functional>
#include <optional>

namespace examples {

/// One replica's share of a step: [loss], with steps of its own [loss, part of right answers], with
/// --loss_csv [loss, norm of the summed gradients]; and the number of the step in the job, -1 when
/// it was left out.
struct ReplicaStep {
  distribute::Tensor sums;
  int64_t number;
};

class StepRunner {
 public:
  /// Throws  InvalidArgumentError for --cuda_graph=true where a step cannot be recorded.
  StepRunner(Training& training, Way& way);

  /// On all replicas.
  Step operator()(const distribute::PerReplica<Batch>& batch);
  /// On this one.
  ReplicaStep on_replica(const Batch& batch);

 private:
  /// Of a batch: share of the mean over the global batch, and with own steps the right answers'.
  struct Loss {
    distribute::Tensor loss, right;
  };

  std::string why_not_recorded() const;
  void record();
  Loss loss_of(const Batch& batch);
  distribute::Tensor with_right(const Loss& loss) const;
  ReplicaStep in_parts(const Batch& batch);

  Training& training_;
  Way& way_;
  const bool counts_right_;
  /// The step as a CUDA graph, where --cuda_graph wants that.
  std::optional<distribute::Function<std::function<distribute::Tensor(const Batch&)>>> recorded_;
};

}  // namespace examples
