#pragma once
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn {

namespace nn_internal {

/// Source  keras.layers.Bidirectional._verify_layer_config
template <typename Value>
void check_both(const char* option, Value forward, Value backward, bool wants_equal) {
  if ((forward == backward) == wants_equal) return;
  throw InvalidArgumentError(str_cat("Bidirectional: forward layer and backward layer should have ",
                                     wants_equal ? "the same" : "different", " `", option,
                                     "` value. Received: forward_layer.", option, "=", forward,
                                     ", backward_layer.", option, "=", backward));
}

/// Puts the outputs of a layer that reads from the last step into the order of the steps.
DISTRIBUTE_INLINE Tensor in_order(const Tensor& output, bool return_sequences) {
  return return_sequences ? strided_slice(output, {Range{}, Range{.step = -1}}) : output;
}

}  // namespace nn_internal

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

DISTRIBUTE_INLINE Bidirectional::Bidirectional(const RecurrentBase& layer,
                                               const RecurrentBase& backward_layer,
                                               BidirectionalOptions options)
    : Module(options.name),
      merge_mode_(options.merge_mode),
      return_sequences_(layer.return_sequences()),
      forward_(&add_direction(layer, false, "forward_")),
      backward_(&add_direction(backward_layer, false, "")) {
  using nn_internal::check_both;
  check_both("go_backwards", forward_->go_backwards_, backward_->go_backwards_, false);
  check_both("stateful", forward_->stateful(), backward_->stateful(), true);
  check_both("return_sequences", return_sequences_, backward_->return_sequences(), true);
}

DISTRIBUTE_INLINE Tensor Bidirectional::merge(const Tensor& forward, const Tensor& backward) const {
  switch (merge_mode_) {
    case MergeMode::Sum: return forward + backward;
    case MergeMode::Mul: return forward * backward;
    case MergeMode::Ave: return (forward + backward) / 2;
    case MergeMode::Concat: return concat({forward, backward}, -1);
    case MergeMode::None: break;
  }
  throw InvalidArgumentError(str_cat("layer '", name(), "' has merge_mode None, and so two ",
                                     "outputs: call_both() gives them"));
}

DISTRIBUTE_INLINE std::pair<RecurrentResult, RecurrentResult> Bidirectional::run_both(
    const Tensor& x, const std::vector<Tensor>& initial, CallOptions options) {
  const auto half = initial.begin() + std::ptrdiff_t(initial.size() / 2);
  RecurrentResult forward = forward_->call_with_states(x, {initial.begin(), half}, options);
  RecurrentResult backward = backward_->call_with_states(x, {half, initial.end()}, options);
  backward.output = nn_internal::in_order(backward.output, return_sequences_);
  return {std::move(forward), std::move(backward)};
}

DISTRIBUTE_INLINE std::pair<RecurrentResult, RecurrentResult> Bidirectional::call_both(
    const Tensor& x, const std::vector<Tensor>& initial, CallOptions options) {
  std::pair<RecurrentResult, RecurrentResult> results;
  enter(std::span(&x, 1), [&] {
    const Tensor mask = options.mask ? options.mask : get_keras_mask(x);
    if (initial.empty()) options.mask = mask;
    results = run_both(x, initial, options);
    if (supports_masking())
      for (RecurrentResult* one : {&results.first, &results.second})
        one->output = nn_internal::with_mask(one->output, mask);
    return results.first.output;
  });
  return results;
}

DISTRIBUTE_INLINE RecurrentResult Bidirectional::call_with_states(
    const Tensor& x, const std::vector<Tensor>& initial, CallOptions options) {
  RecurrentResult result;
  enter(std::span(&x, 1), [&] {
    const Tensor mask = options.mask ? options.mask : get_keras_mask(x);
    if (initial.empty()) options.mask = mask;
    auto [forward, backward] = run_both(x, initial, options);
    result = {merge(forward.output, backward.output), std::move(forward.states)};
    for (Tensor& state : backward.states) result.states.push_back(std::move(state));
    if (supports_masking()) result.output = nn_internal::with_mask(result.output, mask);
    return result.output;
  });
  return result;
}

DISTRIBUTE_INLINE Tensor Bidirectional::call(const Tensor& x, CallOptions options) {
  const Tensor forward = (*forward_)(x, options), backward = (*backward_)(x, options);
  return merge(forward, nn_internal::in_order(backward, return_sequences_));
}

}  // namespace distribute::nn
