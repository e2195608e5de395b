#pragma once
#include <distribute/autograd/detail/jacobian.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <span>

namespace distribute::autograd_internal {

DISTRIBUTE_INLINE Tensor element_weight(const Tensor& target, int64_t rows, int64_t i) {
  const int64_t width = target.num_elements() / rows;
  Tensor weight = fill(target.shape(), 0, target.dtype(), Device{});
  dispatch(target.dtype(), [&](auto type) {
    using T = decltype(type);
    T* values = weight.mutable_data<T>();
    for (int64_t row = 0; row < rows; ++row) values[row * width + i] = T(1);
  });
  return weight.to(target.device());
}

DISTRIBUTE_INLINE Shape JacobianShape::whole() const {
  Shape shape = target;
  for (int i = shares_first_axis; i < source.rank(); ++i) shape.push_back(source[i]);
  return shape;
}

/// Gradient i of n between memory of its own, [rows, inner], and its place in [rows, n, inner].
struct GradientPlaces {
  int64_t rows, count, bytes;  // bytes: of `inner` elements

  void put(const char* gradient, char* whole, int64_t i) const {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(whole + (row * count + i) * bytes, gradient + row * bytes, size_t(bytes));
  }
  void take(const char* whole, char* gradient, int64_t i) const {
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(gradient + row * bytes, whole + (row * count + i) * bytes, size_t(bytes));
  }
};

DISTRIBUTE_INLINE GradientPlaces places_in(const JacobianShape& shape, size_t count, DType dtype) {
  const int64_t rows = shape.rows();
  const int64_t inner = rows == 0 ? 0 : shape.source.num_elements() / rows;
  return {rows, int64_t(count), inner * size_of(dtype)};
}

DISTRIBUTE_INLINE std::vector<Tensor> unstack_gradients(const Tensor& whole,
                                                        const JacobianShape& shape, size_t count) {
  const GradientPlaces places = places_in(shape, count, whole.dtype());
  const Tensor from = whole.to(Device{}).row_major();
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < count; ++i) {
    Tensor gradient = Tensor::empty(shape.source, whole.dtype(), Device{});
    places.take(from.array().bytes(), gradient.array().bytes(), int64_t(i));
    gradients.push_back(gradient.to(whole.device()));
  }
  return gradients;
}

/// Recorded gradients of the stack's gradient, so that Jacobians can be derived any number of
/// times.
DISTRIBUTE_INLINE std::vector<Tensor> stack_backward(const Tensor& gradient,
                                                     const JacobianShape& shape, size_t count) {
  std::vector<Tensor> parts = unstack_gradients(gradient, shape, count);
  record("unstack_gradients", std::span(&gradient, 1), parts, [=](const Backward& backward) {
    std::vector<Tensor> of_parts;
    for (size_t i = 0; i < count; ++i) of_parts.push_back(backward.gradient(i));
    return std::vector<Tensor>{stack_gradients(of_parts, shape)};
  });
  return parts;
}

DISTRIBUTE_INLINE Tensor stack_gradients(const std::vector<Tensor>& gradients,
                                         const JacobianShape& shape) {
  const auto some = std::find_if(gradients.begin(), gradients.end(),
                                 [](const Tensor& gradient) { return bool(gradient); });
  if (some == gradients.end()) return {};
  const GradientPlaces places = places_in(shape, gradients.size(), some->dtype());
  Tensor whole = fill(shape.whole(), 0, some->dtype(), Device{});
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i]) continue;
    const Tensor from = gradients[i].to(Device{}).row_major();
    places.put(from.array().bytes(), whole.array().bytes(), int64_t(i));
  }
  const Tensor result = whole.to(some->device());
  record("stack_gradients", gradients, std::span(&result, 1),
         [shape, count = gradients.size()](const Backward& backward) {
           return stack_backward(backward.gradient(), shape, count);
         });
  return result;
}

}  // namespace distribute::autograd_internal
