#pragma once
/// Divides the examples of a libtorch dataset among the ranks of a job.

#include <distribute/base/config.hpp>

#include <torch/data/samplers/base.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::torch {

struct DistributedSamplerOptions {  // options of DistributedSampler
  bool shuffle = true;
  uint64_t seed = 0;       // of the order; the same on all ranks
  bool drop_last = false;  // leaves out the examples that do not divide; else some occur twice
  std::optional<int> num_replicas = {};  // unset: the number of ranks
  std::optional<int> rank = {};          // unset: this process's rank
};

/// Gives rank r of n the examples r, r + n, r + 2n, ... of an order that all ranks share; they are
/// the ones that PyTorch's class gives. Call set_epoch() before each epoch, or the order stays the
/// same. One thread.
/// Throws  InvalidArgumentError for a rank outside of [0, num_replicas) and a size below 1.
/// Source  torch.utils.data.distributed.DistributedSampler
class DistributedSampler : public ::torch::data::samplers::Sampler<> {
 public:
  explicit DistributedSampler(size_t size, const DistributedSamplerOptions& options = {});

  /// Sets the number of the epoch, which changes the order.
  void set_epoch(uint64_t epoch) { epoch_ = epoch; }
  /// Returns the number of examples of each rank in an epoch.
  int64_t size() const { return examples_; }

  /// The functions below are for libtorch's data loader.
  DISTRIBUTE_INLINE void reset(std::optional<size_t> new_size = {}) override;
  DISTRIBUTE_INLINE std::optional<std::vector<size_t>> next(size_t batch_size) override;
  DISTRIBUTE_INLINE void save(::torch::serialize::OutputArchive& archive) const override;
  DISTRIBUTE_INLINE void load(::torch::serialize::InputArchive& archive) override;

 private:
  void count_examples();
  void order();

  int64_t size_;
  DistributedSamplerOptions options_;
  int ranks_, rank_;
  uint64_t epoch_ = 0;
  int64_t examples_ = 0;
  std::vector<int64_t> mine_;  // the examples of this rank in this epoch
  size_t next_ = 0;            // index into mine_
};

}  // namespace distribute::torch
