#pragma once
/// Sums the rows of a sparse gradient that occur several times.

#include <distribute/base/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace distribute::replica_internal {

/// Calls fn(row, sum) once for each row that occurs in `rows`, in rising order; `sum` adds up the
/// `width` values of all its occurrences in their order.
template <typename Fn>
void sum_rows(std::span<const int64_t> rows, const float* values, int64_t width, Fn&& fn) {
  std::vector<size_t> order(rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows[a] < rows[b]; });
  std::vector<float> sum(static_cast<size_t>(width));
  for (size_t i = 0; i < order.size();) {
    const int64_t row = rows[order[i]];
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (; i < order.size() && rows[order[i]] == row; ++i)
      for (int64_t j = 0; j < width; ++j) sum[size_t(j)] += values[int64_t(order[i]) * width + j];
    fn(row, static_cast<const float*>(sum.data()));
  }
}

}  // namespace distribute::replica_internal
