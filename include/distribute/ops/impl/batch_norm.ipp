#pragma once
#include <distribute/autograd/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/batch_norm.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/channel_block.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/reshape.hpp>
#include <distribute/ops/unary.hpp>

#include <cmath>
#include <limits>
#include <tuple>

namespace distribute {

namespace ops_internal {

inline constexpr float kNoFloor = -std::numeric_limits<float>::infinity();

/// Per channel (padding included): y = max((x - mean) * factor + offset, floor).
struct ChannelNorm {
  std::vector<float> mean, rstd, scale, factor, offset;
  float floor = kNoFloor;
};

template <typename Lanes>
DISTRIBUTE_ALWAYS_INLINE inline void add_moments(const float* x, int64_t rows, int64_t step,
                                                 Lanes lanes, const float* shift,
                                                 LaneSums<float>& sums) {
  float first[kLanes] = {}, second[kLanes] = {};
  for (int64_t r = 0; r < rows; ++r, x += step) {
#pragma omp simd
    for (int i = 0; i < lanes; ++i) {
      const float d = x[i] - shift[i];
      first[i] += d;
      second[i] += d * d;
    }
  }
  for (int i = 0; i < lanes; ++i) sums.first[i] += first[i], sums.second[i] += second[i];
}

template <typename Lanes>
DISTRIBUTE_ALWAYS_INLINE inline void normalize_rows(const float* x, float* y, int64_t rows,
                                                    int64_t step, Lanes lanes, const float* mean,
                                                    const float* factor, const float* offset,
                                                    float floor) {
  for (int64_t r = 0; r < rows; ++r, x += step, y += step) {
#pragma omp simd
    for (int i = 0; i < lanes; ++i) {
      const float value = (x[i] - mean[i]) * factor[i] + offset[i];
      y[i] = value < floor ? floor : value;
    }
  }
}

/// The gradient that passes the ReLU whose value is made again from x.
template <typename Lanes>
DISTRIBUTE_ALWAYS_INLINE inline void add_products(const float* x, const float* dy, int64_t rows,
                                                  int64_t step, Lanes lanes, const float* mean,
                                                  const float* factor, const float* offset,
                                                  float floor, LaneSums<float>& sums) {
  float first[kLanes] = {}, second[kLanes] = {};
  for (int64_t r = 0; r < rows; ++r, x += step, dy += step) {
#pragma omp simd
    for (int i = 0; i < lanes; ++i) {
      const float d = x[i] - mean[i];
      const float g = d * factor[i] + offset[i] <= floor ? 0.0f : dy[i];
      first[i] += g;
      second[i] += g * d;
    }
  }
  for (int i = 0; i < lanes; ++i) sums.first[i] += first[i], sums.second[i] += second[i];
}

/// dx = a * dy + b * (x - mean) + c, zero where x <= x_floor.
struct GradientLine {
  const float *a, *b, *c;
  float x_floor;
};

template <typename Lanes>
DISTRIBUTE_ALWAYS_INLINE inline void gradient_rows(const float* x, const float* dy, float* dx,
                                                   int64_t rows, int64_t step, Lanes lanes,
                                                   const float* mean, const float* factor,
                                                   const float* offset, float floor,
                                                   const GradientLine& line) {
  const float *a = line.a, *b = line.b, *c = line.c, x_floor = line.x_floor;
  for (int64_t r = 0; r < rows; ++r, x += step, dy += step, dx += step) {
#pragma omp simd
    for (int i = 0; i < lanes; ++i) {
      const float d = x[i] - mean[i];
      const float g = d * factor[i] + offset[i] <= floor ? 0.0f : dy[i];
      const float value = a[i] * g + b[i] * d + c[i];
      dx[i] = x[i] <= x_floor ? 0.0f : value;
    }
  }
}

/// The values of a [channels] tensor (`otherwise` for none), zeros in the layout's padding.
DISTRIBUTE_INLINE std::vector<float> channel_values(const Tensor& values, int64_t channels,
                                                    int64_t padded, float otherwise) {
  std::vector<float> result(size_t(padded), 0.0f);
  if (values)
    std::copy_n(values.data<float>().data(), channels, result.begin());
  else
    std::fill_n(result.begin(), channels, otherwise);
  return result;
}

DISTRIBUTE_INLINE Tensor channel_tensor(const std::vector<float>& values, int64_t channels,
                                        Device device) {
  Tensor result = Tensor::empty({channels}, DType::Float32, device);
  std::copy_n(values.begin(), channels, result.mutable_data<float>());
  return result;
}

DISTRIBUTE_INLINE ChannelNorm make_channel_norm(const Tensor& x, const ChannelBlock& b,
                                                const Tensor& scale, const Tensor& offset,
                                                Epilogue epilogue) {
  const int64_t channels = x.shape()[-1];
  ChannelNorm norm;
  norm.scale = channel_values(scale, channels, b.channels, 1);
  norm.offset = channel_values(offset, channels, b.channels, 0);
  norm.mean.resize(size_t(b.channels));
  norm.rstd.resize(size_t(b.channels));
  norm.factor.resize(size_t(b.channels));
  if (epilogue == Epilogue::Relu) norm.floor = 0;
  return norm;
}

DISTRIBUTE_INLINE void set_channel(ChannelNorm& norm, size_t c, float mean, float variance,
                                   float epsilon) {
  norm.mean[c] = mean;
  norm.rstd[c] = float(1 / std::sqrt(double(variance) + double(epsilon)));
  norm.factor[c] = norm.rstd[c] * norm.scale[c];
}

/// The sum pass of mean and variance: differences from each channel's first value.
DISTRIBUTE_INLINE void sum_moments(const ChannelBlock& b, const float* x, int64_t group,
                                   int64_t piece, LaneSums<float>& sums) {
  with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
    for_runs(b, group, piece, [&](int64_t offset, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
      add_moments(x + offset, rows, b.pixel_step, lanes, x + group * b.group_step, sums);
    });
  });
}

