#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/ops/detail/channel_norm.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace distribute::ops_internal {

/// Evenly spaced rows of one group, and pointers to the constants and sums of its channels; null
/// when absent.
template <typename T>
struct NormRows {
  int64_t rows = 0, step = 0, lanes = 0;
  const T *x = nullptr, *residual = nullptr, *dy = nullptr, *dy2 = nullptr, *y = nullptr;
  T *out = nullptr, *g = nullptr;
  const float *mean = nullptr, *factor = nullptr, *offset = nullptr;
  const float *a = nullptr, *b = nullptr, *c = nullptr;
  float floor = kNoFloor, x_floor = kNoFloor;
  float *first = nullptr, *second = nullptr;
};

template <typename T>
struct NormKernels {
  using Loop = void (*)(const NormRows<T>&);
  Loop sum_moments, normalize, sum_gradient, write_gradient;
};

}  // namespace distribute::ops_internal

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")
#define DISTRIBUTE_LANES 16
namespace distribute::ops_internal::norm_avx512 {
#include <distribute/ops/impl/channel_norm_kernels.inc>
}
#undef DISTRIBUTE_LANES
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define DISTRIBUTE_LANES 8
namespace distribute::ops_internal::norm_avx2 {
#include <distribute/ops/impl/channel_norm_kernels.inc>
}
#undef DISTRIBUTE_LANES
#pragma GCC pop_options
#define DISTRIBUTE_NORM_VARIANTS 1
#endif
#define DISTRIBUTE_LANES 4
namespace distribute::ops_internal::norm_baseline {
#include <distribute/ops/impl/channel_norm_kernels.inc>
}
#undef DISTRIBUTE_LANES

namespace distribute::ops_internal {

template <typename T>
NormKernels<T> norm_kernels() {
#ifdef DISTRIBUTE_NORM_VARIANTS
  if (simd_level() == 2) return norm_avx512::norm_kernels<T>();
  if (simd_level() == 1) return norm_avx2::norm_kernels<T>();
#endif
  return norm_baseline::norm_kernels<T>();
}

/// Calls fn(T{}) with the element type of x, one that the kernels know.
template <typename Fn>
void with_norm_type(const Tensor& x, const Fn& fn) {
  x.dtype() == DType::BFloat16 ? fn(bfloat16{}) : fn(float{});
}

template <typename T>
T* elements_of(const Tensor& tensor) {
  return tensor ? tensor.array().data<T>() : nullptr;
}

/// Advances a pointer that may be null.
template <typename T>
T* shifted(T* pointer, int64_t by) {
  return pointer ? pointer + by : nullptr;
}

/// Calls `loop` for every run of rows of a piece; `base` holds pointers to the tensors' beginnings.
template <typename T>
void for_rows(const ChannelBlock& b, NormRows<T> base, int64_t group, int64_t piece,
              typename NormKernels<T>::Loop loop) {
  for_runs(b, group, piece, [&](int64_t at, int64_t rows) {
    NormRows<T> run = base;
    run.rows = rows;
    run.step = b.pixel_step;
    run.lanes = b.lanes(group);
    for (const T** from : {&run.x, &run.residual, &run.dy, &run.dy2, &run.y})
      *from = shifted(*from, at);
    run.out = shifted(run.out, at);
    run.g = shifted(run.g, at);
    loop(run);
  });
}

/// Points a run to the constants of a group.
template <typename T>
void set_constants(NormRows<T>& run, const ChannelBlock& b, const ChannelNorm& norm,
                   int64_t group) {
  const int64_t first = group * b.width;
  run.mean = norm.mean.data() + first;
  run.factor = norm.factor.data() + first;
  run.offset = norm.offset.data() + first;
  run.floor = norm.floor;
}

/// Gives the values of a [channels] tensor (`otherwise` when it is empty), with zeros in the
/// layout's padding.
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

/// Gives each channel's value in the first row.
DISTRIBUTE_INLINE std::vector<float> first_values(const Tensor& x, const ChannelBlock& b) {
  std::vector<float> values(size_t(b.channels), 0.0f);
  with_norm_type(x, [&](auto type) {
    const auto* from = x.array().data<decltype(type)>();
    for (int64_t group = 0; b.rows() && group < b.groups; ++group)
      for (int64_t i = 0; i < b.lanes(group); ++i)
        values[size_t(group * b.width + i)] = float(from[group * b.group_step + i]);
  });
  return values;
}

DISTRIBUTE_INLINE void channel_statistics(const Tensor& x, const ChannelBlock& b,
                                          const ChannelReady& ready,
                                          const std::function<void(int64_t, int64_t)>& apply) {
  const std::vector<float> shift = first_values(x, b);
  const auto sum = [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
    with_norm_type(x, [&](auto type) {
      using T = decltype(type);
      NormRows<T> rows{.x = x.array().data<T>(), .mean = shift.data() + group * b.width};
      rows.first = sums.first;
      rows.second = sums.second;
      for_rows(b, rows, group, piece, norm_kernels<T>().sum_moments);
    });
  };
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    const double rows = double(b.rows());
    for (int64_t i = 0; b.rows() && i < b.lanes(group); ++i) {
      const size_t c = size_t(group * b.width + i);
      const double shifted_mean = sums.first[i] / rows;
      const double variance = sums.second[i] / rows - shifted_mean * shifted_mean;
      ready(c, float(double(shift[c]) + shifted_mean), float(variance < 0 ? 0 : variance));
    }
  };
  sum_then_apply(b, sum, finish, apply);
}

