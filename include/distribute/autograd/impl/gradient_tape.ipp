#pragma once
// Bodies of functions that gradient_tape.hpp and tape_state.hpp declare follow these.
#include <distribute/autograd/detail/backward_walk.hpp>
#include <distribute/autograd/detail/tape_state.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>

#include <memory>
#include <string_view>

namespace distribute {

DISTRIBUTE_INLINE bool is_recording(std::span<const Tensor> inputs) {
  for (const GradientTape::State* tape : autograd_internal::active_tapes())
    if (tape->recording)
      for (const Tensor& input : inputs)
        if (input && tape->follows(input.id())) return true;
  return false;
}

DISTRIBUTE_INLINE void record(const char* op, std::span<const Tensor> inputs,
                              std::span<const Tensor> outputs, const BackwardFunction& backward,
                              AttributesFunction attributes) {
  // TensorFlow logs no copies from device to device.
  if (device_state().log_device_placement && !outputs.empty() && std::string_view(op) != "copy")
    device_internal::log_placement(op, outputs[0].device());
  if (OpTrace* trace = autograd_internal::active_trace())
    for (const Tensor& output : outputs)
      if (output) trace->add({op, {inputs.begin(), inputs.end()}, output, attributes(), ""});
  if (!backward) return;
  for (GradientTape::State* tape : autograd_internal::active_tapes())
    if (tape->recording && tape->keeps_operations) tape->add(op, inputs, outputs, backward);
}

DISTRIBUTE_INLINE Tensor record(const char* op, std::initializer_list<Tensor> inputs,
                                const Tensor& output, const BackwardFunction& backward,
                                AttributesFunction attributes) {
  record(op, std::span(inputs.begin(), inputs.size()), std::span(&output, 1), backward, attributes);
  return output;
}

DISTRIBUTE_INLINE Tensor record_composite(const char* op, std::initializer_list<Tensor> inputs,
                                          const Tensor& output, AttributesFunction attributes) {
  if (OpTrace* trace = autograd_internal::active_trace(); trace && output)
    trace->add({op, {inputs.begin(), inputs.end()}, output, attributes(), ""});
  return output;
}

DISTRIBUTE_INLINE OpAttributes AttributesFunction::operator()() const {
  return call_ ? call_(make_) : OpAttributes();
}

DISTRIBUTE_INLINE BackwardFunction no_gradient(const char* op) {
  return [op](const Backward&) -> std::vector<Tensor> {
    throw UnimplementedError(str_cat(op, " has no gradient of its own"));
  };
}

DISTRIBUTE_INLINE std::vector<Tensor> final_gradients(const char* op,
                                                      std::initializer_list<Tensor> inputs,
                                                      std::vector<Tensor> gradients) {
  const std::span from(inputs.begin(), inputs.size());
  if (!is_recording(from)) return gradients;
  std::vector<Tensor> made;
  for (const Tensor& gradient : gradients)
    if (gradient) made.push_back(gradient);
  record(op, from, made, no_gradient(op));
  return gradients;
}

DISTRIBUTE_INLINE GradientTape::GradientTape() : GradientTape(Options{}) {}
DISTRIBUTE_INLINE GradientTape::GradientTape(Options options) : state_(new State()) {
  state_->options = options;
  autograd_internal::active_tapes().push_back(state_.get());
}
DISTRIBUTE_INLINE GradientTape::~GradientTape() {
  std::erase(autograd_internal::active_tapes(), state_.get());
}

DISTRIBUTE_INLINE void GradientTape::watch(const Tensor& tensor) {
  state_->readers.emplace(tensor.id(), 0);
}
DISTRIBUTE_INLINE void GradientTape::watch(const Variable& variable) {
  state_->add_variable(variable, variable.impl().read());
}

DISTRIBUTE_INLINE std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<Variable> result;
  for (const auto& watched : state_->variables) result.push_back(watched.variable);
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::gradient(const std::vector<Tensor>& targets,
                                                             const std::vector<Variable>& sources,
                                                             const Call& call) {
  const auto paused = state_->options.persistent ? nullptr : std::make_unique<StopRecording>(*this);
  std::vector<Tensor> result = state_->walk(targets, state_->ids_of(sources), call, sources);
  for (size_t i = 0; i < result.size(); ++i)
    if (!result[i] && call.unconnected == UnconnectedGradients::Zero)
      result[i] = zeros(sources[i].shape(), sources[i].dtype());
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::gradient(const std::vector<Tensor>& targets,
                                                             const std::vector<Tensor>& sources,
                                                             const Call& call) {
  const auto paused = state_->options.persistent ? nullptr : std::make_unique<StopRecording>(*this);
  autograd_internal::SourceIds ids;
  for (const Tensor& source : sources) ids.push_back({source.id()});
  std::vector<Tensor> result = state_->walk(targets, ids, call);
  for (size_t i = 0; i < result.size(); ++i)
    if (!result[i] && call.unconnected == UnconnectedGradients::Zero)
      result[i] = zeros_like(sources[i]);
  return result;
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::gradient(const Tensor& target,
                                                             const std::vector<Variable>& sources) {
  return gradient(std::vector<Tensor>{target}, sources, Call{});
}
DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::gradient(const Tensor& target,
                                                             const std::vector<Tensor>& sources) {
  return gradient(std::vector<Tensor>{target}, sources, Call{});
}
DISTRIBUTE_INLINE Tensor GradientTape::gradient(const Tensor& target, const Tensor& source) {
  return gradient(target, std::vector<Tensor>{source})[0];
}
DISTRIBUTE_INLINE Tensor GradientTape::gradient(const Tensor& target, const Variable& source) {
  return gradient(target, std::vector<Variable>{source})[0];
}

DISTRIBUTE_INLINE void GradientTape::reset() {
  state_->nodes.clear();
  state_->readers.clear();
  state_->variables.clear();
  state_->used = false;
}

DISTRIBUTE_INLINE GradientTape::StopRecording::StopRecording(GradientTape& tape)
    : state_(*tape.state_), previous_(state_.recording) {
  state_.recording = false;
}
DISTRIBUTE_INLINE GradientTape::StopRecording::~StopRecording() { state_.recording = previous_; }

DISTRIBUTE_INLINE autograd_internal::HiddenTapes::HiddenTapes() {
  hidden_.swap(active_tapes());
  watch_ = std::make_unique<GradientTape>();
  watch_->state_->keeps_operations = false;
}
DISTRIBUTE_INLINE autograd_internal::HiddenTapes::~HiddenTapes() {
  watch_.reset();
  active_tapes().swap(hidden_);
}

DISTRIBUTE_INLINE Tensor stop_gradient(const Tensor& tensor) {
  Tensor result = tensor.renamed();
  if (OpTrace* trace = autograd_internal::active_trace())
    trace->add({"stop_gradient", {tensor}, result, {}, ""});
  return result;
}

}  // namespace distribute
