#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/strided_copy.hpp>
#include <distribute/ops/slicing.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <algorithm>

namespace distribute {

namespace ops_internal {

/// Returns the axes of the copy between a whole tensor and its part; `offset` is the position of
/// the first element.
DISTRIBUTE_INLINE std::vector<CopyAxis> slice_axes(const SliceSpec& spec, const Shape& whole,
                                                   int64_t& offset) {
  const auto whole_steps = row_major_steps(whole), part_steps = row_major_steps(spec.shape);
  std::vector<CopyAxis> axes;
  offset = 0;
  for (size_t i = 0; i < whole_steps.size(); ++i) {
    offset += spec.begin[i] * whole_steps[i];
    axes.push_back({spec.shape[int(i)], whole_steps[i] * spec.step[i], part_steps[i]});
  }
  return axes;
}

/// Whether the slice consists of rows of the first axis, which need no copy.
DISTRIBUTE_INLINE bool is_rows(const SliceSpec& spec, const Shape& whole) {
  if (whole.rank() == 0 || spec.step[0] != 1) return false;
  for (int i = 1; i < whole.rank(); ++i)
    if (spec.shape[i] != whole[i] || spec.step[size_t(i)] != 1) return false;
  return true;
}

DISTRIBUTE_INLINE Tensor slice_values(const Tensor& x, const SliceSpec& spec) {
  if (is_rows(spec, x.shape()))
    return tensor_internal::rows_of(x, spec.begin[0], spec.begin[0] + spec.shape[0]);
  const Tensor plain = x.row_major();
  Tensor y = Tensor::empty(spec.shape, x.dtype(), x.device());
  int64_t offset;
  const auto axes = slice_axes(spec, x.shape(), offset);
  const int64_t bytes = size_of(x.dtype());
  strided_copy(y.device(), axes, plain.array().bytes() + offset * bytes, y.array().bytes(), bytes);
  return y;
}

DISTRIBUTE_INLINE OpAttributes slice_attributes(const Tensor& x, const SliceSpec& spec) {
  std::vector<int64_t> whole;
  for (int i = 0; i < x.shape().rank(); ++i)
    whole.push_back(spec.step[size_t(i)] == 1 && spec.shape[i] == x.shape()[i]);
  return {{"begin", spec.begin},
          {"step", spec.step},
          {"size", std::vector<int64_t>(spec.shape.begin(), spec.shape.end())},
          {"whole", whole}};
}

DISTRIBUTE_INLINE OpAttributes put_slice_attributes(const Tensor& part, const SliceSpec& spec,
                                                    const Shape& whole, float value) {
  std::vector<int64_t> after;
  for (int i = 0; i < whole.rank(); ++i)
    after.push_back(whole[i] - spec.begin[size_t(i)] -
                    (part.shape()[i] - 1) * spec.step[size_t(i)] - 1);
  return {{"before", spec.begin}, {"step", spec.step}, {"after", after}, {"value", double(value)}};
}

DISTRIBUTE_INLINE Tensor take_slice(const Tensor& x, const SliceSpec& spec) {
  const BackwardFunction gradient = [spec, whole = x.shape()](const Backward& backward) {
    return std::vector<Tensor>{put_slice(backward.gradient(), spec, whole)};
  };
  return record("slice", {x}, slice_values(x, spec), gradient,
                [&] { return slice_attributes(x, spec); });
}

DISTRIBUTE_INLINE Tensor put_slice(const Tensor& part, const SliceSpec& spec, const Shape& whole,
                                   float value) {
  const Tensor plain = part.row_major();
  Tensor y = fill(whole, value, part.dtype(), part.device());
  int64_t offset;
  auto axes = slice_axes(spec, whole, offset);
  for (CopyAxis& axis : axes) std::swap(axis.from_step, axis.to_step);
  const int64_t bytes = size_of(part.dtype());
  strided_copy(y.device(), axes, plain.array().bytes(), y.array().bytes() + offset * bytes, bytes);
  const BackwardFunction gradient = [spec](const Backward& backward) {
    return std::vector<Tensor>{take_slice(backward.gradient(), spec)};
  };
  return record("put_slice", {part}, y, gradient,
                [&] { return put_slice_attributes(part, spec, whole, value); });
}

DISTRIBUTE_INLINE std::pair<int64_t, int64_t> resolve_range(const Range& range, int64_t size) {
  if (range.step == 0) throw InvalidArgumentError("strided_slice: a step must not be 0");
  const bool forward = range.step > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  const auto clipped = [&](int64_t position, int64_t otherwise) {
    if (position == Range::kNone) return otherwise;
    return std::clamp(position < 0 ? position + size : position, low, high);
  };
  const int64_t begin = clipped(range.begin, forward ? low : high);
  const int64_t end = clipped(range.end, forward ? high : low);
  const int64_t distance = forward ? end - begin : begin - end;
  const int64_t step = forward ? range.step : -range.step;
  return {begin, distance > 0 ? (distance + step - 1) / step : 0};
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor slice(const Tensor& x, std::span<const int64_t> begin,
                               std::span<const int64_t> size) {
  const size_t rank = size_t(x.shape().rank());
  if (begin.size() != rank || size.size() != rank)
    throw InvalidArgumentError(str_cat("slice: begin has ", begin.size(), " and size ", size.size(),
                                       " entries for shape ", to_string(x.shape())));
  ops_internal::SliceSpec spec;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t whole = x.shape()[int(i)];
    const int64_t count = size[i] == -1 ? whole - begin[i] : size[i];
    if (begin[i] < 0 || count < 0 || begin[i] + count > whole)
      throw InvalidArgumentError(str_cat("slice: axis ", i, " of shape ", to_string(x.shape()),
                                         " has no ", size[i], " elements from ", begin[i]));
    spec.begin.push_back(begin[i]);
    spec.step.push_back(1);
    spec.shape.push_back(count);
  }
  return ops_internal::take_slice(x, spec);
}

DISTRIBUTE_INLINE Tensor Tensor::operator[](int64_t index) const {
  if (shape().rank() == 0)
    throw InvalidArgumentError("a scalar has no axis for an index; item<float>() gives its value");
  const int64_t size = shape()[0];
  if (index < -size || index >= size)
    throw InvalidArgumentError(str_cat("index ", index, " is out of range for the first axis of ",
                                       to_string(shape()), ": wanted ", -size, " to ", size - 1));
  const int64_t place = index < 0 ? index + size : index;
  return squeeze(strided_slice(*this, {Range{place, place + 1}}), {0});
}

DISTRIBUTE_INLINE Tensor Tensor::rows(int64_t begin, int64_t end) const {
  if (shape().rank() == 0 || begin < 0 || end < begin || end > shape()[0])
    return tensor_internal::rows_of(*this, begin, end);  // throws
  return strided_slice(*this, {Range{begin, end}});
}

DISTRIBUTE_INLINE Tensor strided_slice(const Tensor& x, std::span<const Range> ranges) {
  const int rank = x.shape().rank();
  if (int(ranges.size()) > rank)
    throw InvalidArgumentError(
        str_cat("strided_slice: ", ranges.size(), " ranges for shape ", to_string(x.shape())));
  ops_internal::SliceSpec spec;
  for (int i = 0; i < rank; ++i) {
    const Range range = i < int(ranges.size()) ? ranges[size_t(i)] : Range{};
    const auto [begin, count] = ops_internal::resolve_range(range, x.shape()[i]);
    spec.begin.push_back(count ? begin : 0);
    spec.step.push_back(range.step);
    spec.shape.push_back(count);
  }
  return ops_internal::take_slice(x, spec);
}

}  // namespace distribute