DISTRIBUTE_INLINE void normalize_piece(const ChannelBlock& b, const ChannelNorm& norm,
                                       const Tensor& x, const Tensor& residual, const Tensor& y,
                                       int64_t group, int64_t piece) {
  with_norm_type(x, [&](auto type) {
    using T = decltype(type);
    NormRows<T> rows{.x = elements_of<T>(x), .residual = elements_of<T>(residual)};
    rows.out = elements_of<T>(y);
    set_constants(rows, b, norm, group);
    for_rows(b, rows, group, piece, norm_kernels<T>().normalize);
  });
}

/// The coefficients with which each channel's gradient is computed.
struct GradientLines {
  std::vector<float> a, b, c, dmean, dvariance;
};

DISTRIBUTE_INLINE void set_line(GradientLines& lines, const ChannelNorm& norm,
                                const NormGradientInputs& in, size_t c, double sum, double product,
                                double rows) {
  const double factor = norm.factor[c], rstd = norm.rstd[c];
  lines.a[c] = in.dy.empty() ? 0 : norm.factor[c];
  if (!in.through_statistics) return;
  lines.b[c] = float((2 * double(lines.dvariance[c]) - factor * rstd * rstd * product) / rows);
  lines.c[c] = float((double(lines.dmean[c]) - factor * sum) / rows);
}

/// Reuses the gradient's memory for a result when it is not shared; else allocates memory.
DISTRIBUTE_INLINE Tensor reused(const Tensor& x, std::span<const Tensor> gradients, size_t part) {
  if (part < gradients.size() && gradients[part].unique() && gradients[part].dtype() == x.dtype() &&
      same_layout(gradients[part].layout(), x.layout()))
    return gradients[part].renamed();
  return Tensor::empty(x.shape(), x.dtype(), x.device(), x.layout());
}

DISTRIBUTE_INLINE GradientPass plan_gradient(const Tensor& x, const ChannelNorm& norm,
                                             const NormGradientInputs& in) {
  GradientPass pass{x, x, {}, {}, {}, {}};
  const bool any = !in.dy.empty(), two = in.dy.size() > 1, gated = norm.floor != kNoFloor;
  if (any && gated && in.y) pass.y = in_layout(in.y, x.layout());
  const bool keeps = any && (two || pass.y || (in.want_residual && gated));
  if (keeps) pass.g = reused(x, in.dy, 0);
  // Part 0 holds g, or is itself the residual's gradient.
  if (in.want_dx) pass.dx = reused(x, in.dy, keeps || in.want_residual ? 1 : 0);
  if (any) pass.dy = in_layout(in.dy[0], x.layout());
  if (two) pass.dy2 = in_layout(in.dy[1], x.layout());
  return pass;
}

template <typename T>
void sum_gradient_piece(const GradientPass& pass, const ChannelBlock& b, const ChannelNorm& norm,
                        int64_t group, int64_t piece, LaneSums<float>& sums) {
  NormRows<T> rows{.x = elements_of<T>(pass.x),
                   .dy = elements_of<T>(pass.dy),
                   .dy2 = elements_of<T>(pass.dy2),
                   .y = elements_of<T>(pass.y)};
  rows.g = elements_of<T>(pass.g);
  rows.first = sums.first;
  rows.second = sums.second;
  set_constants(rows, b, norm, group);
  for_rows(b, rows, group, piece, norm_kernels<T>().sum_gradient);
}

