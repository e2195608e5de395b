#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/preprocessing/normalization.hpp>

#include <algorithm>

namespace distribute::preprocessing {

/// The moments of all batches so far.
struct Normalization::Moments {
  Tensor mean, variance;
  double count = 0;
};

DISTRIBUTE_INLINE Normalization::Normalization(NormalizationOptions options)
    : Module(options.name), options_(std::move(options)) {
  const Tensor &mean = options_.mean, &variance = options_.variance;
  if (bool(mean) != bool(variance) || (mean && mean.shape() != variance.shape()))
    throw InvalidArgumentError("Normalization: give both mean and variance, of one shape, or none");
  if (mean && mean.shape().rank() > int64_t(options_.axis.size()))
    throw InvalidArgumentError(str_cat("Normalization: a mean of shape ", to_string(mean.shape()),
                                       " for ", options_.axis.size(), " axes"));
}

DISTRIBUTE_INLINE std::vector<int64_t> Normalization::kept_axes(int64_t rank) const {
  std::vector<int64_t> axes;
  for (int64_t axis : options_.axis) {
    if (axis < -rank || axis >= rank)
      throw InvalidArgumentError(
          str_cat("Normalization: axis ", axis, " of an input with ", rank, " axes"));
    axes.push_back(axis < 0 ? axis + rank : axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// Gives the sizes of the axes that keep their own mean, and 1 for the others.
DISTRIBUTE_INLINE Shape Normalization::broadcast_shape(const Shape& input) const {
  std::vector<int64_t> dims(size_t(input.rank()), 1);
  for (const int64_t axis : kept_axes(input.rank())) dims[size_t(axis)] = input[axis];
  return Shape(std::span<const int64_t>(dims));
}

DISTRIBUTE_INLINE void Normalization::build(const Shape& input) {
  Shape sizes;
  for (const int64_t axis : kept_axes(input.rank())) sizes.push_back(input[axis]);
  if (options_.mean) return;
  mean_ = add_weight("mean", sizes, nn::initializers::zeros(), {.trainable = false});
  variance_ = add_weight("variance", sizes, nn::initializers::ones(), {.trainable = false});
  count_ = add_weight("count", {}, nn::initializers::value(zeros({}, DType::Int64)),
                      {.trainable = false, .dtype = DType::Int64});
}

DISTRIBUTE_INLINE Tensor Normalization::call(const Tensor& x, nn::CallOptions) {
  const DType dtype = dtype_policy().compute_dtype();
  const Tensor input = cast(x, dtype);
  Tensor mean = options_.mean ? options_.mean : mean_.value();
  Tensor variance = options_.variance ? options_.variance : variance_.value();
  if (mean.shape().rank() > 0) {
    // If x has fewer axes than are kept, its axes are the last ones.
    std::vector<int64_t> dims(size_t(x.shape().rank()), 1);
    const std::vector<int64_t> kept = kept_axes(x.shape().rank());
    for (int64_t i = 1; i <= mean.shape().rank(); ++i)
      dims[size_t(kept[kept.size() - size_t(i)])] = mean.shape()[-i];
    mean = reshape(mean, Shape(std::span<const int64_t>(dims)));
    variance = reshape(variance, mean.shape());
  }
  constexpr float kEpsilon = 1e-7f;
  const Tensor deviation = cast(
      maximum(sqrt(variance.to(x.device())), fill(Shape{}, kEpsilon, variance.dtype(), x.device())),
      dtype);
  mean = cast(mean.to(x.device()), dtype);
  return options_.invert ? mean + input * deviation : (input - mean) / deviation;
}

DISTRIBUTE_INLINE void Normalization::add(const Tensor& batch, Moments& moments) {
  if (options_.mean)
    throw FailedPreconditionError(
        "Normalization: mean and variance were given; adapt() finds none");
  ensure_built(batch.shape());
  const Shape sizes = broadcast_shape(batch.shape());
  if (sizes.num_elements() != mean_.shape().num_elements())
    throw InvalidArgumentError(str_cat("Normalization: data ", to_string(batch.shape()),
                                       " for a layer with means ", to_string(mean_.shape())));
  std::vector<int> reduced;
  const std::vector<int64_t> kept = kept_axes(batch.shape().rank());
  double count = 1;
  for (int64_t axis = 0; axis < batch.shape().rank(); ++axis) {
    if (std::find(kept.begin(), kept.end(), axis) != kept.end()) continue;
    reduced.push_back(int(axis));
    count *= double(batch.shape()[axis]);
  }
  if (count == 0) return;
  const Tensor x = cast(batch, DType::Float32);
  const Tensor wide = reduced.empty() ? x : reduce_mean(x, reduced, true);
  const Tensor spread = square(x - wide);
  Tensor mean = reshape(wide, mean_.shape());
  Tensor variance =
      reshape(reduced.empty() ? spread : reduce_mean(spread, reduced, true), mean_.shape());
  moments.count += count;
  const float now = float(count / moments.count), before = 1 - now;
  if (moments.mean) {
    const Tensor old = moments.mean, joined = old * before + mean * now;
    variance = (moments.variance + square(old - joined)) * before +
               (variance + square(mean - joined)) * now;
    mean = joined;
  }
  moments.mean = mean;
  moments.variance = variance;
}

DISTRIBUTE_INLINE void Normalization::adapt(const data::Dataset& dataset) {
  data::require_end(dataset.cardinality(), "adapt", "it `.take(count)`");
  constexpr int64_t kBatch = 128;
  const data::ElementSpec spec = dataset.element_spec();
  const bool single = !spec.empty() && spec[0].shape.size() == 1;
  Moments moments;
  for (const data::Batch& element : single ? dataset.batch(kBatch) : dataset)
    add(element.x, moments);
  if (!moments.mean) throw InvalidArgumentError("Normalization: adapt() got no data");
  mean_.assign(moments.mean);
  variance_.assign(moments.variance);
}

DISTRIBUTE_INLINE void Normalization::adapt(const Tensor& data) {
  Moments moments;
  add(data, moments);
  if (!moments.mean) throw InvalidArgumentError("Normalization: adapt() got no data");
  mean_.assign(moments.mean);
  variance_.assign(moments.variance);
}

DISTRIBUTE_INLINE Rescaling::Rescaling(RescalingOptions options)
    : Module(options.name), options_(std::move(options)) {
  if (options_.scale.shape().rank() > 1 || options_.offset.shape().rank() > 1)
    throw InvalidArgumentError("Rescaling: scale and offset are scalars or have one axis");
}

DISTRIBUTE_INLINE Tensor Rescaling::call(const Tensor& x, nn::CallOptions) {
  const DType dtype = dtype_policy().compute_dtype();
  return cast(x, dtype) * cast(options_.scale.to(x.device()), dtype) +
         cast(options_.offset.to(x.device()), dtype);
}

}  // namespace distribute::preprocessing
