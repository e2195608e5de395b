#pragma once
/// --api=horovod: every rank trains on one device, and the step is written the Horovod way.

#include "way.hpp"

#include <distribute/horovod.hpp>
#include <distribute/platforms.hpp>
#include <distribute/train/preemption_watcher.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace examples {

/// Joins the job of the flags or the environment, and compares the ranks' flags, with --elastic at
/// each change of the ranks instead.
/// Throws  distribute::Error for flags that do not go with it or differ, and what hvd::init throws,
///         such as hvd::JobFinishedError.
void join_horovod(const TrainerOptions& options);

/// Rank 0 reads and writes the checkpoints; the others get its weights.
class Horovod : public Way {
 public:
  using Way::Way;

  bool is_chief() const override { return distribute::hvd::rank() == 0; }
  bool saves() const override { return is_chief(); }
  int64_t replicas_in_sync() const override { return distribute::hvd::size(); }
  std::string why_not_recorded() const override;

  void begin() override;
  int64_t minimize(const distribute::Tensor& loss, distribute::GradientTape& tape) override;
  std::vector<distribute::Tensor> sum(const std::vector<distribute::Tensor>& gradients) override;
  int64_t apply(const std::vector<distribute::Tensor>& gradients) override;
  distribute::Tensor sum_of_tasks(const distribute::Tensor& sums) override;
  void after_step(int64_t number) override;
  TestSums test(const TestBatch& of_batch) override;

 protected:
  void save(int64_t step) override;
  void describe_job(distribute::train::RunReport& report, int64_t first, double seconds) override;
  /// Weights as rank 0 has found them, and steps of a DistributedOptimizer from now on.
  void open_checkpoints(distribute::train::TensorState position);
  /// Of all ranks, of this rank's sums.
  TestSums sum_of_ranks(const TestSums& mine);

 private:
  void start_alike();
  void watch_notices();

  // They tell whether this rank has to go; both are empty without checkpoints.
  std::unique_ptr<distribute::train::PreemptionNotice> machine_;
  std::optional<distribute::PreemptionWatcher> notice_;
  bool a_rank_leaves_ = false;
  std::optional<distribute::hvd::DistributedOptimizer> optimizer_;
  // Where the ranks are in the data, by rank: a part of rank 0's checkpoint.
  distribute::Tensor places_ = distribute::zeros({0, 0}, distribute::DType::Int64);
};

}  // namespace examples
