#pragma once
/// Parts of a tensor: blocks, and every n-th element.

#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace distribute {

/// The block of `size` elements from `begin`; size -1 means all that is left of an axis.
/// Throws  InvalidArgumentError when the block leaves the tensor.
/// Source  tf.slice
Tensor slice(const Tensor& x, std::span<const int64_t> begin, std::span<const int64_t> size);
inline Tensor slice(const Tensor& x, std::initializer_list<int64_t> begin,
                    std::initializer_list<int64_t> size) {
  return slice(x, std::span(begin.begin(), begin.size()), std::span(size.begin(), size.size()));
}

/// Python's begin:end:step. Left out, an end is the end that the step's sign asks for.
struct Range {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  int64_t begin = kNone, end = kNone, step = 1;
};

/// x[begin:end:step, ...] as NumPy: negative positions count from the end, ends are clipped, steps
/// may be negative, axes without a range stay whole.
/// Throws  InvalidArgumentError for a step of zero or more ranges than axes.
/// Source  tf.strided_slice
Tensor strided_slice(const Tensor& x, std::span<const Range> ranges);
inline Tensor strided_slice(const Tensor& x, std::initializer_list<Range> ranges) {
  return strided_slice(x, std::span(ranges.begin(), ranges.size()));
}

namespace ops_internal {

/// Elements begin[i] + k * step[i], k < shape[i], of each axis.
struct SliceSpec {
  std::vector<int64_t> begin, step;
  Shape shape;
};

/// First position and number of elements of begin:end:step on an axis of `size` elements.
std::pair<int64_t, int64_t> resolve_range(const Range& range, int64_t size);
/// The elements that `spec` names; rows of the first axis share memory.
Tensor take_slice(const Tensor& x, const SliceSpec& spec);
/// The same, not recorded.
Tensor slice_values(const Tensor& x, const SliceSpec& spec);
/// What a trace has to know of the slice.
OpAttributes slice_attributes(const Tensor& x, const SliceSpec& spec);
/// A tensor of shape `whole` with `part` at the places that `spec` names, else `value`.
Tensor put_slice(const Tensor& part, const SliceSpec& spec, const Shape& whole, float value = 0);

}  // namespace ops_internal

}  // namespace distribute
