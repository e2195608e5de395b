#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/device/detail/cuda_module.hpp>
#include <distribute/device/detail/kernel_text.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/normalization.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/replica/replica_context.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE Tensor value_or_none(const Variable& variable) {
  return variable ? variable.value() : Tensor();
}

/// The same with another axis last.
DISTRIBUTE_INLINE Tensor last_axis(const Tensor& x, int axis) {
  std::vector<int> order;
  for (int i = 0; i < x.shape().rank(); ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  return transpose(x, order);
}

/// Moves the last axis back to where last_axis() took it from.
DISTRIBUTE_INLINE Tensor axis_back(const Tensor& x, int axis) {
  std::vector<int> order;
  for (int i = 0; i + 1 < x.shape().rank(); ++i) order.push_back(i);
  order.insert(order.begin() + axis, x.shape().rank() - 1);
  return transpose(x, order);
}

/// moving * momentum + batch * (1 - momentum), off the tape.
DISTRIBUTE_INLINE Tensor blend(const Tensor& moving, const Tensor& batch, double momentum) {
  if (is_gpu(moving.device()) || is_gpu(batch.device()))
    return stop_gradient(moving) * momentum + stop_gradient(batch) * (1.0 - momentum);
  const auto old = moving.data<float>(), latest = batch.data<float>();
  Tensor result = Tensor::empty(moving.shape(), DType::Float32);
  float* out = result.mutable_data<float>();
  const float keep = float(momentum), take = float(1.0 - momentum);
  for (size_t i = 0; i < old.size(); ++i) out[i] = old[i] * keep + latest[i] * take;
  return result;
}

/// Whether the mask has one bool for each vector of channels. Your own module may pass the mask of
/// its input on with its options although the number of steps has changed.
DISTRIBUTE_INLINE bool masks_channels(const Tensor& mask, const Tensor& x) {
  return mask.shape() == Shape(x.shape().dims().first(size_t(x.shape().rank() - 1)));
}

DISTRIBUTE_KERNEL_TEXT(
    kBlendAveragesArguments, struct BlendAveragesArguments {
      const float* old[2];
      const float* latest[2];
      float* out[2];
      int64_t count;
      float keep;
      float take;
    };)
inline constexpr char kBlendAveragesText[] =
#include <distribute/device/kernels/blend_averages.cu.inc>
    ;

/// blend() of mean and variance. Where all are on one GPU it is one launch: a network with fifty
/// normalizations would wait for six hundred small ones otherwise.
DISTRIBUTE_INLINE std::pair<Tensor, Tensor> blend_both(const std::array<Tensor, 2>& moving,
                                                       const std::array<Tensor, 2>& batch,
                                                       double momentum) {
  const Device device = moving[0].device();
  const auto is_there = [&](const Tensor& t) {
    return t.device() == device && t.dtype() == DType::Float32 && t.shape() == moving[0].shape();
  };
  const bool together = is_gpu(device) && is_there(moving[1]) && is_there(batch[0]) &&
                        is_there(batch[1]) && moving[0].num_elements() > 0;
  if (!together)
    return {blend(moving[0], batch[0], momentum), blend(moving[1], batch[1], momentum)};
  BlendAveragesArguments p{};
  std::array<Tensor, 2> olds, latests, results;
  for (size_t i = 0; i < 2; ++i) {
    olds[i] = moving[i].row_major();
    latests[i] = batch[i].row_major();
    results[i] = Tensor::empty(moving[i].shape(), DType::Float32, device);
    p.old[i] = olds[i].array().data<float>();
    p.latest[i] = latests[i].array().data<float>();
    p.out[i] = results[i].array().data<float>();
  }
  p.count = moving[0].num_elements();
  p.keep = float(momentum);
  p.take = float(1.0 - momentum);
  launch_kernel(device, {kBlendAveragesText, "blend_averages", kBlendAveragesArguments},
                launch_for(2 * p.count), p);
  return {results[0], results[1]};
}

}  // namespace nn_internal

DISTRIBUTE_INLINE BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : LayerOf(std::move(options)) {
  if (options_.momentum < 0 || options_.momentum > 1)
    throw InvalidArgumentError(
        str_cat("BatchNormalization: momentum must be in [0, 1], got ", options_.momentum));
  const auto& [rmax, rmin, dmax] = options_.renorm_clipping;
  if (rmax && rmin && *rmax < *rmin)
    throw InvalidArgumentError(str_cat("rmax should be greater than rmin in the `renorm_clipping` ",
                                       "argument. Received: rmax=", *rmax, ", rmin=", *rmin, "."));
  if (dmax && *dmax < 0)
    throw InvalidArgumentError(str_cat("dmax should be non-negative in the `renorm_clipping` ",
                                       "argument. Received: dmax=", *dmax, "."));
}

