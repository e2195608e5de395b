#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/detail/gpu_lines.hpp>
#include <distribute/ops/detail/strided_copy.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute {

namespace ops_internal {

/// Names the part [begin, begin + size) of one axis.
DISTRIBUTE_INLINE SliceSpec axis_part(const Shape& shape, int axis, int64_t begin, int64_t size) {
  SliceSpec spec{std::vector<int64_t>(size_t(shape.rank()), 0),
                 std::vector<int64_t>(size_t(shape.rank()), 1), shape.with(axis, size)};
  spec.begin[size_t(axis)] = begin;
  return spec;
}

/// Gives a GPU if any tensor is on one.
DISTRIBUTE_INLINE Device device_of_all(const std::vector<Tensor>& tensors) {
  Device device = tensors[0].device();
  for (const Tensor& t : tensors) device = is_gpu(device) ? device : t.device();
  return device;
}

/// Gives the shape of the result.
DISTRIBUTE_INLINE Shape concat_shape(const std::vector<Tensor>& tensors, int axis) {
  const Tensor& first = tensors[0];
  int64_t total = 0;
  for (const Tensor& t : tensors) {
    const bool fits = t.shape().rank() == first.shape().rank() &&
                      t.shape().with(axis, 0) == first.shape().with(axis, 0);
    if (!fits || t.dtype() != first.dtype())
      throw InvalidArgumentError(str_cat("concat: along axis ", axis, ": ",
                                         to_string(first.shape()), " ", name_of(first.dtype()),
                                         " and ", to_string(t.shape()), " ", name_of(t.dtype())));
    total += t.shape()[axis];
  }
  return first.shape().with(axis, total);
}

/// Copies every tensor to its place; returns the position on the axis where each begins.
DISTRIBUTE_INLINE std::vector<int64_t> copy_joined(const std::vector<Tensor>& tensors, int axis,
                                                   Tensor& y) {
  const auto to = row_major_steps(y.shape());
  const int64_t bytes = size_of(y.dtype());
  std::vector<int64_t> begins;
  int64_t begin = 0;
  for (const Tensor& t : tensors) {
    const Tensor plain = brought_to(t, y.device());
    const auto from = row_major_steps(t.shape());
    std::vector<CopyAxis> axes;
    for (size_t i = 0; i < from.size(); ++i) axes.push_back({t.shape()[int(i)], from[i], to[i]});
    strided_copy(y.device(), axes, plain.array().bytes(),
                 y.array().bytes() + begin * to[size_t(axis)] * bytes, bytes);
    begins.push_back(begin);
    begin += t.shape()[axis];
  }
  return begins;
}

DISTRIBUTE_INLINE std::vector<int64_t> split_sizes(const Tensor& x, int axis,
                                                   std::span<const int64_t> wanted) {
  const int64_t whole = x.shape()[axis];
  std::vector<int64_t> sizes(wanted.begin(), wanted.end());
  int64_t known = 0, *open = nullptr;
  bool valid = true;
  for (int64_t& size : sizes) {
    valid &= size >= 0 || (size == -1 && !open);
    if (size == -1)
      open = &size;
    else
      known += size;
  }
  if (open) *open = whole - known;
  if (!valid || (open ? *open < 0 : known != whole))
    throw InvalidArgumentError(str_cat("split: ", sizes.size(), " parts of ", known,
                                       " elements in all do not make up axis ", axis, " of ",
                                       to_string(x.shape())));
  return sizes;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor concat(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) throw InvalidArgumentError("concat: there are no tensors to join");
  axis = tensors[0].shape().normalize_axis(axis);
  const Shape shape = ops_internal::concat_shape(tensors, axis);
  Tensor y = Tensor::empty(shape, tensors[0].dtype(), ops_internal::device_of_all(tensors));
  const auto begins = ops_internal::copy_joined(tensors, axis, y);
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors) shapes.push_back(t.shape());
  const BackwardFunction gradient = [=](const Backward& backward) {
    std::vector<Tensor> gradients(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i)
      if (backward.needs(i))
        gradients[i] = ops_internal::take_slice(
            backward.gradient(),
            ops_internal::axis_part(shapes[i], axis, begins[i], shapes[i][axis]));
    return gradients;
  };
  record("concat", tensors, std::span(&y, 1), gradient, ops_internal::AxisAttribute(y, axis));
  return y;
}

