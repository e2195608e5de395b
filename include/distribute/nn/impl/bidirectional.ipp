#pragma once
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE RecurrentBase& Bidirectional::add_direction(const RecurrentBase& layer,
                                                              bool turned,
                                                              const std::string& prefix) {
  const std::string name = layer.name();
  auto made = layer.for_direction(turned, name.starts_with(prefix) ? name : prefix + name);
  RecurrentBase& added = *made;
  add_child("", std::move(made));
  return added;
}

DISTRIBUTE_INLINE Bidirectional::Bidirectional(const RecurrentBase& layer,
                                               BidirectionalOptions options)
    : Module(options.name),
      merge_mode_(options.merge_mode),
      return_sequences_(layer.return_sequences()),
      forward_(&add_direction(layer, false, "forward_")),
      backward_(&add_direction(layer, true, "backward_")) {}

DISTRIBUTE_INLINE Tensor Bidirectional::merge(const Tensor& forward, const Tensor& backward) const {
  const Tensor turned =
      return_sequences_ ? strided_slice(backward, {Range{}, Range{.step = -1}}) : backward;
  switch (merge_mode_) {
    case MergeMode::Sum: return forward + turned;
    case MergeMode::Mul: return forward * turned;
    case MergeMode::Ave: return (forward + turned) / 2;
    default: return concat({forward, turned}, -1);
  }
}

DISTRIBUTE_INLINE RecurrentResult Bidirectional::call_with_states(
    const Tensor& x, const std::vector<Tensor>& initial, CallOptions options) {
  RecurrentResult result;
  enter(std::span(&x, 1), [&] {
    const Tensor mask = options.mask ? options.mask : get_keras_mask(x);
    if (initial.empty()) options.mask = mask;
    const auto half = initial.begin() + std::ptrdiff_t(initial.size() / 2);
    RecurrentResult forward = forward_->call_with_states(x, {initial.begin(), half}, options);
    RecurrentResult backward = backward_->call_with_states(x, {half, initial.end()}, options);
    result = {merge(forward.output, backward.output), std::move(forward.states)};
    for (Tensor& state : backward.states) result.states.push_back(std::move(state));
    if (supports_masking()) result.output = nn_internal::with_mask(result.output, mask);
    return result.output;
  });
  return result;
}

DISTRIBUTE_INLINE Tensor Bidirectional::call(const Tensor& x, CallOptions options) {
  return merge((*forward_)(x, options), (*backward_)(x, options));
}

}  // namespace distribute::nn
