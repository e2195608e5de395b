#pragma once
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE void check_repeats(const char* layer, int64_t least) {
  if (least < 1) throw InvalidArgumentError(str_cat(layer, ": sizes must be at least 1"));
}

DISTRIBUTE_INLINE void check_size(const char* layer, int64_t height, int64_t width) {
  if (height < 1 || width < 1)
    throw InvalidArgumentError(
        str_cat(layer, ": height ", height, " and width ", width, " must be at least 1"));
}

/// Every element `times` times, one behind the other.
DISTRIBUTE_INLINE Tensor repeated(const Tensor& x, int axis, int64_t times) {
  if (times == 1) return reshape(x, x.shape());  // without x's mask
  const Shape shape = x.shape().with(axis, x.shape()[axis] * times);
  return reshape(concat(std::vector<Tensor>(size_t(times), expand_dims(x, axis + 1)), axis + 1),
                 shape);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE UpSampling1D::UpSampling1D(int64_t size, std::string name)
    : Module(std::move(name)), size_(size) {
  nn_internal::check_repeats("UpSampling1D", size);
}

DISTRIBUTE_INLINE Tensor UpSampling1D::call(const Tensor& x, CallOptions) {
  nn_internal::check_sequence(name(), x.shape());
  return nn_internal::repeated(x, 1, size_);
}

DISTRIBUTE_INLINE UpSampling3D::UpSampling3D(Size3D size, std::string name)
    : Module(std::move(name)), size_(size) {
  nn_internal::check_repeats("UpSampling3D", std::min({size.depth, size.height, size.width}));
}

DISTRIBUTE_INLINE Tensor UpSampling3D::call(const Tensor& x, CallOptions) {
  nn_internal::check_volume(name(), x.shape());
  using nn_internal::repeated;
  return repeated(repeated(repeated(x, 1, size_.depth), 2, size_.height), 3, size_.width);
}

DISTRIBUTE_INLINE UpSampling2D::UpSampling2D(Size2D size, std::string name)
    : Module(std::move(name)), size_(size) {
  nn_internal::check_repeats("UpSampling2D", std::min(size.height, size.width));
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

DISTRIBUTE_INLINE Resizing::Resizing(ResizingOptions options) : LayerOf(std::move(options)) {
  nn_internal::check_size("Resizing", options_.height, options_.width);
}

DISTRIBUTE_INLINE Tensor Resizing::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() == 3) return squeeze(call(expand_dims(x, 0), std::move(options)), {0});
  nn_internal::check_image(name(), x.shape());
  return nn_internal::resize(x, options_.height, options_.width, options_.interpolation);
}

DISTRIBUTE_INLINE Tensor UpSampling2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  const Shape& s = x.shape();
  if (interpolation_ == Interpolation::Bilinear)
    return nn_internal::resize(x, s[1] * size_.height, s[2] * size_.width, interpolation_);
  return nn_internal::repeated(nn_internal::repeated(x, 1, size_.height), 2, size_.width);
}

DISTRIBUTE_INLINE CenterCrop::CenterCrop(CenterCropOptions options) : LayerOf(std::move(options)) {
  nn_internal::check_size("CenterCrop", options_.height, options_.width);
}

namespace nn_internal {

DISTRIBUTE_INLINE Tensor middle_of(const Tensor& x, int64_t height, int64_t width) {
  const auto middle = [](int64_t size, int64_t wanted) {
    const int64_t begin = (size - wanted) / 2;
    return Range{.begin = begin, .end = begin + wanted};
  };
  return strided_slice(x, {Range{}, middle(x.shape()[1], height), middle(x.shape()[2], width)});
}

/// The part of `size` pixels that has the ratio of the wanted sides, if the other side is whole.
DISTRIBUTE_INLINE int64_t part_of_side(int64_t size, int64_t other, int64_t wanted,
                                       int64_t other_wanted) {
  return std::max<int64_t>(std::min(size, int64_t(double(other * wanted) / double(other_wanted))),
                           1);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor CenterCrop::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() == 3) return squeeze(call(expand_dims(x, 0), std::move(options)), {0});
  nn_internal::check_image(name(), x.shape());
  const Tensor images = cast(x, dtype_policy().compute_dtype());
  const int64_t rows = x.shape()[1], columns = x.shape()[2];
  const int64_t height = options_.height, width = options_.width;
  if (rows >= height && columns >= width) return nn_internal::middle_of(images, height, width);
  const Tensor part =
      nn_internal::middle_of(images, nn_internal::part_of_side(rows, columns, height, width),
                             nn_internal::part_of_side(columns, rows, width, height));
  return nn_internal::resize(part, height, width, Interpolation::Bilinear);
}

}  // namespace distribute::nn
