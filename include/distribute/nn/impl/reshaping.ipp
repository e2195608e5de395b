#pragma once
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>

namespace distribute::nn {

DISTRIBUTE_INLINE Reshape::Reshape(std::vector<int64_t> target_shape, std::string name)
    : Module(std::move(name)), target_shape_(std::move(target_shape)) {}

DISTRIBUTE_INLINE Tensor Reshape::call(const Tensor& x, CallOptions) {
  std::vector<int64_t> shape{x.shape()[0]};
  shape.insert(shape.end(), target_shape_.begin(), target_shape_.end());
  return reshape(x, shape);
}

DISTRIBUTE_INLINE Permute::Permute(std::vector<int> dims, std::string name)
    : Module(std::move(name)), dims_(std::move(dims)) {
  std::vector<int> sorted = dims_;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int(i) + 1)
      throw InvalidArgumentError(
          "Invalid permutation argument `dims` for Permute Layer: the set of "
          "indices in `dims` must be consecutive and start from 1");
}

DISTRIBUTE_INLINE Tensor Permute::call(const Tensor& x, CallOptions) {
  std::vector<int> order{0};
  order.insert(order.end(), dims_.begin(), dims_.end());
  return transpose(x, order);
}

DISTRIBUTE_INLINE RepeatVector::RepeatVector(int64_t n, std::string name)
    : Module(std::move(name)), n_(n) {
  if (n < 1) throw InvalidArgumentError(str_cat("RepeatVector: n must be at least 1, got ", n));
}

DISTRIBUTE_INLINE Tensor RepeatVector::call(const Tensor& x, CallOptions) {
  if (x.shape().rank() != 2)
    throw InvalidArgumentError(
        str_cat("layer '", name(), "' takes [batch, features], got ", to_string(x.shape())));
  return broadcast_to(expand_dims(x, 1), {x.shape()[0], n_, x.shape()[1]});
}

DISTRIBUTE_INLINE ZeroPadding2D::ZeroPadding2D(Size2D padding)
    : ZeroPadding2D(ZeroPadding2DOptions{.rows = {padding.height, padding.height},
                                         .columns = {padding.width, padding.width}}) {}

DISTRIBUTE_INLINE ZeroPadding2D::ZeroPadding2D(ZeroPadding2DOptions options)
    : Module(options.name), options_(std::move(options)) {}

DISTRIBUTE_INLINE Tensor ZeroPadding2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  return pad(x, {AxisPadding{0, 0}, options_.rows, options_.columns, AxisPadding{0, 0}});
}

DISTRIBUTE_INLINE UpSampling2D::UpSampling2D(Size2D size, std::string name)
    : Module(std::move(name)), size_(size) {
  if (size.height < 1 || size.width < 1)
    throw InvalidArgumentError("UpSampling2D: sizes must be at least 1");
}

DISTRIBUTE_INLINE UpSampling2D::UpSampling2D(Size2D size, Interpolation interpolation,
                                             std::string name)
    : UpSampling2D(size, std::move(name)) {
  interpolation_ = interpolation;
}

namespace nn_internal {

/// Returns [wanted, had], the weight of each row of the image in every row of the resized one. The
/// middle of a pixel keeps its position.
DISTRIBUTE_INLINE Tensor resizing_matrix(int64_t wanted, int64_t had, Interpolation method) {
  std::vector<float> weights(size_t(wanted * had));
  const float scale = float(had) / float(wanted);
  for (int64_t i = 0; i < wanted; ++i) {
    float* const row = weights.data() + i * had;
    const float middle = (float(i) + 0.5f) * scale;
    if (method == Interpolation::Nearest) {
      row[std::min(int64_t(middle), had - 1)] = 1;
      continue;
    }
    const float at = std::clamp(middle - 0.5f, 0.0f, float(had - 1));
    const int64_t below = std::min(int64_t(at), had - 1), above = std::min(below + 1, had - 1);
    row[below] += 1 - (at - float(below));
    row[above] += at - float(below);
  }
  return Tensor(Shape{wanted, had}, weights);
}

DISTRIBUTE_INLINE Tensor resize(const Tensor& x, int64_t height, int64_t width,
                                Interpolation method) {
  if (!is_floating(x.dtype()))
    return cast(round(resize(cast(x, DType::Float32), height, width, method)), x.dtype());
  const Shape& s = x.shape();
  const auto matrix = [&](int64_t wanted, int64_t had) {
    return cast(resizing_matrix(wanted, had, method), x.dtype()).to(x.device());
  };
  const Tensor tall = matmul(matrix(height, s[1]), reshape(x, {s[0], s[1], s[2] * s[3]}));
  const Tensor wide = matmul(matrix(width, s[2]), reshape(tall, {s[0] * height, s[2], s[3]}));
  return reshape(wide, {s[0], height, width, s[3]});
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Resizing::Resizing(ResizingOptions options)
    : Module(options.name), options_(std::move(options)) {
  if (options_.height < 1 || options_.width < 1)
    throw InvalidArgumentError(str_cat("Resizing: height ", options_.height, " and width ",
                                       options_.width, " must be at least 1"));
}

DISTRIBUTE_INLINE Tensor Resizing::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() == 3) return squeeze(call(expand_dims(x, 0), std::move(options)), {0});
  nn_internal::check_image(name(), x.shape());
  return nn_internal::resize(x, options_.height, options_.width, options_.interpolation);
}

