#pragma once
#include <distribute/base/error.hpp>
#include <distribute/torch/sync_batch_norm.hpp>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace distribute::torch_internal {

/// Sums over ranks; the gradient of the result is summed over them, too.
struct SumOverRanks : ::torch::autograd::Function<SumOverRanks> {
  static ::torch::Tensor forward(::torch::autograd::AutogradContext*,
                                 const ::torch::Tensor& tensor) {
    ::torch::Tensor sum = tensor.clone(::at::MemoryFormat::Contiguous);
    torch::all_reduce(sum);
    return sum;
  }
  static ::torch::autograd::variable_list backward(::torch::autograd::AutogradContext*,
                                                   ::torch::autograd::variable_list gradients) {
    ::torch::Tensor sum = gradients[0].clone(::at::MemoryFormat::Contiguous);
    torch::all_reduce(sum);
    return {sum};
  }
};

/// Gives one value per feature the shape [1, features, 1, ...] of an input's rank.
DISTRIBUTE_INLINE ::torch::Tensor along_features(const ::torch::Tensor& values, int64_t axes) {
  std::vector<int64_t> shape(size_t(axes), 1);
  shape[1] = values.size(0);
  return values.view(shape);
}

}  // namespace distribute::torch_internal

namespace distribute::torch {

DISTRIBUTE_INLINE Tensor sum_over_ranks(const Tensor& tensor) {
  return torch_internal::SumOverRanks::apply(tensor);
}

DISTRIBUTE_INLINE SyncBatchNormImpl::SyncBatchNormImpl(const ::torch::nn::BatchNormOptions& given)
    : options(given) {
  SyncBatchNormImpl::reset();
}

DISTRIBUTE_INLINE SyncBatchNormImpl::SyncBatchNormImpl(const ::torch::nn::BatchNormOptions& given,
                                                       BatchNormState state)
    : options(given) {
  register_state(std::move(state));
}

DISTRIBUTE_INLINE void SyncBatchNormImpl::reset() {
  const int64_t features = options.num_features();
  BatchNormState state;
  if (options.affine()) {
    state.weight = ::torch::ones({features});
    state.bias = ::torch::zeros({features});
  }
  if (options.track_running_stats()) {
    state.running_mean = ::torch::zeros({features});
    state.running_var = ::torch::ones({features});
    state.num_batches_tracked = ::torch::tensor(0, ::torch::kLong);
  }
  register_state(std::move(state));
}

DISTRIBUTE_INLINE void SyncBatchNormImpl::register_state(BatchNormState state) {
  weight = register_parameter("weight", std::move(state.weight));
  bias = register_parameter("bias", std::move(state.bias));
  running_mean = register_buffer("running_mean", std::move(state.running_mean));
  running_var = register_buffer("running_var", std::move(state.running_var));
  num_batches_tracked =
      register_buffer("num_batches_tracked", std::move(state.num_batches_tracked));
}

DISTRIBUTE_INLINE void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << "SyncBatchNorm(" << options.num_features() << ", eps=" << options.eps() << ")";
}

DISTRIBUTE_INLINE Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  if (input.dim() < 2 || input.size(1) != options.num_features()) {
    std::ostringstream shape;
    shape << input.sizes();
    throw InvalidArgumentError(str_cat("SyncBatchNorm: an input of shape ", shape.str(),
                                       " does not have ", options.num_features(),
                                       " features on axis 1"));
  }
  if (is_training() || !running_mean.defined()) return normalize_with_ranks(input);
  return ::torch::batch_norm(input, weight, bias, running_mean, running_var, false, 0,
                             options.eps(), false);
}

DISTRIBUTE_INLINE Tensor SyncBatchNormImpl::normalize_with_ranks(const Tensor& input) {
  using torch_internal::along_features;
  const int64_t axes = input.dim();
  std::vector<int64_t> others{0};
  for (int64_t axis = 2; axis < axes; ++axis) others.push_back(axis);
  const Tensor values = input.to(::torch::kFloat);
  const Tensor own = ::torch::full({1}, double(input.numel() / input.size(1)), values.options());
  const Tensor sums = sum_over_ranks(::torch::cat({values.sum(others), own}));
  const double count = sums[-1].item<double>();
  const Tensor mean = sums.slice(0, 0, -1) / count;
  const Tensor centred = values - along_features(mean, axes);
  const Tensor var = sum_over_ranks(centred.square().sum(others)) / count;
  if (running_mean.defined() && is_training()) {
    const ::torch::NoGradGuard no_grad;
    num_batches_tracked.add_(1);
    const double rate =
        options.momentum() ? *options.momentum() : 1.0 / num_batches_tracked.item<double>();
    running_mean.lerp_(mean.detach(), rate);
    running_var.lerp_(var.detach() * (count / (count - 1)), rate);
  }
  Tensor result = centred * along_features((var + options.eps()).rsqrt(), axes);
  if (weight.defined()) result = result * along_features(weight, axes) + along_features(bias, axes);
  return result.to(input.scalar_type());
}

/// Returns the synchronized form of a batch normalization; null for another module.
DISTRIBUTE_INLINE SyncBatchNorm synchronized(const ::torch::nn::Module& module) {
  if (const auto* norm = module.as<::torch::nn::BatchNorm1dImpl>())
    return convert_sync_batchnorm(*norm);
  if (const auto* norm = module.as<::torch::nn::BatchNorm2dImpl>())
    return convert_sync_batchnorm(*norm);
  if (const auto* norm = module.as<::torch::nn::BatchNorm3dImpl>())
    return convert_sync_batchnorm(*norm);
  return nullptr;
}

/// Throws  InvalidArgumentError for a batch normalization among the members of `module`.
DISTRIBUTE_INLINE void check_members(const std::string& name, const ::torch::nn::Module& module) {
  for (const auto& part : module.named_modules(name, /*include_self=*/false))
    if (synchronized(*part.value()))
      throw InvalidArgumentError(str_cat("convert_sync_batchnorm: ", part.key(),
                                         " is a member of a class and cannot be replaced; declare "
                                         "it as distribute::torch::SyncBatchNorm"));
}

DISTRIBUTE_INLINE ::torch::nn::Sequential convert_sync_batchnorm(
    const ::torch::nn::Sequential& sequence) {
  ::torch::OrderedDict<std::string, ::torch::nn::AnyModule> parts;
  const auto names = sequence->named_children();
  for (const ::torch::nn::AnyModule& part : *sequence) {
    const std::string& name = names[parts.size()].key();
    if (const SyncBatchNorm norm = synchronized(*part.ptr()); !norm.is_empty()) {
      parts.insert(name, ::torch::nn::AnyModule(norm.ptr()));
    } else {
      check_members(name, *part.ptr());
      parts.insert(name, part);
    }
  }
  ::torch::nn::Sequential made(std::move(parts));
  made->train(sequence->is_training());
  return made;
}

}  // namespace distribute::torch
