#pragma once
#include <distribute/autograd/detail/tape_state.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>

#include <utility>

namespace distribute {

namespace autograd_internal {

DISTRIBUTE_INLINE std::vector<GradientTape::State*>& active_tapes() {
  return base_internal::in_thread_context<base_internal::ContextPlace{3, 1},
                                          std::vector<GradientTape::State*>>();
}

DISTRIBUTE_INLINE bool is_taping() { return !active_tapes().empty(); }

DISTRIBUTE_INLINE void variable_accessed(const Variable& variable, const Tensor& value) {
  for (GradientTape::State* tape : active_tapes())
    if (tape->recording && tape->options.watch_accessed_variables)
      tape->add_variable(variable, value);
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE void GradientTape::State::add(const char* op, std::span<const Tensor> inputs,
                                                std::span<const Tensor> outputs,
                                                const BackwardFunction& backward) {
  autograd_internal::Node node{op, {}, {}, backward};
  bool followed = false;
  for (const Tensor& input : inputs) {
    const uint64_t id = input ? input.id() : 0;
    node.inputs.push_back(id);
    const auto entry = readers.find(id);
    if (entry == readers.end()) continue;
    ++entry->second;
    followed = true;
  }
  if (!followed) return;
  for (const Tensor& output : outputs) {
    node.outputs.push_back(output.id());
    readers.emplace(output.id(), 0);
  }
  nodes.push_back(std::move(node));
}

DISTRIBUTE_INLINE void GradientTape::State::add_variable(const Variable& variable,
                                                         const Tensor& value) {
  const bool is_new = readers.emplace(value.id(), 0).second;
  // the value of shards was recorded already
  if (!is_new && variable.impl().parts().empty()) return;
  for (auto& watched : variables)
    if (watched.variable == variable) {
      watched.values.push_back(value.id());
      return;
    }
  variables.push_back({variable, {value.id()}});
}

DISTRIBUTE_INLINE autograd_internal::SourceIds GradientTape::State::ids_of(
    const std::vector<Variable>& sources) const {
  std::unordered_map<const VariableImpl*, const std::vector<uint64_t>*> known;
  for (const auto& watched : variables) known.emplace(&watched.variable.impl(), &watched.values);
  autograd_internal::SourceIds ids;
  for (const Variable& source : sources) {
    const auto found = known.find(&source.impl());
    ids.push_back(found == known.end() ? std::vector<uint64_t>{} : *found->second);
  }
  return ids;
}

DISTRIBUTE_INLINE void GradientTape::State::check_unused() const {
  if (used && !options.persistent)
    throw FailedPreconditionError(
        "a non-persistent GradientTape can only be used to compute one set of gradients (or "
        "jacobians)");
}

}  // namespace distribute
