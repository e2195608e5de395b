#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/preprocessing/random_images.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace distribute::preprocessing {

namespace preprocessing_internal {

/// A pixel that contributes to one pixel of the result, and its weight; -1 is the value outside.
struct Corner {
  int64_t pixel = -1;
  float share = 0;
};
using Corners = std::array<Corner, 4>;

/// Gives the coordinate inside of [0, size - 1] that represents one outside.
/// Source  the coordinates of tf.raw_ops.ImageProjectiveTransformV3
DISTRIBUTE_INLINE float folded(float at, int64_t size, FillMode mode) {
  if (mode == FillMode::Constant) return at;
  const float length = float(size), last = length - 1;
  if (mode != FillMode::Nearest && (at < 0 || at > last)) {
    if (size <= 1) return 0;
    if (mode == FillMode::Wrap) {
      at += at < 0 ? length * (std::trunc(-at / last) + 1) : -length * std::trunc(at / last);
    } else if (at < 0) {
      at += 2 * length * std::trunc(-at / (2 * length));
      at = at < -length ? at + 2 * length : -at - 1;
    } else {
      at -= 2 * length * std::trunc(at / (2 * length));
      if (at >= length) at = 2 * length - at - 1;
    }
  }
  return std::clamp(at, 0.0f, last);
}

struct Picture {
  int64_t height, width;
  AffineTransformOptions options;

  Corner corner(float x, float y, float share) const {
    if (!(x >= 0 && x < float(width) && y >= 0 && y < float(height))) return {-1, share};
    return {int64_t(y) * width + int64_t(x), share};
  }

  /// Gives the pixels around the point that `transform` (8 numbers) assigns to (x, y).
  Corners corners(const float* transform, float x, float y) const {
    const float* t = transform;
    const float k = t[6] * x + t[7] * y + 1;
    const float from_x = (t[0] * x + t[1] * y + t[2]) / k;
    const float from_y = (t[3] * x + t[4] * y + t[5]) / k;
    if (!std::isfinite(from_x) || !std::isfinite(from_y)) return {Corner{-1, 1}};
    const float px = folded(from_x, width, options.fill_mode);
    const float py = folded(from_y, height, options.fill_mode);
    if (options.interpolation == Interpolation::Nearest)
      return {corner(std::round(px), std::round(py), 1)};
    const float left = std::floor(px), top = std::floor(py), dx = px - left, dy = py - top;
    return {corner(left, top, (1 - dy) * (1 - dx)), corner(left + 1, top, (1 - dy) * dx),
            corner(left, top + 1, dy * (1 - dx)), corner(left + 1, top + 1, dy * dx)};
  }
};

/// The float32 pictures on the host, and their transforms.
struct Transformation {
  Shape shape;
  Tensor transforms;  // [1 or batch, 8]
  Picture picture;

  const float* transform(int64_t image) const {
    return transforms.data<float>().data() + (transforms.shape()[0] == 1 ? 0 : image * 8);
  }
  int64_t pixels() const { return picture.height * picture.width; }
};

/// Computes rows `begin` to `end` of all pictures.
DISTRIBUTE_INLINE void transform_rows(const Transformation& work, const float* from, float* to,
                                      int64_t begin, int64_t end) {
  const Picture& picture = work.picture;
  const int64_t height = picture.height, width = picture.width, depth = work.shape[3];
  const std::vector<float> outside(size_t(depth), picture.options.fill_value);
  const std::vector<float> nothing(size_t(depth), 0.0f);
  for (int64_t row = begin; row < end; ++row) {
    const float* image = from + row / height * work.pixels() * depth;
    const float* transform = work.transform(row / height);
    float* out = to + row * width * depth;
    for (int64_t x = 0; x < width; ++x, out += depth) {
      const Corners at = picture.corners(transform, float(x), float(row % height));
      std::array<const float*, 4> pixels;
      for (size_t i = 0; i < 4; ++i)
        pixels[i] = at[i].share == 0  ? nothing.data()
                    : at[i].pixel < 0 ? outside.data()
                                      : image + at[i].pixel * depth;
      for (int64_t c = 0; c < depth; ++c)
        out[c] = at[0].share * pixels[0][c] + at[1].share * pixels[1][c] +
                 at[2].share * pixels[2][c] + at[3].share * pixels[3][c];
    }
  }
}

/// Distributes the gradient of picture `image` to the pixels that it was made from.
DISTRIBUTE_INLINE void transform_back(const Transformation& work, int64_t image, const float* dy,
                                      float* dx) {
  const int64_t depth = work.shape[3];
  for (int64_t i = 0; i < work.pixels(); ++i, dy += depth)
    for (const Corner& corner : work.picture.corners(
             work.transform(image), float(i % work.picture.width), float(i / work.picture.width))) {
      if (corner.pixel < 0 || corner.share == 0) continue;
      for (int64_t c = 0; c < depth; ++c) dx[corner.pixel * depth + c] += corner.share * dy[c];
    }
}

DISTRIBUTE_INLINE Tensor transformed(const Tensor& x, const Transformation& work);

DISTRIBUTE_INLINE Tensor transformed_back(const Tensor& dy, const Transformation& work) {
  const Tensor plain = dy.to(Device{}).row_major();
  Tensor dx = fill(work.shape, 0.0);
  const float* from = plain.data<float>().data();
  float* to = dx.mutable_data<float>();
  const int64_t size = work.pixels() * work.shape[3];
  parallel_for(work.shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image)
      transform_back(work, image, from + image * size, to + image * size);
  });
  Transformation without_fill = work;
  without_fill.picture.options.fill_value = 0;
  return record("affine_transform_gradient", {dy}, dx.to(dy.device()), [=](const Backward& back) {
    return std::vector<Tensor>{transformed(back.gradient(), without_fill)};
  });
}