/// Mean and variance of channel `lane` of a group from its sums.
DISTRIBUTE_INLINE std::pair<float, float> moments_of(const ChannelBlock& b, const float* x,
                                                     int64_t group, int64_t lane,
                                                     const LaneSums<double>& sums) {
  const double rows = double(b.rows());
  const double shifted = sums.first[lane] / rows;
  const double variance = sums.second[lane] / rows - shifted * shifted;
  return {float(double(x[group * b.group_step + lane]) + shifted),
          float(variance < 0 ? 0 : variance)};
}

DISTRIBUTE_INLINE void normalize_piece(const ChannelBlock& b, const ChannelNorm& norm,
                                       const float* x, float* y, int64_t group, int64_t piece) {
  const float *mean = norm.mean.data() + group * b.width,
              *factor = norm.factor.data() + group * b.width,
              *offset = norm.offset.data() + group * b.width;
  with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
    for_runs(b, group, piece, [&](int64_t at, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
      normalize_rows(x + at, y + at, rows, b.pixel_step, lanes, mean, factor, offset, norm.floor);
    });
  });
}

/// What a gradient of normalization is made from; none: that output has no gradient.
struct NormGradientInputs {
  Tensor dy, dmean, dvariance;
  bool through_statistics = false;  // mean and variance came from x itself
  bool want_dx = true, gate_x = false;
};

struct NormGradients {
  Tensor dx;
  std::vector<float> sum, product;  // per channel: sum of dy, sum of dy * (x - mean)
};

/// Coefficients of the gradient line of each channel.
struct GradientLines {
  std::vector<float> a, b, c, dmean, dvariance;
};

DISTRIBUTE_INLINE void set_line(GradientLines& lines, const ChannelNorm& norm,
                                const NormGradientInputs& in, size_t c, double sum, double product,
                                double rows) {
  const double factor = norm.factor[c], rstd = norm.rstd[c];
  lines.a[c] = in.dy ? norm.factor[c] : 0;
  if (!in.through_statistics) return;
  lines.b[c] = float((2 * double(lines.dvariance[c]) - factor * rstd * rstd * product) / rows);
  lines.c[c] = float((double(lines.dmean[c]) - factor * sum) / rows);
}