DISTRIBUTE_INLINE void BatchNormalization::build(const Shape& input) {
  if (input.rank() < 2)
    throw InvalidArgumentError(
        str_cat("BatchNormalization '", name(), "' takes [..., channels], got ", to_string(input)));
  const Shape channels{input[options_.axis]};
  if (options_.scale)
    gamma_ = add_weight("gamma", channels, options_.gamma_initializer,
                        nn_internal::constrained(options_.gamma_constraint));
  if (options_.center)
    beta_ = add_weight("beta", channels, options_.beta_initializer,
                       nn_internal::constrained(options_.beta_constraint));
  const VariableOptions moving{.trainable = false,
                               .synchronization = VariableSynchronization::OnRead,
                               .aggregation = VariableAggregation::Mean};
  moving_mean_ = add_weight("moving_mean", channels, options_.moving_mean_initializer, moving);
  moving_variance_ =
      add_weight("moving_variance", channels, options_.moving_variance_initializer, moving);
  if (!options_.renorm) return;
  const auto first_deviation = [variance = options_.moving_variance_initializer](const Shape& shape,
                                                                                 uint64_t seed) {
    return sqrt(variance(shape, seed));
  };
  moving_stddev_ = add_weight("moving_stddev", channels, first_deviation, moving);
  renorm_mean_ = add_weight("renorm_mean", channels, options_.moving_mean_initializer, moving);
  renorm_stddev_ = add_weight("renorm_stddev", channels, first_deviation, moving);
}

DISTRIBUTE_INLINE Tensor BatchNormalization::call(const Tensor& x, CallOptions options) {
  return normalize(x, Tensor(), options);
}

DISTRIBUTE_INLINE Tensor BatchNormalization::with_residual(const Tensor& x, const Tensor& residual,
                                                           CallOptions options) {
  ensure_built(x.shape());
  return normalize(autocast(x), autocast(residual), options);
}

DISTRIBUTE_INLINE Tensor BatchNormalization::normalize(const Tensor& x, const Tensor& residual,
                                                       CallOptions options) {
  const int axis = x.shape().normalize_axis(options_.axis);
  if (axis == x.shape().rank() - 1) return normalize_last(x, residual, std::move(options));
  if (options.training && trainable() && (options.mask || get_keras_mask(x)))
    throw UnimplementedError(str_cat("BatchNormalization '", name(),
                                     "': a mask needs the channels ",
                                     "in the last axis; put a Permute before the layer"));
  const Tensor rest = residual ? nn_internal::last_axis(residual, axis) : residual;
  return nn_internal::axis_back(
      normalize_last(nn_internal::last_axis(x, axis), rest, std::move(options)), axis);
}

DISTRIBUTE_INLINE Tensor BatchNormalization::normalize_last(const Tensor& x, const Tensor& residual,
                                                            CallOptions options) {
  const Tensor gamma = nn_internal::value_or_none(gamma_);
  const Tensor beta = nn_internal::value_or_none(beta_);
  const bool training = options.training && trainable();
  const Tensor mask = options.mask ? options.mask : get_keras_mask(x);
  if (training && mask && nn_internal::masks_channels(mask, x))
    return finished(normalize_masked(x, mask), x, residual);
  const Epilogue epilogue = nn_internal::epilogue_of(options_.activation);
  FusedBatchNormOptions fused{.epsilon = options_.epsilon,
                              .training = training,
                              .residual = residual,
                              .epilogue = epilogue};
  const ReplicaContext* replica = get_replica_context();
  if (training && options_.synchronized && replica && replica->num_replicas_in_sync() > 1)
    fused.sum_over_replicas = [](const Tensor& sums) {
      return get_replica_context()->all_reduce(ReduceOp::Sum, sums);
    };
  if (!training) {
    fused.mean = moving_mean_.value();
    fused.variance = moving_variance_.value();
  }
  if (training && options_.renorm) {
    fused.residual = {};
    fused.epilogue = Epilogue::None;
    const FusedBatchNorm plain = fused_batch_norm(cast(x, DType::Float32), {}, {}, fused);
    return finished(
        plain.has_statistics ? corrected(plain.y, plain.batch_mean, plain.batch_variance) : plain.y,
        x, residual);
  }
  const FusedBatchNorm result = fused_batch_norm(x, gamma, beta, fused);
  if (result.has_statistics) move(result.batch_mean, result.batch_variance);
  return nn_internal::activate(options_.activation, result.y);
}

/// Normalizes with the moments of the steps that count. Source  BatchNormalization._moments
DISTRIBUTE_INLINE Tensor BatchNormalization::normalize_masked(const Tensor& x, const Tensor& mask) {
  const Tensor wide = cast(x, DType::Float32), counts = expand_dims(mask, -1);
  const Tensor none = scalar_like(wide, 0);
  std::vector<int> axes(size_t(x.shape().rank() - 1));
  std::iota(axes.begin(), axes.end(), 0);
  const Tensor number = reduce_sum(cast(counts, DType::Float32)) + 1e-7f;
  const Tensor mean = reduce_sum(where(counts, wide, none), axes) / number;
  const Tensor variance = reduce_sum(square(where(counts, wide - mean, none)), axes) / number;
  const Tensor y = (wide - mean) * rsqrt(variance + options_.epsilon);
  if (options_.renorm) return corrected(y, stop_gradient(mean), stop_gradient(variance));
  move(stop_gradient(mean), stop_gradient(variance));
  return y;
}

