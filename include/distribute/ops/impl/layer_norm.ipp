#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/normalization.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace distribute {

namespace ops_internal {

/// Computes mean and 1 / sqrt(variance + epsilon) of a row.
DISTRIBUTE_ALWAYS_INLINE inline void row_statistics(const float* x, int64_t width, float epsilon,
                                                    float& mean, float& rstd) {
  float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < width; ++i) sum += x[i];
  const float m = sum / float(width);
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += (x[i] - m) * (x[i] - m);
  mean = m;
  rstd = 1 / std::sqrt(squares / float(width) + epsilon);
}

DISTRIBUTE_ALWAYS_INLINE inline void layer_norm_row(const float* x, float* y, int64_t width,
                                                    const float* gamma, const float* beta,
                                                    float mean, float rstd) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) y[i] = (x[i] - mean) * rstd;
  if (gamma) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) y[i] *= gamma[i];
  }
  if (beta) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) y[i] += beta[i];
  }
}

/// Computes dx = rstd * (g - mean(g) - n * mean(g n)) with g = dy * gamma, n the normalized row.
DISTRIBUTE_ALWAYS_INLINE inline void layer_norm_gradient_row(const float* x, const float* dy,
                                                             float* dx, int64_t width,
                                                             const float* gamma, float mean,
                                                             float rstd) {
  float sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
  for (int64_t i = 0; i < width; ++i) {
    const float g = gamma ? dy[i] * gamma[i] : dy[i];
    sum += g;
    product += g * (x[i] - mean);
  }
  const float shift = sum / float(width), slope = product * rstd * rstd / float(width);
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const float g = gamma ? dy[i] * gamma[i] : dy[i];
    dx[i] = rstd * (g - shift - (x[i] - mean) * slope);
  }
}

DISTRIBUTE_INLINE const float* values_or_null(const Tensor& t) {
  return t ? t.data<float>().data() : nullptr;
}

/// Rows of a float tensor as float32: where they stand, or those of 16 bits widened into room for
/// one.
class FloatRows {
 public:
  FloatRows(const Tensor& t, int64_t width)
      : block_(t.array().bytes()), type_(t.dtype()), width_(width) {
    if (type_ != DType::Float32) room_.resize(size_t(width));
  }
  const float* read(int64_t row) {
    if (room_.empty()) return reinterpret_cast<const float*>(at(row));
    convert_elements(at(row), type_, room_.data(), DType::Float32, width_);
    return room_.data();
  }
  /// Where to write a row, of which store() takes note.
  float* fresh(int64_t row) {
    return room_.empty() ? reinterpret_cast<float*>(at(row)) : room_.data();
  }
  void store(int64_t row) {
    if (!room_.empty()) convert_elements(room_.data(), DType::Float32, at(row), type_, width_);
  }

 private:
  char* at(int64_t row) const { return block_ + row * width_ * size_of(type_); }

  char* block_;
  DType type_;
  int64_t width_;
  std::vector<float> room_;
};

DISTRIBUTE_INLINE Tensor layer_norm_values(const LayerNormRows& n) {
  if (on_gpu(n.x)) return gpu_layer_norm(n);
  const Tensor y = Tensor::empty(n.x.shape(), n.x.dtype(), n.x.device());
  const float *gamma = values_or_null(n.gamma), *beta = values_or_null(n.beta);
  const int64_t width = n.width;
  const float epsilon = n.epsilon;
  parallel_for(n.rows, n.grain(), [&](int64_t begin, int64_t end) {
    FloatRows in(n.x, width), results(y, width);
    for (int64_t r = begin; r < end; ++r) {
      const float* x = in.read(r);
      float* out = results.fresh(r);
      simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
        float mean, rstd;
        row_statistics(x, width, epsilon, mean, rstd);
        layer_norm_row(x, out, width, gamma, beta, mean, rstd);
      });
      results.store(r);
    }
  });
  return y;
}

/// Adds the part of one row to the gradients of gamma and beta.
DISTRIBUTE_ALWAYS_INLINE inline void add_parameter_gradients(const float* x, const float* dy,
                                                             int64_t width, float mean, float rstd,
                                                             float* scale, float* shift) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    scale[i] += dy[i] * (x[i] - mean) * rstd;
    shift[i] += dy[i];
  }
}

