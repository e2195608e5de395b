#pragma once
/// Batch normalization with the statistics of all ranks.

#include <distribute/base/config.hpp>
#include <distribute/torch/process_group.hpp>

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <ostream>

namespace distribute::torch {

/// Sums the tensors of all ranks into a new one; gradients are summed over the ranks, too.
/// Source  torch.distributed.nn.all_reduce
Tensor sum_over_ranks(const Tensor& tensor);

/// Parameters and buffers of a batch normalization; tensors that it does not have are undefined.
struct BatchNormState {
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;
};

/// Normalizes with mean and variance of the batches of all ranks, which may differ in size; in
/// eval() with the running statistics. Parameters, buffers and options are those of
/// torch::nn::BatchNorm. Use it as SyncBatchNorm.
/// Shapes  [batch, features] or [batch, features, ...] -> the same.
class SyncBatchNormImpl : public ::torch::nn::Cloneable<SyncBatchNormImpl>, public BatchNormState {
 public:
  explicit SyncBatchNormImpl(const ::torch::nn::BatchNormOptions& options);
  explicit SyncBatchNormImpl(int64_t features)
      : SyncBatchNormImpl(::torch::nn::BatchNormOptions(features)) {}
  /// Takes over the tensors of another batch normalization.
  SyncBatchNormImpl(const ::torch::nn::BatchNormOptions& options, BatchNormState state);
  DISTRIBUTE_INLINE void reset() override;
  DISTRIBUTE_INLINE void pretty_print(std::ostream& stream) const override;
  /// Throws  InvalidArgumentError for fewer than two axes, or another number of features.
  Tensor forward(const Tensor& input);

  ::torch::nn::BatchNormOptions options;

 private:
  void register_state(BatchNormState state);
  Tensor normalize_with_ranks(const Tensor& input);
};
/// Refers to a SyncBatchNormImpl; copies refer to the same one.
/// Source  torch.nn.SyncBatchNorm
class SyncBatchNorm : public ::torch::nn::ModuleHolder<SyncBatchNormImpl> {
 public:
  using Impl = SyncBatchNormImpl;
  using ::torch::nn::ModuleHolder<SyncBatchNormImpl>::ModuleHolder;
};

/// Returns a SyncBatchNorm with the options, and the very parameters and buffers, of `norm`.
template <size_t D, typename Derived>
SyncBatchNorm convert_sync_batchnorm(const ::torch::nn::BatchNormImplBase<D, Derived>& norm) {
  SyncBatchNorm made(norm.options, BatchNormState{norm.weight, norm.bias, norm.running_mean,
                                                  norm.running_var, norm.num_batches_tracked});
  made->train(norm.is_training());
  return made;
}
/// Returns a sequence of the same modules in which each batch normalization is one over all ranks.
/// A C++ class that has a batch normalization as a member cannot
/// be changed from outside: declare the member as SyncBatchNorm.
/// Throws  InvalidArgumentError with the name of such a member.
/// Source  torch.nn.SyncBatchNorm.convert_sync_batchnorm
::torch::nn::Sequential convert_sync_batchnorm(const ::torch::nn::Sequential& sequence);

}  // namespace distribute::torch