DISTRIBUTE_INLINE Tensor transformed(const Tensor& x, const Transformation& work) {
  const Tensor plain = x.to(Device{}).row_major();
  Tensor y = Tensor::empty(work.shape, DType::Float32);
  const float* from = plain.data<float>().data();
  float* to = y.mutable_data<float>();
  parallel_for(work.shape[0] * work.picture.height, 1 + 4096 / (work.picture.width + 1),
               [&](int64_t begin, int64_t end) { transform_rows(work, from, to, begin, end); });
  return record("affine_transform", {x}, y.to(x.device()), [=](const Backward& back) {
    return std::vector<Tensor>{transformed_back(back.gradient(), work)};
  });
}

/// Makes float32 [batch, 8] from columns; an empty column is 0.
DISTRIBUTE_INLINE Tensor transforms_of(const std::array<Tensor, 6>& columns) {
  int64_t batch = 1;
  for (const Tensor& column : columns)
    if (column) batch = column.num_elements();
  std::vector<float> rows(size_t(batch) * 8);
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c]) continue;
    const std::vector<float> values = columns[c].to_vector();
    for (size_t i = 0; i < values.size(); ++i) rows[i * 8 + c] = values[i];
  }
  return Tensor(Shape{batch, 8}, rows);
}

/// Applies fn to each number of a vector.
template <typename Fn>
Tensor each(const Tensor& x, Fn fn) {
  std::vector<float> values = x.to_vector();
  for (float& value : values) value = fn(value);
  return Tensor(Shape{int64_t(values.size())}, values);
}

}  // namespace preprocessing_internal

DISTRIBUTE_INLINE Tensor affine_transform(const Tensor& images, const Tensor& transforms,
                                          const AffineTransformOptions& options) {
  const Shape given = images.shape();
  const bool single = given.rank() == 3;
  const Shape shape = single ? Shape{1, given[0], given[1], given[2]} : given;
  const int64_t rows = transforms.num_elements() / 8;
  if (shape.rank() != 4 || transforms.shape().rank() < 1 || transforms.shape()[-1] != 8 ||
      (rows != 1 && rows != shape[0]))
    throw InvalidArgumentError(
        str_cat("affine_transform: wanted pictures [batch, height, width, channels] and transforms "
                "[batch, 8], got ",
                to_string(given), " and ", to_string(transforms.shape())));
  const preprocessing_internal::Transformation work{
      shape,
      cast(transforms.to(Device{}), DType::Float32).view({rows, 8}),
      {shape[1], shape[2], options}};
  const Tensor floats = reshape(cast(images, DType::Float32), shape);
  return reshape(cast(preprocessing_internal::transformed(floats, work), images.dtype()), given);
}

DISTRIBUTE_INLINE Tensor rotation_transforms(const Tensor& degrees, int64_t height, int64_t width) {
  using preprocessing_internal::each;
  constexpr float kRadians = std::numbers::pi_v<float> / 180;
  const Tensor cosines = each(degrees, [](float a) { return std::cos(a * kRadians); });
  const Tensor sines = each(degrees, [](float a) { return std::sin(a * kRadians); });
  const float x = 0.5f * float(width - 1), y = 0.5f * float(height - 1);
  return preprocessing_internal::transforms_of(
      {cosines, -sines, x - cosines * x + sines * y, sines, cosines, y - sines * x - cosines * y});
}

DISTRIBUTE_INLINE Tensor zoom_transforms(const Tensor& width_zoom, const Tensor& height_zoom,
                                         int64_t height, int64_t width) {
  const float x = float(width - 1) / 2, y = float(height - 1) / 2;
  return preprocessing_internal::transforms_of(
      {width_zoom, {}, (1 - width_zoom) * x, {}, height_zoom, (1 - height_zoom) * y});
}

DISTRIBUTE_INLINE Tensor translation_transforms(const Tensor& right, const Tensor& down) {
  const Tensor one = fill(right.shape(), 1.0);
  return preprocessing_internal::transforms_of({one, {}, -right, {}, one, -down});
}

}  // namespace distribute::preprocessing