DISTRIBUTE_INLINE Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) throw InvalidArgumentError("stack: there are no tensors to join");
  std::vector<Tensor> expanded;
  for (const Tensor& t : tensors) {
    if (t.shape() != tensors[0].shape())
      throw InvalidArgumentError(str_cat("stack: shapes differ: ", to_string(tensors[0].shape()),
                                         " and ", to_string(t.shape())));
    expanded.push_back(expand_dims(t, axis));
  }
  return concat(expanded, axis);
}

DISTRIBUTE_INLINE std::vector<Tensor> split(const Tensor& x, std::span<const int64_t> sizes,
                                            int axis) {
  axis = x.shape().normalize_axis(axis);
  const std::vector<int64_t> parts = ops_internal::split_sizes(x, axis, sizes);
  std::vector<Tensor> outputs;
  int64_t begin = 0;
  for (int64_t size : parts) {
    const auto spec = ops_internal::axis_part(x.shape(), axis, begin, size);
    outputs.push_back(ops_internal::slice_values(x, spec));
    begin += size;
  }
  const auto backward_function = [=, shape = x.shape(), dtype = x.dtype(),
                                  device = x.device()](const Backward& backward) {
    std::vector<Tensor> gradients;
    for (size_t i = 0; i < parts.size(); ++i)
      gradients.push_back(backward.gradient(i)
                              ? backward.gradient(i)
                              : fill(shape.with(axis, parts[i]), 0, dtype, device));
    return std::vector<Tensor>{concat(gradients, axis)};
  };
  record("split", std::span(&x, 1), outputs, backward_function);
  begin = 0;
  for (size_t i = 0; i < parts.size(); begin += parts[i++])
    record_composite("slice", {x}, outputs[i], [&] {
      return ops_internal::slice_attributes(
          x, ops_internal::axis_part(x.shape(), axis, begin, parts[i]));
    });
  return outputs;
}

DISTRIBUTE_INLINE std::vector<Tensor> split(const Tensor& x, int num_parts, int axis) {
  const int64_t whole = x.shape()[axis];
  if (num_parts < 1 || whole % num_parts)
    throw InvalidArgumentError(str_cat("split: axis ", axis, " of ", to_string(x.shape()),
                                       " does not divide into ", num_parts, " equal parts"));
  const std::vector<int64_t> sizes(size_t(num_parts), whole / num_parts);
  return split(x, sizes, axis);
}

DISTRIBUTE_INLINE std::vector<Tensor> unstack(const Tensor& x, int axis) {
  axis = x.shape().normalize_axis(axis);
  if (x.shape()[axis] == 0) return {};
  std::vector<Tensor> parts = split(x, int(x.shape()[axis]), axis);
  for (Tensor& part : parts) part = squeeze(part, {axis});
  return parts;
}

DISTRIBUTE_INLINE Tensor tile(const Tensor& x, std::span<const int64_t> multiples) {
  if (int(multiples.size()) != x.shape().rank())
    throw InvalidArgumentError(
        str_cat("tile: ", multiples.size(), " multiples for shape ", to_string(x.shape())));
  Tensor y = x;
  for (int axis = 0; axis < x.shape().rank(); ++axis) {
    const int64_t times = multiples[size_t(axis)], size = x.shape()[axis];
    if (times < 0)
      throw InvalidArgumentError(str_cat("tile: the multiple of axis ", axis, " is ", times));
    if (times == 1) continue;
    std::vector<int64_t> positions(size_t(times * size));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = int64_t(i) % size;
    y = ops_internal::take(y, Tensor(Shape{times * size}, positions), axis);
  }
  return y;
}

DISTRIBUTE_INLINE Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return ops_internal::expand_to_shape("broadcast_to", x, shape);
}

}  // namespace distribute