DISTRIBUTE_INLINE NormGradients norm_gradients(const Tensor& x, const ChannelNorm& norm,
                                               const NormGradientInputs& in) {
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  const size_t padded = size_t(b.channels);
  const Tensor dy = in.dy ? in_layout(in.dy, x.layout()) : x;  // without dy its factor is 0
  NormGradients result{{}, std::vector<float>(padded), std::vector<float>(padded)};
  if (in.want_dx) result.dx = Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  GradientLines lines{std::vector<float>(padded), std::vector<float>(padded),
                      std::vector<float>(padded), channel_values(in.dmean, channels, b.channels, 0),
                      channel_values(in.dvariance, channels, b.channels, 0)};
  const float *values = x.array().data<float>(), *gradient = dy.array().data<float>();
  float* out = in.want_dx ? result.dx.array().data<float>() : nullptr;
  const float x_floor = in.gate_x ? 0.0f : kNoFloor;
  const auto sum = [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
    if (!in.dy) return;
    const int64_t first = group * b.width;
    with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
      for_runs(b, group, piece, [&](int64_t at, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
        add_products(values + at, gradient + at, rows, b.pixel_step, lanes,
                     norm.mean.data() + first, norm.factor.data() + first,
                     norm.offset.data() + first, norm.floor, sums);
      });
    });
  };
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    for (int64_t i = 0; i < b.lanes(group); ++i) {
      const size_t c = size_t(group * b.width + i);
      result.sum[c] = float(sums.first[i]);
      result.product[c] = float(sums.second[i]);
      set_line(lines, norm, in, c, sums.first[i], sums.second[i], double(b.rows()));
    }
  };
  const auto apply = [&](int64_t group, int64_t piece) {
    if (!out) return;
    const int64_t first = group * b.width;
    const GradientLine line{lines.a.data() + first, lines.b.data() + first, lines.c.data() + first,
                            x_floor};
    with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
      for_runs(b, group, piece, [&](int64_t at, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
        gradient_rows(values + at, gradient + at, out + at, rows, b.pixel_step, lanes,
                      norm.mean.data() + first, norm.factor.data() + first,
                      norm.offset.data() + first, norm.floor, line);
      });
    });
  };
  sum_then_apply(b, sum, finish, apply);
  if (in.gate_x && result.dx) result.dx.mark_gated();
  return result;
}

/// Tells the tapes that these gradients have no gradients of their own.
DISTRIBUTE_INLINE std::vector<Tensor> final_gradients(const char* op, const Tensor& x,
                                                      const Tensor& dy,
                                                      std::vector<Tensor> gradients) {
  std::vector<Tensor> outputs;
  for (const Tensor& gradient : gradients)
    if (gradient) outputs.push_back(gradient);
  const Tensor inputs[] = {x, dy};
  if (is_recording(inputs)) record(op, inputs, outputs, no_gradient(op));
  return gradients;
}

/// sum * factor per channel as a tensor, none when nobody needs it.
template <typename Value>
Tensor channel_gradient(bool needed, const Tensor& x, const Value& value) {
  if (!needed) return {};
  Tensor result = Tensor::empty({x.shape()[-1]}, DType::Float32, x.device());
  float* out = result.mutable_data<float>();
  for (int64_t c = 0; c < x.shape()[-1]; ++c) out[c] = float(value(size_t(c)));
  return result;
}

DISTRIBUTE_INLINE void check_channels(const char* op, const char* name, const Tensor& x,
                                      const Tensor& values) {
  if (values && values.shape() != Shape{x.shape()[-1]})
    throw InvalidArgumentError(concat(op, ": ", name, " ", to_string(values.shape()),
                                      " does not fit the channels of ", to_string(x.shape())));
}

DISTRIBUTE_INLINE void check_norm_input(const char* op, const Tensor& x) {
  if (x.shape().rank() < 1 || !is_floating(x.dtype()))
    throw InvalidArgumentError(
        concat(op, ": ", name_of(x.dtype()), " ", to_string(x.shape()), " has no channels"));
}

/// float32, recorded; none stays none.
DISTRIBUTE_INLINE Tensor as_float(const Tensor& x) { return x ? cast(x, DType::Float32) : x; }

/// [channels] from a tensor of as many elements in its last axis; none when it has others.
DISTRIBUTE_INLINE Tensor as_channels(const Tensor& values, int64_t channels) {
  const Shape& shape = values.shape();
  if (shape == Shape{channels}) return values;
  const bool fits = shape.rank() > 0 && shape[-1] == channels && shape.num_elements() == channels;
  return fits ? reshape(values, Shape{channels}) : Tensor();
}

