#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute {

DISTRIBUTE_INLINE Tensor reverse(const Tensor& x, const std::vector<int>& axes) {
  std::vector<Range> ranges(static_cast<size_t>(x.shape().rank()));
  for (int axis : axes) {
    Range& range = ranges[size_t(x.shape().normalize_axis(axis))];
    if (range.step < 0) throw InvalidArgumentError(str_cat("reverse: axis ", axis, " comes twice"));
    range.step = -1;
  }
  return strided_slice(x, ranges);
}

DISTRIBUTE_INLINE Tensor roll(const Tensor& x, int64_t shift, int axis) {
  axis = x.shape().normalize_axis(axis);
  const int64_t size = x.shape()[axis];
  if (size == 0 || shift % size == 0) return x;
  const int64_t from_end = (shift % size + size) % size;
  const std::vector<Tensor> parts = split(x, {size - from_end, from_end}, axis);
  return concat({parts[1], parts[0]}, axis);
}

DISTRIBUTE_INLINE Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts,
                              const std::vector<int>& axes) {
  if (shifts.size() != axes.size())
    throw InvalidArgumentError(
        str_cat("roll: ", shifts.size(), " shifts for ", axes.size(), " axes"));
  Tensor y = x;
  for (size_t i = 0; i < axes.size(); ++i) y = roll(y, shifts[i], axes[i]);
  return y;
}

DISTRIBUTE_INLINE Tensor repeat(const Tensor& x, const std::vector<int64_t>& repeats,
                                std::optional<int> axis) {
  if (!axis) return repeat(reshape(x, {-1}), repeats, 0);
  const int at = x.shape().normalize_axis(*axis);
  const int64_t size = x.shape()[at];
  if (repeats.size() != 1 && int64_t(repeats.size()) != size)
    throw InvalidArgumentError(
        str_cat("repeat: ", repeats.size(), " numbers for an axis of ", size));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t times = repeats[repeats.size() == 1 ? 0 : size_t(i)];
    if (times < 0)
      throw InvalidArgumentError(str_cat("repeat: an element cannot come ", times, " times"));
    places.insert(places.end(), size_t(times), i);
  }
  return ops_internal::take(x, Tensor({int64_t(places.size())}, places), at);
}

DISTRIBUTE_INLINE Tensor boolean_mask(const Tensor& x, const Tensor& mask, int axis) {
  axis = x.shape().normalize_axis(axis);
  const int rank = mask.shape().rank();
  bool fits = mask.dtype() == DType::Bool && rank > 0 && axis + rank <= x.shape().rank();
  for (int i = 0; fits && i < rank; ++i) fits = x.shape()[axis + i] == mask.shape()[i];
  if (!fits)
    throw InvalidArgumentError(str_cat("boolean_mask: a mask of ", name_of(mask.dtype()), " ",
                                       to_string(mask.shape()), " at axis ", axis, " does not fit ",
                                       to_string(x.shape())));
  const Tensor host = mask.to(Device{}).row_major();
  std::vector<int64_t> places;
  for (int64_t i = 0; i < host.num_elements(); ++i)
    if (host.data<bool>()[size_t(i)]) places.push_back(i);
  Shape flat;
  for (int i = 0; i < axis; ++i) flat.push_back(x.shape()[i]);
  flat.push_back(mask.num_elements());
  for (int i = axis + rank; i < x.shape().rank(); ++i) flat.push_back(x.shape()[i]);
  return ops_internal::take(reshape(x, flat), Tensor({int64_t(places.size())}, places), axis);
}

DISTRIBUTE_INLINE Tensor linalg::band_part(const Tensor& x, int64_t lower, int64_t upper) {
  if (x.shape().rank() < 2)
    throw InvalidArgumentError("band_part: wanted matrices, got " + to_string(x.shape()));
  const int64_t rows = x.shape()[-2], columns = x.shape()[-1];
  const Tensor right = range(columns) - reshape(range(rows), {rows, 1});  // of the diagonal
  const Tensor from = scalar_like(right, double(lower < 0 ? -rows : -lower));
  const Tensor to = scalar_like(right, double(upper < 0 ? columns : upper));
  return where(logical_and(greater_equal(right, from), less_equal(right, to)), x,
               scalar_like(x, 0));
}

}  // namespace distribute
