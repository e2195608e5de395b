#pragma once
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/resize_spans.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <vector>

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

/// Casts rounded numbers to the integers of a picture; bytes are limited to their range.
DISTRIBUTE_INLINE Tensor to_integers(const Tensor& x, DType dtype) {
  const Tensor rounded = round(x);
  if (dtype == DType::UInt8) return cast(clip_by_value(rounded, 0, 255), dtype);
  return cast(rounded, dtype);
}

/// Returns float32 [wanted, had]: the weight of each row of the image in every row of the resized
/// one.
DISTRIBUTE_INLINE Tensor resizing_matrix(int64_t wanted, int64_t had, Interpolation method,
                                         bool antialias) {
  std::vector<float> weights;
  const auto kernel = ops_internal::ResizeKernel(method);  // in the same order
  for (const auto& span : ops_internal::resize_spans(wanted, had, kernel, antialias)) {
    weights.resize(weights.size() + size_t(had));
    std::ranges::copy(span.weights, weights.end() - had + span.first);
  }
  return Tensor(Shape{wanted, had}, weights);
}
static_assert(int(Interpolation::Lanczos5) == int(ops_internal::ResizeKernel::Lanczos5));

DISTRIBUTE_INLINE Tensor resize(const Tensor& x, int64_t height, int64_t width,
                                Interpolation method, bool antialias = false) {
  if (!is_floating(x.dtype()))
    return to_integers(resize(cast(x, DType::Float32), height, width, method, antialias),
                       x.dtype());
  const Shape& s = x.shape();
  const auto matrix = [&](int64_t wanted, int64_t had) {
    return cast(resizing_matrix(wanted, had, method, antialias), x.dtype()).to(x.device());
  };
  const Tensor tall = matmul(matrix(height, s[1]), reshape(x, {s[0], s[1], s[2] * s[3]}));
  const Tensor wide = matmul(matrix(width, s[2]), reshape(tall, {s[0] * height, s[2], s[3]}));
  return reshape(wide, {s[0], height, width, s[3]});
}

/// The side that goes with `other` in an image with the wanted ratio of sides, rounded down.
DISTRIBUTE_INLINE int64_t side_for(int64_t other, int64_t wanted, int64_t other_wanted) {
  return int64_t(float(other * wanted) / float(other_wanted));
}

DISTRIBUTE_INLINE Tensor middle_of(const Tensor& x, int64_t height, int64_t width) {
  const auto middle = [](int64_t size, int64_t wanted) {
    const int64_t begin = (size - wanted) / 2;
    return Range{.begin = begin, .end = begin + wanted};
  };
  return strided_slice(x, {Range{}, middle(x.shape()[1], height), middle(x.shape()[2], width)});
}

DISTRIBUTE_INLINE Tensor cropped_to_ratio(const Tensor& x, int64_t height, int64_t width) {
  const int64_t rows = x.shape()[1], columns = x.shape()[2];
  const auto part = [](int64_t size, int64_t most) {
    return std::max<int64_t>(std::min(size, most), 1);
  };
  return middle_of(x, part(rows, side_for(columns, height, width)),
                   part(columns, side_for(rows, width, height)));
}

/// Both edges get the same, so an odd pixel is left out.
DISTRIBUTE_INLINE Tensor padded_to_ratio(const Tensor& x, int64_t height, int64_t width,
                                         double value) {
  const int64_t rows = x.shape()[1], columns = x.shape()[2];
  const int64_t down = std::max<int64_t>(side_for(columns, height, width) - rows, 0) / 2;
  const int64_t across = std::max<int64_t>(side_for(rows, width, height) - columns, 0) / 2;
  const std::vector<AxisPadding> around{{0, 0}, {down, down}, {across, across}, {0, 0}};
  if (value == 0) return pad(x, around);
  const Tensor inside = pad(fill({1, rows, columns, 1}, 1, x.dtype(), x.device()), around);
  const Tensor outside = fill(inside.shape(), 1, x.dtype(), x.device()) - inside;
  return pad(x, around) + outside * fill(Shape{}, float(value), x.dtype(), x.device());
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Resizing::Resizing(ResizingOptions options) : LayerOf(std::move(options)) {
  nn_internal::check_size("Resizing", options_.height, options_.width);
  if (options_.crop_to_aspect_ratio && options_.pad_to_aspect_ratio)
    throw InvalidArgumentError(
        "Resizing: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be true");
}

DISTRIBUTE_INLINE Tensor Resizing::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() == 3) return squeeze(call(expand_dims(x, 0), std::move(options)), {0});
  nn_internal::check_image(name(), x.shape());
  const auto& o = options_;
  if (o.pad_to_aspect_ratio && !is_floating(x.dtype()))
    return nn_internal::to_integers(call(cast(x, DType::Float32), std::move(options)), x.dtype());
  const Tensor image = o.crop_to_aspect_ratio ? nn_internal::cropped_to_ratio(x, o.height, o.width)
                       : o.pad_to_aspect_ratio
                           ? nn_internal::padded_to_ratio(x, o.height, o.width, o.fill_value)
                           : x;
  return nn_internal::resize(image, o.height, o.width, o.interpolation, o.antialias);
}

DISTRIBUTE_INLINE Tensor UpSampling2D::call(const Tensor& x, CallOptions) {
  nn_internal::check_image(name(), x.shape());
  const Shape& s = x.shape();
  if (interpolation_ != Interpolation::Nearest)
    return nn_internal::resize(x, s[1] * size_.height, s[2] * size_.width, interpolation_);
  return nn_internal::repeated(nn_internal::repeated(x, 1, size_.height), 2, size_.width);
}

DISTRIBUTE_INLINE CenterCrop::CenterCrop(CenterCropOptions options) : LayerOf(std::move(options)) {
  nn_internal::check_size("CenterCrop", options_.height, options_.width);
}

namespace nn_internal {

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