/// batch_normalization of float32 tensors, the vectors [channels].
DISTRIBUTE_INLINE Tensor normalize_channels(const Tensor& input, const Tensor& mean,
                                            const Tensor& variance, const Tensor& offset,
                                            const Tensor& scale, float epsilon, Epilogue epilogue) {
  const Tensor x = with_channel_block(input);
  const ChannelBlock b = channel_block(x);
  ChannelNorm norm = make_channel_norm(x, b, scale, offset, epilogue);
  const auto means = mean.data<float>(), variances = variance.data<float>();
  for (size_t c = 0; c < means.size(); ++c) set_channel(norm, c, means[c], variances[c], epsilon);
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  const float* values = x.array().data<float>();
  float* out = y.array().data<float>();
  sum_then_apply(
      b, [](int64_t, int64_t, LaneSums<float>&) {}, [](int64_t, const LaneSums<double>&) {},
      [&](int64_t group, int64_t piece) { normalize_piece(b, norm, values, out, group, piece); });
  if (epilogue == Epilogue::Relu) y.mark_relu_output();
  const bool gate = input.is_relu_output();
  const auto backward_function = [=](const Backward& backward) {
    const NormGradientInputs in{backward.gradient(),           {}, {}, false, backward.needs(0),
                                gate && backward.is_private(0)};
    const NormGradients g = norm_gradients(x, norm, in);
    const auto mean_gradient = [&](size_t c) { return -norm.factor[c] * g.sum[c]; };
    const auto variance_gradient = [&](size_t c) {
      return -0.5f * norm.factor[c] * norm.rstd[c] * norm.rstd[c] * g.product[c];
    };
    const auto scale_gradient = [&](size_t c) { return norm.rstd[c] * g.product[c]; };
    return final_gradients(
        "batch_normalization gradient", x, backward.gradient(),
        {g.dx, channel_gradient(backward.needs(1), x, mean_gradient),
         channel_gradient(backward.needs(2), x, variance_gradient),
         channel_gradient(backward.needs(3), x, [&](size_t c) { return g.sum[c]; }),
         channel_gradient(backward.needs(4), x, scale_gradient)});
  };
  return record("batch_normalization", {input, mean, variance, offset, scale}, y,
                backward_function);
}

/// The formula in its pieces, for means that do not belong to channels.
DISTRIBUTE_INLINE Tensor normalize_by_parts(const Tensor& x, const Tensor& mean,
                                            const Tensor& variance, const Tensor& offset,
                                            const Tensor& scale, float epsilon, Epilogue epilogue) {
  Tensor factor = rsqrt(variance + epsilon);
  if (scale) factor = factor * scale;
  Tensor y = (x - mean) * factor;
  if (offset) y = y + offset;
  return epilogue == Epilogue::Relu ? nn::relu(y) : y;
}

/// The training form of float32 tensors.
DISTRIBUTE_INLINE nn::FusedBatchNorm normalize_batch(const Tensor& input, const Tensor& scale,
                                                     const Tensor& offset, float epsilon,
                                                     Epilogue epilogue) {
  const Tensor x = with_channel_block(input);
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  ChannelNorm norm = make_channel_norm(x, b, scale, offset, epilogue);
  std::vector<float> variances(size_t(b.channels), 0.0f);
  Tensor y = Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  const float* values = x.array().data<float>();
  float* out = y.array().data<float>();
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    for (int64_t i = 0; b.rows() && i < b.lanes(group); ++i) {
      const size_t c = size_t(group * b.width + i);
      const auto [mean, variance] = moments_of(b, values, group, i, sums);
      variances[c] = variance;
      set_channel(norm, c, mean, variance, epsilon);
    }
  };
  sum_then_apply(
      b,
      [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
        sum_moments(b, values, group, piece, sums);
      },
      finish,
      [&](int64_t group, int64_t piece) { normalize_piece(b, norm, values, out, group, piece); });
  if (epilogue == Epilogue::Relu) y.mark_relu_output();
  const bool gate = input.is_relu_output();
  const nn::FusedBatchNorm result{y, channel_tensor(norm.mean, channels, x.device()),
                                  channel_tensor(variances, channels, x.device()), b.rows() > 0};
  const Tensor inputs[] = {input, scale, offset};
  const Tensor outputs[] = {y, result.batch_mean, result.batch_variance};
  record("fused_batch_norm", inputs, outputs, [=](const Backward& backward) {
    const NormGradientInputs in{backward.gradient(0), backward.gradient(1),
                                backward.gradient(2), true,
                                backward.needs(0),    gate && backward.is_private(0)};
    const NormGradients g = norm_gradients(x, norm, in);
    const auto scale_gradient = [&](size_t c) { return norm.rstd[c] * g.product[c]; };
    return final_gradients(
        "fused_batch_norm gradient", x, backward.gradient(0),
        {g.dx, channel_gradient(backward.needs(1), x, scale_gradient),
         channel_gradient(backward.needs(2), x, [&](size_t c) { return g.sum[c]; })});
  });
  return result;
}

