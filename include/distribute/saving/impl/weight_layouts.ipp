#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saving/weight_names.hpp>

#include <numeric>
#include <utility>

namespace distribute::saving_internal {

/// Number of elements of the axes [begin, end).
DISTRIBUTE_INLINE int64_t elements_of(const Shape& shape, int begin, int end) {
  int64_t count = 1;
  for (int axis = begin; axis < end; ++axis) count *= shape[axis];
  return count;
}

/// The last two axes first, in turn.
DISTRIBUTE_INLINE std::vector<int> outputs_first(int rank) {
  std::vector<int> order{rank - 1, rank - 2};
  for (int axis = 0; axis + 2 < rank; ++axis) order.push_back(axis);
  return order;
}

DISTRIBUTE_INLINE std::vector<int> outputs_last(int rank) {
  std::vector<int> order(size_t(rank - 2));
  std::iota(order.begin(), order.end(), 2);
  order.insert(order.end(), {1, 0});
  return order;
}

/// The tensor with the first two of `count` pieces exchanged.
DISTRIBUTE_INLINE Tensor exchanged(const Tensor& x, int64_t count) {
  std::vector<Tensor> pieces = split(x, int(count), 0);
  std::swap(pieces[0], pieces[1]);
  return concat(pieces, 0);
}

}  // namespace distribute::saving_internal

namespace distribute::saving::layouts {

DISTRIBUTE_INLINE WeightLayout same() {
  return {[](const Tensor& x, const Shape& wanted) { return x.shape() == wanted ? x : Tensor(); },
          [](const Tensor& value) { return value; }};
}

DISTRIBUTE_INLINE WeightLayout flat() {
  return {[](const Tensor& x, const Shape& wanted) {
            const bool fits = x.shape() == Shape{wanted.num_elements()};
            return fits ? reshape(x, wanted) : Tensor();
          },
          [](const Tensor& value) { return reshape(value, {value.num_elements()}); }};
}

DISTRIBUTE_INLINE WeightLayout matrix(int input_axes) {
  const auto sizes = [=](const Shape& shape) {
    return Shape{saving_internal::elements_of(shape, 0, input_axes),
                 saving_internal::elements_of(shape, input_axes, shape.rank())};
  };
  return {[=](const Tensor& x, const Shape& wanted) {
            const bool fits = wanted.rank() > input_axes && x.shape() == sizes(wanted);
            return fits ? reshape(x, wanted) : Tensor();
          },
          [=](const Tensor& value) { return reshape(value, sizes(value.shape())); }};
}

DISTRIBUTE_INLINE WeightLayout linear(int input_axes) {
  const WeightLayout plain = matrix(input_axes);
  return {[=](const Tensor& x, const Shape& wanted) {
            return x.shape().rank() == 2 ? plain.read(transpose(x), wanted) : Tensor();
          },
          [=](const Tensor& value) { return transpose(plain.write(value)); }};
}

DISTRIBUTE_INLINE WeightLayout convolution() {
  return {[](const Tensor& x, const Shape& wanted) {
            const int rank = x.shape().rank();
            if (rank < 3 || rank != wanted.rank()) return Tensor();
            const Tensor value = transpose(x, saving_internal::outputs_last(rank));
            return value.shape() == wanted ? value : Tensor();
          },
          [](const Tensor& value) {
            return transpose(value, saving_internal::outputs_first(value.shape().rank()));
          }};
}

DISTRIBUTE_INLINE WeightLayout depthwise() {
  return {[](const Tensor& x, const Shape& wanted) {
            const Shape& shape = x.shape();
            if (shape.rank() != 4 || wanted.rank() != 4 || shape[0] != wanted[2] * wanted[3] ||
                shape[1] != 1 || shape[2] != wanted[0] || shape[3] != wanted[1])
              return Tensor();
            const Tensor apart = reshape(x, {wanted[2], wanted[3], wanted[0], wanted[1]});
            return transpose(apart, {2, 3, 0, 1});
          },
          [](const Tensor& value) {
            const Shape& shape = value.shape();
            return reshape(transpose(value, {2, 3, 0, 1}),
                           {shape[2] * shape[3], 1, shape[0], shape[1]});
          }};
}

DISTRIBUTE_INLINE WeightLayout linear_behind_flatten(int64_t height, int64_t width,
                                                     int64_t channels) {
  const int64_t inputs = height * width * channels;
  return {[=](const Tensor& x, const Shape& wanted) {
            if (x.shape().rank() != 2 || wanted != Shape{inputs, x.shape()[0]} ||
                x.shape()[1] != inputs)
              return Tensor();
            const Tensor image = reshape(x, {x.shape()[0], channels, height, width});
            return reshape(transpose(image, {2, 3, 1, 0}), wanted);
          },
          [=](const Tensor& value) {
            const Tensor image = reshape(value, {height, width, channels, value.shape()[1]});
            return reshape(transpose(image, {3, 2, 0, 1}), {value.shape()[1], inputs});
          }};
}

DISTRIBUTE_INLINE WeightLayout first_two_exchanged(WeightLayout inner, int64_t count) {
  return {
      [=](const Tensor& x, const Shape& wanted) {
        const bool cut = x.shape().rank() > 0 && x.shape()[0] % count == 0;
        return cut ? inner.read(saving_internal::exchanged(x, count), wanted) : Tensor();
      },
      [=](const Tensor& value) { return saving_internal::exchanged(inner.write(value), count); }};
}

}  // namespace distribute::saving::layouts
