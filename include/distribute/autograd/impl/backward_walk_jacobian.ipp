#pragma once
#include <distribute/autograd/detail/backward_walk.hpp>
#include <distribute/autograd/detail/tape_state.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

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

/// Copies gradient i of n between its own memory, [rows, inner], and its place in [rows, n, inner].
struct GradientPlaces {
  int64_t rows, count, bytes;  // bytes is the size of `inner` elements

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

/// Records the gradients of the stack's gradient, so that Jacobians can be differentiated any
/// number of times.
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

/// Lets a tape be walked several times for one result. A tape that is not persistent is used up
/// afterwards.
class SeveralWalks {
 public:
  explicit SeveralWalks(GradientTape& tape, GradientTape::State& state)
      : state_(state), persistent_(state.options.persistent) {
    if (persistent_) return;
    state.check_unused();
    paused_.emplace(tape);
    state.options.persistent = true;
  }
  ~SeveralWalks() {
    state_.options.persistent = persistent_;
    state_.used = true;
    if (!persistent_) state_.nodes.clear();
  }
  SeveralWalks(const SeveralWalks&) = delete;

 private:
  GradientTape::State& state_;
  const bool persistent_;
  std::optional<GradientTape::StopRecording> paused_;
};

}  // namespace distribute::autograd_internal

namespace distribute {

template <typename Source>
std::vector<Tensor> GradientTape::jacobians(const Tensor& target,
                                            const std::vector<Source>& sources,
                                            UnconnectedGradients unconnected, bool of_rows) {
  const autograd_internal::SeveralWalks walks(*this, *state_);
  std::vector<std::vector<Tensor>> gradients(sources.size());
  const int64_t rows = of_rows ? target.shape()[0] : 1;
  for (int64_t i = 0; i * rows < target.num_elements(); ++i) {
    const Call call{.output_gradients = {autograd_internal::element_weight(target, rows, i)}};
    std::vector<Tensor> of_element = gradient(std::vector<Tensor>{target}, sources, call);
    for (size_t s = 0; s < sources.size(); ++s) gradients[s].push_back(std::move(of_element[s]));
  }
  std::vector<Tensor> result;
  for (size_t s = 0; s < sources.size(); ++s) {
    const autograd_internal::JacobianShape shape{target.shape(), sources[s].shape(), of_rows};
    result.push_back(autograd_internal::stack_gradients(gradients[s], shape));
    const bool empty = shape.whole().num_elements() == 0;
    if (!result[s] && (empty || unconnected == UnconnectedGradients::Zero))
      result[s] = zeros(shape.whole(), sources[s].dtype());
  }
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::jacobian(const Tensor& target,
                                                             const std::vector<Tensor>& sources,
                                                             UnconnectedGradients unconnected) {
  return jacobians(target, sources, unconnected, false);
}
DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::jacobian(const Tensor& target,
                                                             const std::vector<Variable>& sources,
                                                             UnconnectedGradients unconnected) {
  return jacobians(target, sources, unconnected, false);
}
DISTRIBUTE_INLINE Tensor GradientTape::jacobian(const Tensor& target, const Tensor& source,
                                                UnconnectedGradients unconnected) {
  return jacobian(target, std::vector<Tensor>{source}, unconnected)[0];
}
DISTRIBUTE_INLINE Tensor GradientTape::jacobian(const Tensor& target, const Variable& source,
                                                UnconnectedGradients unconnected) {
  return jacobian(target, std::vector<Variable>{source}, unconnected)[0];
}

DISTRIBUTE_INLINE Tensor GradientTape::batch_jacobian(const Tensor& target, const Tensor& source,
                                                      UnconnectedGradients unconnected) {
  const Shape &to = target.shape(), &from = source.shape();
  if (to.rank() < 2 || from.rank() < 2)
    throw InvalidArgumentError(str_cat("batch_jacobian: Shape ",
                                       to_string(to.rank() < 2 ? to : from),
                                       " must have rank at least 2"));
  if (to[0] != from[0])
    throw InvalidArgumentError(str_cat("batch_jacobian: Need first dimension of target shape ",
                                       to_string(to), " and source shape ", to_string(from),
                                       " to match."));
  return jacobians(target, std::vector<Tensor>{source}, unconnected, true)[0];
}

}  // namespace distribute