/// Moments over all axes but the last, [channels].
DISTRIBUTE_INLINE nn::Moments channel_moments(const Tensor& input) {
  const Tensor x = with_channel_block(input);
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  ChannelNorm norm = make_channel_norm(x, b, {}, {}, Epilogue::None);
  std::vector<float> variances(size_t(b.channels), 0.0f);
  const float* values = x.array().data<float>();
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    for (int64_t i = 0; b.rows() && i < b.lanes(group); ++i) {
      const size_t c = size_t(group * b.width + i);
      std::tie(norm.mean[c], variances[c]) = moments_of(b, values, group, i, sums);
    }
  };
  sum_then_apply(
      b,
      [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
        sum_moments(b, values, group, piece, sums);
      },
      finish, [](int64_t, int64_t) {});
  const Tensor outputs[] = {channel_tensor(norm.mean, channels, x.device()),
                            channel_tensor(variances, channels, x.device())};
  record("moments", std::span(&input, 1), outputs, [=](const Backward& backward) {
    const NormGradientInputs in{{}, backward.gradient(0), backward.gradient(1), true};
    return final_gradients("moments gradient", x, Tensor(), {norm_gradients(x, norm, in).dx});
  });
  return {outputs[0], outputs[1]};
}

/// True when `axes` names every axis of the shape but the last.
DISTRIBUTE_INLINE bool all_but_last(const Shape& shape, std::span<const int> axes) {
  std::vector<bool> named(size_t(shape.rank()), false);
  for (int axis : axes) named[size_t(shape.normalize_axis(axis))] = true;
  return shape.rank() > 1 && !named.back() &&
         std::count(named.begin(), named.end(), true) == shape.rank() - 1;
}

}  // namespace ops_internal

namespace nn {

DISTRIBUTE_INLINE Tensor batch_normalization(const Tensor& x, const Tensor& mean,
                                             const Tensor& variance, const Tensor& offset,
                                             const Tensor& scale, float epsilon,
                                             Epilogue epilogue) {
  using namespace ops_internal;
  check_norm_input("batch_normalization", x);
  if (x.dtype() != DType::Float32)
    return cast(batch_normalization(as_float(x), as_float(mean), as_float(variance),
                                    as_float(offset), as_float(scale), epsilon, epilogue),
                x.dtype());
  Tensor vectors[] = {mean, variance, offset, scale};
  for (Tensor& vector : vectors) {
    if (!vector) continue;
    vector = as_channels(vector, x.shape()[-1]);
    if (!vector) return normalize_by_parts(x, mean, variance, offset, scale, epsilon, epilogue);
  }
  return normalize_channels(x, vectors[0], vectors[1], vectors[2], vectors[3], epsilon, epilogue);
}

DISTRIBUTE_INLINE FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale,
                                                  const Tensor& offset,
                                                  const FusedBatchNormOptions& options) {
  using namespace ops_internal;
  check_norm_input("fused_batch_norm", x);
  const Tensor input = as_float(x), factor = as_float(scale), shift = as_float(offset);
  check_channels("fused_batch_norm", "scale", x, factor);
  check_channels("fused_batch_norm", "offset", x, shift);
  FusedBatchNorm result;
  if (options.training) {
    result = normalize_batch(input, factor, shift, options.epsilon, options.epilogue);
  } else {
    if (!options.mean || !options.variance)
      throw InvalidArgumentError("fused_batch_norm: inference needs a mean and a variance");
    check_channels("fused_batch_norm", "mean", x, options.mean);
    check_channels("fused_batch_norm", "variance", x, options.variance);
    result = {normalize_channels(input, as_float(options.mean), as_float(options.variance), shift,
                                 factor, options.epsilon, options.epilogue),
              options.mean, options.variance, false};
  }
  result.y = cast(result.y, x.dtype());
  return result;
}

DISTRIBUTE_INLINE Moments moments(const Tensor& x, std::span<const int> axes, bool keepdims) {
  using namespace ops_internal;
  check_norm_input("moments", x);
  Moments result;
  const Tensor input = as_float(x);
  if (all_but_last(x.shape(), axes)) {
    result = channel_moments(input);
    Shape shape = keepdims ? x.shape() : Shape{x.shape()[-1]};
    for (int i = 0; i + 1 < shape.rank(); ++i) shape = shape.with(i, 1);
    if (keepdims) result = {reshape(result.mean, shape), reshape(result.variance, shape)};
  } else {
    const std::vector<int> list(axes.begin(), axes.end());
    const Tensor mean = reduce_mean(input, list, true);
    result.variance = reduce_mean(squared_difference(input, mean), list, keepdims);
    result.mean = keepdims ? mean : reshape(mean, result.variance.shape());
  }
  return {cast(result.mean, x.dtype()), cast(result.variance, x.dtype())};
}

}  // namespace nn

}  // namespace distribute