DISTRIBUTE_INLINE TimeDistributed::TimeDistributed(std::unique_ptr<Module> layer, std::string name)
    : Module(std::move(name)) {
  add_element(std::move(layer));
}

namespace nn_internal {

DISTRIBUTE_INLINE bool normalizes_batches(Module& layer) {
  if (dynamic_cast<BatchNormalization*>(&layer)) return true;
  for (Module* part : layer.submodules())
    if (dynamic_cast<BatchNormalization*>(part)) return true;
  return false;
}

}  // namespace nn_internal

/// Calls the layer for one step after the other. Source  TimeDistributed.call of Keras
DISTRIBUTE_INLINE Tensor TimeDistributed::by_step(const Tensor& x, const CallOptions& options) {
  std::vector<Tensor> results;
  const auto step_of = [](const Tensor& all, int64_t i) {
    return squeeze(strided_slice(all, {Range{}, Range{.begin = i, .end = i + 1}}), {1});
  };
  for (int64_t i = 0; i < x.shape()[1]; ++i)
    results.push_back(expand_dims(
        layer()(step_of(x, i),
                {.training = true, .mask = options.mask ? step_of(options.mask, i) : Tensor()}),
        1));
  return concat(results, 1);
}

DISTRIBUTE_INLINE Tensor TimeDistributed::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() < 3)
    throw InvalidArgumentError(str_cat("layer '", this->name(), "' takes [batch, steps, ...], not ",
                                       to_string(x.shape())));
  const auto joined = [](int64_t batch, std::span<const int64_t> rest) {
    std::vector<int64_t> sizes{batch};
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    return Shape(std::span<const int64_t>(sizes));
  };
  const int64_t batch = x.shape()[0], steps = x.shape()[1];
  if (options.training && steps > 0 && nn_internal::normalizes_batches(layer()))
    return by_step(x, options);
  const Tensor flat = reshape(x, joined(batch * steps, x.shape().dims().subspan(2)));
  const Tensor y = layer()(flat, {.training = options.training});
  std::vector<int64_t> sizes{batch, steps};
  for (const int64_t size : y.shape().dims().subspan(1)) sizes.push_back(size);
  return reshape(y, Shape(std::span<const int64_t>(sizes)));
}

DISTRIBUTE_INLINE Tensor UpSampling2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  const Shape& s = x.shape();
  if (interpolation_ == Interpolation::Bilinear)
    return nn_internal::resize(x, s[1] * size_.height, s[2] * size_.width, interpolation_);
  const auto repeated = [](const Tensor& t, int axis, int64_t times) {
    return concat(std::vector<Tensor>(size_t(times), expand_dims(t, axis)), axis);
  };
  const int64_t rows = s[1] * size_.height;
  const Tensor tall = reshape(repeated(x, 2, size_.height), {s[0], rows, s[2], s[3]});
  return reshape(repeated(tall, 3, size_.width), {s[0], rows, s[2] * size_.width, s[3]});
}

DISTRIBUTE_INLINE Lambda::Lambda(std::function<Tensor(const Tensor&)> function, std::string name)
    : Module(std::move(name)), function_(std::move(function)) {
  if (!function_) throw InvalidArgumentError("Lambda: no function");
}

DISTRIBUTE_INLINE Tensor Lambda::call(const Tensor& x, CallOptions) { return function_(x); }

}  // namespace distribute::nn
