#pragma once
/// The numbers in Winograd's transforms: A, B and G of Lavin and Gray (arXiv:1509.09308).

#include <distribute/base/config.hpp>
#include <distribute/device/detail/grouped_image.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace distribute::winograd_internal {

using device_internal::GroupedImage;

/// How tiles cover an image: padding before it, tiles down and across.
struct WinogradTiling {
  std::array<int64_t, 2> pad{}, tiles{};
};

/// The part [from, to) of a filter's rows or columns that lies inside the image.
struct WindowCut {
  int64_t from = 0, to = 0;
  /// A number, below twice the filter's size, that identifies this cut.
  int64_t kind() const { return from + to; }
  static WindowCut at(int64_t out, int64_t pad, int64_t size, int64_t in) {
    return {std::max<int64_t>(pad - out, 0), std::min<int64_t>(size, in + pad - out)};
  }
};

/// What a ReLU behind the convolution needs to decide as the direct algorithm would. The transforms
/// round more than a direct sum, and with a zero bias many values lie near zero. Equal windows must
/// also give equal sums, or rounding would decide the maximum of a pooling.
struct ReluGuard {
  const GroupedImage* x = nullptr;
  const float* filters = nullptr;  // [size][size][in][out]
  const float* bounds = nullptr;   // [out]: largest rounding error for inputs up to 1
  /// [image][height][width]: the filter covers more than background
  const uint8_t* reached = nullptr;
  const float* largest = nullptr;  // [image]: largest magnitude of an input
  const float* uniform = nullptr;  // [row kind][column kind][out]: sums over background only
  const int64_t *row_kind = nullptr, *column_kind = nullptr;  // [height], [width]
  int64_t size = 0;
};

/// Coefficients of the polynomials that define the transforms for N x N tiles, lowest power first
/// and without the leading 1. Points other than 0 and infinity come in pairs +-point.
template <int N>
struct WinogradPolynomials {
  static constexpr int kPairs = (N - 2) / 2;
  float point[kPairs] = {};
  float all[kPairs] = {};              // the product of all (x^2 - point^2), in powers of x^2
  float without[kPairs][kPairs] = {};  // the same product without one pair
  float power[kPairs][N] = {};
};

/// The points. For tiles of 6, these points and their reciprocals halve the errors of the customary
/// 1 and 2; for tiles of 8 no better points were found.
template <int N>
constexpr std::array<double, (N - 2) / 2> winograd_points() {
  if constexpr (N == 6)
    return {0.70710678118654752440, 1.41421356237309504880};
  else
    return {0.5, 1.0, 2.0};
}

/// Computes the product of (x^2 - point^2) over all pairs but `skipped`, in powers of x^2.
template <int N>
constexpr std::array<double, N / 2> winograd_product(int skipped) {
  constexpr auto points = winograd_points<N>();
  std::array<double, N / 2> product{1.0};
  for (int i = 0; i < int(points.size()); ++i) {
    if (i == skipped) continue;
    const double square = points[size_t(i)] * points[size_t(i)];
    for (size_t k = product.size(); k-- > 0;)
      product[k] = (k > 0 ? product[k - 1] : 0.0) - square * product[k];
  }
  return product;
}

template <int N>
constexpr WinogradPolynomials<N> winograd_polynomials() {
  constexpr auto points = winograd_points<N>();
  WinogradPolynomials<N> f;
  for (int i = 0; i < f.kPairs; ++i) {
    const auto all = winograd_product<N>(-1), without = winograd_product<N>(i);
    f.point[i] = float(points[size_t(i)]);
    f.all[i] = float(all[size_t(i)]);
    for (int k = 0; k < f.kPairs; ++k) f.without[i][k] = float(without[size_t(k)]);
    double power = 1;
    for (int j = 0; j < N; ++j, power *= points[size_t(i)]) f.power[i][j] = float(power);
  }
  return f;
}

/// Computes G: the filter's polynomial at every point, divided by the product of the distances to
/// the other points.
template <int N, int R>
struct WinogradFilterMatrix {
  float value[N][R] = {};
};

template <int N, int R>
constexpr WinogradFilterMatrix<N, R> winograd_filter_matrix() {
  constexpr auto points = winograd_points<N>();
  WinogradFilterMatrix<N, R> g;
  g.value[0][0] = float(1 / winograd_product<N>(-1)[0]);
  g.value[N - 1][R - 1] = 1;
  for (int i = 0; i < int(points.size()); ++i) {
    const double point = points[size_t(i)], square = point * point;
    double scale = 2 * square;
    for (int j = 0; j < int(points.size()); ++j)
      if (j != i) scale *= square - points[size_t(j)] * points[size_t(j)];
    double power = 1 / scale;
    for (int k = 0; k < R; ++k, power *= point) {
      g.value[1 + 2 * i][k] = float(power);
      g.value[2 + 2 * i][k] = float(k % 2 ? -power : power);
    }
  }
  return g;
}

}  // namespace distribute::winograd_internal
