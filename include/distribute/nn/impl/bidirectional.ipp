#pragma once
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE RecurrentLayer in_direction(const RecurrentLayer& layer, bool turned,
                                              const std::string& prefix) {
  RecurrentLayerOptions options = layer.options();
  if (turned) options.step.go_backwards = !options.step.go_backwards;
  options.step.zero_output_for_mask = options.step.return_sequences;
  const std::string& name = layer.name();
  options.common.name = name.starts_with(prefix) ? name : prefix + name;
  return RecurrentLayer(options);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Bidirectional::Bidirectional(const RecurrentLayer& layer,
                                               BidirectionalOptions options)
    : Module(options.name),
      merge_mode_(options.merge_mode),
      return_sequences_(layer.options().step.return_sequences),
      forward_(&add("", nn_internal::in_direction(layer, false, "forward_"))),
      backward_(&add("", nn_internal::in_direction(layer, true, "backward_"))) {}

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
    if (!options.mask) options.mask = get_keras_mask(x);
    const auto half = initial.begin() + std::ptrdiff_t(initial.size() / 2);
    RecurrentResult forward = forward_->call_with_states(x, {initial.begin(), half}, options);
    RecurrentResult backward = backward_->call_with_states(x, {half, initial.end()}, options);
    result = {merge(forward.output, backward.output), std::move(forward.states)};
    for (Tensor& state : backward.states) result.states.push_back(std::move(state));
    if (supports_masking()) result.output = nn_internal::with_mask(result.output, options.mask);
    return result.output;
  });
  return result;
}

DISTRIBUTE_INLINE Tensor Bidirectional::call(const Tensor& x, CallOptions options) {
  return merge((*forward_)(x, options), (*backward_)(x, options));
}

}  // namespace distribute::nn
