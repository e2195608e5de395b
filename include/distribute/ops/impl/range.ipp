#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace distribute {

DISTRIBUTE_INLINE Tensor ops_internal::range_values(double start, double limit, double delta,
                                                    DType dtype) {
  if (delta == 0 || (delta > 0 ? start > limit : start < limit))
    throw InvalidArgumentError(
        str_cat("range: steps of ", delta, " from ", start, " do not reach ", limit));
  const auto count = size_t(std::ceil((limit - start) / delta));
  const auto filled = [&](auto type) {
    std::vector<decltype(type)> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = decltype(type)(start + double(i) * delta);
    return Tensor(Shape{int64_t(count)}, values);
  };
  if (dtype == DType::Int32) return filled(int32_t{});
  if (dtype == DType::Int64) return filled(int64_t{});
  return filled(float{});
}

DISTRIBUTE_INLINE Tensor linspace(double start, double stop, int64_t num) {
  if (num < 1) throw InvalidArgumentError(str_cat("linspace: wanted a number or more, got ", num));
  std::vector<float> values(static_cast<size_t>(num));
  const double step = num > 1 ? (stop - start) / double(num - 1) : 0;
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(start + double(i) * step);
  if (num > 1) values.back() = float(stop);
  return Tensor({num}, values);
}

DISTRIBUTE_INLINE Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  if (columns < 0) columns = rows;
  const Tensor row = reshape(range(rows), {rows, 1}), column = range(columns);
  return cast(equal(row, column), dtype);
}

DISTRIBUTE_INLINE Tensor sequence_mask(const Tensor& lengths, int64_t maxlen, DType dtype) {
  if (lengths.dtype() != DType::Int32 && lengths.dtype() != DType::Int64)
    throw InvalidArgumentError(
        str_cat("sequence_mask: lengths must be int32 or int64, not ", name_of(lengths.dtype())));
  const Tensor ends = expand_dims(cast(lengths, DType::Int64), -1);
  if (maxlen < 0)
    maxlen = lengths.num_elements() ? std::max(reduce_max(ends).item<int64_t>(), int64_t{0}) : 0;
  return cast(less(range(maxlen), ends), dtype);
}

}  // namespace distribute