template <typename T>
void write_gradient_piece(const GradientPass& pass, const ChannelBlock& b, const ChannelNorm& norm,
                          const GradientLines& lines, float x_floor, int64_t group, int64_t piece) {
  NormRows<T> rows{.x = elements_of<T>(pass.x)};
  rows.dy = elements_of<T>(pass.g ? pass.g : pass.dy);
  rows.out = elements_of<T>(pass.dx);
  set_constants(rows, b, norm, group);
  if (pass.g) rows.floor = kNoFloor;  // the ReLU was applied already
  const int64_t first = group * b.width;
  rows.a = lines.a.data() + first;
  rows.b = lines.b.data() + first;
  rows.c = lines.c.data() + first;
  rows.x_floor = x_floor;
  for_rows(b, rows, group, piece, norm_kernels<T>().write_gradient);
}

DISTRIBUTE_INLINE NormGradients norm_gradients(const Tensor& x, const ChannelNorm& norm,
                                               const NormGradientInputs& in) {
  const ChannelBlock b = channel_block(x);
  const int64_t channels = x.shape()[-1];
  const size_t padded = size_t(b.channels);
  const GradientPass pass = plan_gradient(x, norm, in);
  NormGradients result{pass.dx, {}, std::vector<float>(padded), std::vector<float>(padded)};
  if (in.want_dx && in.gate_x) TensorHints::of(result.dx).gated = true;
  if (in.want_residual && !in.dy.empty()) result.residual = pass.g ? pass.g : in.dy[0];
  GradientLines lines{std::vector<float>(padded), std::vector<float>(padded),
                      std::vector<float>(padded), channel_values(in.dmean, channels, b.channels, 0),
                      channel_values(in.dvariance, channels, b.channels, 0)};
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    for (int64_t i = 0; i < b.lanes(group); ++i) {
      const size_t c = size_t(group * b.width + i);
      result.sum[c] = float(sums.first[i]);
      result.product[c] = float(sums.second[i]);
      set_line(lines, norm, in, c, sums.first[i], sums.second[i], double(b.rows()));
    }
  };
  with_norm_type(x, [&](auto type) {
    using T = decltype(type);
    const float x_floor = in.gate_x ? 0.0f : kNoFloor;
    sum_then_apply(
        b,
        [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
          if (!in.dy.empty()) sum_gradient_piece<T>(pass, b, norm, group, piece, sums);
        },
        finish,
        [&](int64_t group, int64_t piece) {
          if (pass.dx) write_gradient_piece<T>(pass, b, norm, lines, x_floor, group, piece);
        });
  });
  return result;
}

DISTRIBUTE_INLINE NormGradientPasses::NormGradientPasses(const Tensor& x, const ChannelNorm& norm,
                                                         const NormGradientInputs& in)
    : norm_(norm), pass_(plan_gradient(x, norm, in)) {
  const ChannelBlock b = channel_block(x);
  sum_.resize(size_t(b.channels));
  product_.resize(size_t(b.channels));
  if (in.want_residual) residual_ = pass_.g ? pass_.g : in.dy[0];
  const auto sum = [&](int64_t group, int64_t piece, LaneSums<float>& sums) {
    with_norm_type(x, [&](auto type) {
      sum_gradient_piece<decltype(type)>(pass_, b, norm, group, piece, sums);
    });
  };
  const auto finish = [&](int64_t group, const LaneSums<double>& sums) {
    for (int64_t i = 0; i < b.lanes(group); ++i) {
      sum_[size_t(group * b.width + i)] = float(sums.first[i]);
      product_[size_t(group * b.width + i)] = float(sums.second[i]);
    }
  };
  sum_then_apply(b, sum, finish, [](int64_t, int64_t) {});
}

DISTRIBUTE_INLINE NormGradients NormGradientPasses::finish(const std::vector<float>& sum,
                                                           const std::vector<float>& product,
                                                           double rows) const {
  const size_t padded = sum_.size();
  if (!pass_.dx) return {{}, residual_, {}, {}};
  GradientLines lines{norm_.factor, std::vector<float>(padded), std::vector<float>(padded), {}, {}};
  for (size_t c = 0; c < padded; ++c) {
    const double factor = norm_.factor[c], rstd = norm_.rstd[c];
    lines.b[c] = float(-factor * rstd * rstd * product[c] / rows);
    lines.c[c] = float(-factor * sum[c] / rows);
  }
  const ChannelBlock b = channel_block(pass_.x);
  sum_then_apply(
      b, [](int64_t, int64_t, LaneSums<float>&) {}, [](int64_t, const LaneSums<double>&) {},
      [&](int64_t group, int64_t piece) {
        with_norm_type(pass_.x, [&](auto type) {
          write_gradient_piece<decltype(type)>(pass_, b, norm_, lines, kNoFloor, group, piece);
        });
      });
  return {pass_.dx, residual_, {}, {}};
}

}  // namespace distribute::ops_internal
