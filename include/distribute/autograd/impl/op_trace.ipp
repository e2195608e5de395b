#pragma once
#include <distribute/autograd/op_trace.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/process_state.hpp>

#include <deque>
#include <unordered_map>
#include <utility>

namespace distribute {

struct OpTrace::State {
  OpTrace* outer;
  std::deque<TracedOp> ops;
  std::unordered_map<uint64_t, size_t> origins;  // by tensor
  std::unordered_map<uint64_t, std::pair<Variable, Tensor>> variables;
  std::string layer;
};

namespace autograd_internal {

DISTRIBUTE_INLINE OpTrace*& active_trace() {
  return base_internal::in_thread_context<base_internal::ContextPlace{3, 3}, OpTrace*>();
}

DISTRIBUTE_INLINE TracedLayer::TracedLayer(const std::string& path)
    : trace_(path.empty() ? nullptr : active_trace()) {
  if (trace_) outer_ = trace_->enter_layer(path);
}
DISTRIBUTE_INLINE TracedLayer::~TracedLayer() {
  if (trace_) trace_->enter_layer(std::move(outer_));
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE OpTrace::OpTrace() : state_(new State()) {
  state_->outer = std::exchange(autograd_internal::active_trace(), this);
}
DISTRIBUTE_INLINE OpTrace::~OpTrace() { stop(); }
DISTRIBUTE_INLINE void OpTrace::stop() {
  if (autograd_internal::active_trace() == this) autograd_internal::active_trace() = state_->outer;
}

DISTRIBUTE_INLINE const TracedOp* OpTrace::origin(const Tensor& tensor) const {
  const auto found = state_->origins.find(tensor.id());
  return found == state_->origins.end() ? nullptr : &state_->ops[found->second];
}

DISTRIBUTE_INLINE Variable OpTrace::variable(const Tensor& tensor) const {
  const auto found = state_->variables.find(tensor.id());
  return found == state_->variables.end() ? Variable() : found->second.first;
}

/// An operation that returns its operand unchanged is not listed.
DISTRIBUTE_INLINE void OpTrace::add(TracedOp op) {
  for (const Tensor& input : op.inputs)
    if (input && input.id() == op.output.id()) return;
  op.layer = state_->layer;
  state_->origins[op.output.id()] = state_->ops.size();
  state_->ops.push_back(std::move(op));
}

DISTRIBUTE_INLINE std::string OpTrace::enter_layer(std::string path) {
  return std::exchange(state_->layer, std::move(path));
}

DISTRIBUTE_INLINE void OpTrace::add_variable(const Variable& variable, const Tensor& value) {
  state_->variables.insert_or_assign(value.id(), std::pair(variable, value));
}

}  // namespace distribute
