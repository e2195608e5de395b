#pragma once
/// The trainers' steps written the Horovod way: --api=horovod.

#include "options.hpp"

#include <distribute/distribute.hpp>
#include <distribute/horovod.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace examples {

/// One rank of the job; each trains on one device. Null where a strategy trains.
class HorovodJob {
 public:
  /// Joins the job of the flags or the environment, and compares the ranks' flags; with --elastic
  /// run_elastically() does that.
  /// Throws  distribute::Error for flags that do not go with it or differ, and what hvd::init
  ///         throws, such as hvd::JobFinishedError.
  static std::unique_ptr<HorovodJob> begin(const TrainerOptions& options);

  bool is_chief() const { return distribute::hvd::rank() == 0; }
  /// This rank's rows of every batch.
  distribute::data::Dataset share(const distribute::data::Dataset& batches) const;
  /// Throws  InvalidArgumentError when the ranks have different numbers of images.
  void check_same_data(int64_t images) const;

  /// This rank's rows of a whole batch.
  distribute::PerReplica<distribute::data::Batch> share(
      const distribute::PerReplica<distribute::data::Batch>& batch) const;

  /// Calls `body` with the state of the job, again whenever ranks are lost, leave or join. `flags`
  /// must be the same on all ranks.
  /// Throws  FailedPreconditionError with the first flag that differs; what hvd::elastic::run and
  ///         `body` throw.
  distribute::ElasticEnd run_elastically(const distribute::nn::Module& model,
                                         distribute::optim::Optimizer& optimizer,
                                         distribute::train::ElasticIterator& batches,
                                         const std::string& flags,
                                         const std::function<void()>& body);
  /// After `step`, on all ranks: what is lost goes back to the last commit.
  void commit(int64_t step);
  /// Whether this rank was the chief when run_elastically() has ended.
  bool was_chief() const { return was_chief_; }

  /// Steps from now on are those of this optimizer.
  void wrap(distribute::optim::Optimizer& optimizer);
  /// Rank 0's weights, step count and slots for all; where the rank was in the data, if rank 0 has
  /// restored that.
  void start_alike(const distribute::nn::Module& model, distribute::optim::Optimizer& optimizer,
                   distribute::DistributedIterator& iterator);
  int64_t minimize(const distribute::Tensor& loss,
                   const std::vector<distribute::Variable>& variables,
                   distribute::GradientTape& tape);
  std::vector<distribute::Tensor> sum(const std::vector<distribute::Tensor>& tensors) const;
  distribute::Tensor sum(const distribute::Tensor& tensor) const;

  /// All ranks' places in the data, for rank 0's checkpoint. Every rank calls remember().
  void remember(const distribute::DistributedIterator& iterator);
  distribute::train::TensorState places();

 private:
  HorovodJob() = default;

  std::optional<distribute::hvd::DistributedOptimizer> optimizer_;
  distribute::hvd::elastic::State* state_ = nullptr;  // while ranks may change
  bool was_chief_ = false;
  distribute::Tensor places_ = distribute::zeros({0, 0}, distribute::DType::Int64);  // by rank
};

}  // namespace examples