/// Gradients of x, none unless `of_x`, and of gamma and beta [2, width], none unless
/// `of_parameters`, in one pass. These are summed by pieces of rows, then the pieces in order.
struct LayerNormGradients {
  Tensor dx, parameters;
};
DISTRIBUTE_INLINE LayerNormGradients layer_norm_gradients(const LayerNormRows& n, const Tensor& dy,
                                                          bool of_x, bool of_parameters) {
  if (on_gpu(n.x))
    return {of_x ? gpu_layer_norm_gradient(n, dy) : Tensor(),
            of_parameters ? gpu_layer_norm_parameter_gradients(n, dy) : Tensor()};
  const Tensor given = dy.row_major();
  const Tensor dx = of_x ? Tensor::empty(n.x.shape(), n.x.dtype(), n.x.device()) : Tensor();
  const int64_t width = n.width, rows = n.rows;
  const int64_t pieces = (rows + kLayerNormPiece - 1) / kLayerNormPiece;
  std::vector<float> partial(size_t(std::max<int64_t>(pieces, 1) * 2 * width), 0.0f);
  const float *gamma = values_or_null(n.gamma), epsilon = n.epsilon;
  float* sums = partial.data();
  parallel_for(pieces, 1 + n.grain() / kLayerNormPiece, [&](int64_t begin, int64_t end) {
    FloatRows in(n.x, width), gradients(given, width), results(of_x ? dx : n.x, width);
    for (int64_t r = begin * kLayerNormPiece; r < std::min(rows, end * kLayerNormPiece); ++r) {
      float *scale = sums + r / kLayerNormPiece * 2 * width, *shift = scale + width;
      const float *x = in.read(r), *g = gradients.read(r);
      float* out = of_x ? results.fresh(r) : nullptr;
      simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
        float mean, rstd;
        row_statistics(x, width, epsilon, mean, rstd);
        if (out) layer_norm_gradient_row(x, g, out, width, gamma, mean, rstd);
        if (of_parameters) add_parameter_gradients(x, g, width, mean, rstd, scale, shift);
      });
      if (of_x) results.store(r);
    }
  });
  if (!of_parameters) return {dx, {}};
  for (int64_t p = 1; p < pieces; ++p)
    for (int64_t i = 0; i < 2 * width; ++i) sums[i] += sums[p * 2 * width + i];
  return {dx, Tensor(Shape{2, width}, std::vector<float>(sums, sums + 2 * width))};
}

/// The shape of the normalized axes, which gamma and beta must have.
DISTRIBUTE_INLINE Shape normalized_shape(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                         int begin_axis) {
  if (!is_floating(x.dtype()))
    throw InvalidArgumentError(str_cat("layer_normalization: not for dtype ", name_of(x.dtype())));
  const size_t first = size_t(x.shape().normalize_axis(begin_axis));
  const Shape shape(x.shape().dims().subspan(first));
  for (const Tensor& t : {gamma, beta})
    if (t && t.shape() != shape)
      throw InvalidArgumentError(str_cat("layer_normalization: a parameter of shape ",
                                         to_string(t.shape()), " for the normalized axes ",
                                         to_string(shape), " of ", to_string(x.shape())));
  return shape;
}

DISTRIBUTE_INLINE LayerNormRows layer_norm_rows(const Tensor& x, const Tensor& gamma,
                                                const Tensor& beta, const Shape& shape,
                                                float epsilon) {
  LayerNormRows n{.width = shape.num_elements(), .epsilon = epsilon};
  n.rows = n.width ? x.num_elements() / n.width : 0;
  n.x = x.row_major();
  n.gamma = gamma;
  n.beta = beta;
  if (on_gpu(x)) n.statistics = Tensor::empty({n.rows, 2}, DType::Float32, x.device());
  return n;
}

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor layer_normalization(const Tensor& x, const Tensor& gamma,
                                             const Tensor& beta, const LayerNormOptions& options) {
  using namespace ops_internal;
  const Shape shape = normalized_shape(x, gamma, beta, options.begin_axis);
  const auto wide = [](const Tensor& t) { return t ? cast(t, DType::Float32) : t; };
  // Traces for files get operations in float32.
  if (x.dtype() != DType::Float32 && autograd_internal::is_tracing())
    return cast(layer_normalization(wide(x), wide(gamma), wide(beta), options), x.dtype());
  const auto near = [&](const Tensor& t) {
    return wide(t && lie_apart(x, t) ? carried_to(t, x.device()) : t);
  };
  const Tensor scale = near(gamma), shift = near(beta);
  const LayerNormRows n = layer_norm_rows(x, scale, shift, shape, float(options.epsilon));
  const BackwardFunction gradient = [n, shape](const Backward& backward) -> std::vector<Tensor> {
    const Tensor dy = brought_to(backward.gradient(), n.x.device());
    const bool of_parameters = backward.needs(1) || backward.needs(2);
    const auto [dx, sums] = layer_norm_gradients(n, dy, backward.needs(0), of_parameters);
    Tensor dscale, dshift;
    if (n.gamma && backward.needs(1)) dscale = sums.rows(0, 1).view(shape);
    if (n.beta && backward.needs(2)) dshift = sums.rows(1, 2).view(shape);
    return final_gradients("layer_normalization gradient", {n.x, backward.gradient()},
                           {dx, dscale, dshift});
  };
  return record("layer_normalization", {x, scale, shift}, layer_norm_values(n), gradient, [&] {
    return OpAttributes{{"epsilon", options.epsilon},
                        {"begin_axis", int64_t(x.shape().normalize_axis(options.begin_axis))}};
  });
}

}  // namespace nn

}  // namespace distribute