/// Applies gamma, beta, the residual and the activation.
DISTRIBUTE_INLINE Tensor BatchNormalization::finished(const Tensor& normalized, const Tensor& x,
                                                      const Tensor& residual) {
  Tensor y = normalized;
  if (gamma_) y = y * gamma_.value();
  if (beta_) y = y + beta_.value();
  y = cast(y, x.dtype());
  if (residual) y = y + residual;
  return options_.activation ? options_.activation(y) : y;
}

/// Applies the corrections of batch renormalization, and moves the statistics.
/// Source  BatchNormalization._renorm_correction_and_moments
DISTRIBUTE_INLINE Tensor BatchNormalization::corrected(const Tensor& normalized, const Tensor& mean,
                                                       const Tensor& variance) {
  const auto& [rmax, rmin, dmax] = options_.renorm_clipping;
  const Tensor deviation = sqrt(variance + options_.epsilon);
  const Tensor usual = stop_gradient(renorm_stddev_.value());
  const Tensor divisor = maximum(usual, scalar_like(usual, std::sqrt(options_.epsilon)));
  Tensor r = deviation / divisor, d = (mean - stop_gradient(renorm_mean_.value())) / divisor;
  if (rmin) r = maximum(r, scalar_like(r, *rmin));
  if (rmax) r = minimum(r, scalar_like(r, *rmax));
  if (dmax) d = minimum(maximum(d, scalar_like(d, -*dmax)), scalar_like(d, *dmax));
  move_renormed(mean, deviation);
  return normalized * stop_gradient(r) + stop_gradient(d);
}

/// Source  BatchNormalization._update_renorm_statistics
DISTRIBUTE_INLINE void BatchNormalization::move_renormed(const Tensor& mean,
                                                         const Tensor& deviation) {
  const auto move = [](const Variable& moving, const Tensor& batch, double momentum) {
    const Tensor moved = nn_internal::blend(moving.value(), stop_gradient(batch), momentum);
    moving.assign(moved);
    return moved;
  };
  move(renorm_mean_, mean, options_.renorm_momentum);
  move(renorm_stddev_, deviation, options_.renorm_momentum);
  move(moving_mean_, mean, options_.momentum);
  const Tensor stddev = move(moving_stddev_, deviation, options_.momentum);
  moving_variance_.assign(stop_gradient(relu(square(stddev) - options_.epsilon)));
}

DISTRIBUTE_INLINE void BatchNormalization::move(const Tensor& mean, const Tensor& variance) {
  const auto [new_mean, new_variance] = nn_internal::blend_both(
      {moving_mean_.value(), moving_variance_.value()}, {mean, variance}, options_.momentum);
  moving_mean_.assign(new_mean);
  moving_variance_.assign(new_variance);
}

DISTRIBUTE_INLINE std::vector<Tensor> BatchNormalization::own_losses() const {
  return nn_internal::penalties(options_.gamma_regularizer, gamma_, options_.beta_regularizer,
                                beta_);
}

DISTRIBUTE_INLINE void LayerNormalization::build(const Shape& input) {
  std::vector<bool> taken(size_t(input.rank()));
  for (const int axis : options_.axis.list) {
    const size_t at = size_t(input.normalize_axis(axis));
    if (taken[at])
      throw InvalidArgumentError(
          str_cat("LayerNormalization '", name(), "': axis ", axis, " comes twice"));
    taken[at] = true;
  }
  std::vector<int> order;
  Shape shape;
  for (const bool last : {false, true})
    for (int i = 0; i < input.rank(); ++i)
      if (taken[size_t(i)] == last) {
        order.push_back(i);
        if (last) shape.push_back(input[i]);
      }
  if (shape.rank() == 0)
    throw InvalidArgumentError(str_cat("LayerNormalization '", name(), "': no axes"));
  first_ = -shape.rank();
  order_ = std::is_sorted(order.begin(), order.end()) ? std::vector<int>() : order;
  if (options_.scale)
    gamma_ = add_weight("gamma", shape, options_.gamma_initializer,
                        nn_internal::constrained(options_.gamma_constraint));
  if (options_.center)
    beta_ = add_weight("beta", shape, options_.beta_initializer,
                       nn_internal::constrained(options_.beta_constraint));
}

DISTRIBUTE_INLINE Tensor LayerNormalization::call(const Tensor& x, CallOptions) {
  const Tensor turned = order_.empty() ? x : transpose(x, order_);
  const Tensor y = layer_normalization(turned, nn_internal::value_or_none(gamma_),
                                       nn_internal::value_or_none(beta_),
                                       {.epsilon = options_.epsilon, .begin_axis = first_});
  if (order_.empty()) return y;
  std::vector<int> back(order_.size());
  for (size_t i = 0; i < order_.size(); ++i) back[size_t(order_[i])] = int(i);
  return transpose(y, back);
}

DISTRIBUTE_INLINE std::vector<Tensor> LayerNormalization::own_losses() const {
  return nn_internal::penalties(options_.gamma_regularizer, gamma_, options_.beta_regularizer,
                                beta_);
}

}  // namespace distribute::nn
