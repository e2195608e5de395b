#pragma once
#include <distribute/autograd/accumulate.hpp>
#include <distribute/ops/channel_norm.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::ops_internal {

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

DISTRIBUTE_INLINE void sum_moments(const ChannelBlock& b, const float* x, int64_t group,
                                   int64_t piece, LaneSums<float>& sums) {
  with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
    for_runs(b, group, piece, [&](int64_t offset, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
      add_moments(x + offset, rows, b.pixel_step, lanes, x + group * b.group_step, sums);
    });
  });
}

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

/// The blocks that a gradient reads and writes, and its coefficients.
struct GradientPass {
  const ChannelBlock& block;
  const ChannelNorm& norm;
  const float *x, *dy;
  float* dx;  // null: nobody needs it
};

DISTRIBUTE_INLINE void sum_gradient_piece(const GradientPass& pass, int64_t group, int64_t piece,
                                          LaneSums<float>& sums) {
  const ChannelBlock& b = pass.block;
  const int64_t first = group * b.width;
  with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
    for_runs(b, group, piece, [&](int64_t at, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
      add_products(pass.x + at, pass.dy + at, rows, b.pixel_step, lanes,
                   pass.norm.mean.data() + first, pass.norm.factor.data() + first,
                   pass.norm.offset.data() + first, pass.norm.floor, sums);
    });
  });
}

DISTRIBUTE_INLINE void write_gradient_piece(const GradientPass& pass, const GradientLines& lines,
                                            float x_floor, int64_t group, int64_t piece) {
  const ChannelBlock& b = pass.block;
  const int64_t first = group * b.width;
  const GradientLine line{lines.a.data() + first, lines.b.data() + first, lines.c.data() + first,
                          x_floor};
  with_lanes(b.lanes(group), [&](auto lanes) DISTRIBUTE_ALWAYS_INLINE {
    for_runs(b, group, piece, [&](int64_t at, int64_t rows) DISTRIBUTE_ALWAYS_INLINE {
      gradient_rows(pass.x + at, pass.dy + at, pass.dx + at, rows, b.pixel_step, lanes,
                    pass.norm.mean.data() + first, pass.norm.factor.data() + first,
                    pass.norm.offset.data() + first, pass.norm.floor, line);
    });
  });
}

DISTRIBUTE_INLINE NormGradients norm_gradients(const Tensor& x, const ChannelNorm& norm,
                                               const NormGradientInputs& in) {
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  const size_t padded = size_t(b.channels);
  const Tensor dy = in.dy ? in_layout(in.dy, x.layout()) : x;  // without dy its factor is 0
  NormGradients result{{}, std::vector<float>(padded), std::vector<float>(padded)};
  if (in.want_dx) result.dx = Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
  if (in.want_dx && in.gate_x) result.dx.mark_gated();
  GradientLines lines{std::vector<float>(padded), std::vector<float>(padded),
                      std::vector<float>(padded), channel_values(in.dmean, channels, b.channels, 0),
                      channel_values(in.dvariance, channels, b.channels, 0)};
  const GradientPass pass{b, norm, x.array().data<float>(), dy.array().data<float>(),
                          in.want_dx ? result.dx.array().data<float>() : nullptr};
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    for (int64_t i = 0; i < b.lanes(group); ++i) {
      const size_t c = size_t(group * b.width + i);
      result.sum[c] = float(sums.first[i]);
      result.product[c] = float(sums.second[i]);
      set_line(lines, norm, in, c, sums.first[i], sums.second[i], double(b.rows()));
    }
  };
  sum_then_apply(
      b,
      [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
        if (in.dy) sum_gradient_piece(pass, group, piece, sums);
      },
      finish,
      [&](int64_t group, int64_t piece) {
        if (pass.dx) write_gradient_piece(pass, lines, in.gate_x ? 0.0f : kNoFloor, group, piece);
      });
  return result;
}

}  // namespace distribute::ops_internal
