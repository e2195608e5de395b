#pragma once
#include <distribute/autograd/detail/backward_walk.hpp>
#include <distribute/autograd/detail/gradient_placer.hpp>

#include <utility>

namespace distribute {

namespace autograd_internal {

/// Takes the dense gradients of a node's outputs, in parts; returns false when the target depends
/// on none of them.
DISTRIBUTE_INLINE bool take_output_gradients(const Node& node, Walk& walk,
                                             std::vector<std::vector<Tensor>>& out) {
  bool any = false;
  for (uint64_t id : node.outputs) {
    std::vector<Tensor>& parts = out.emplace_back();
    if (!walk.table.position.count(id))
      parts = walk.gradients.take(id);
    else if (Tensor gradient = walk.gradients.find(id))
      parts.push_back(std::move(gradient));
    any |= !parts.empty();
    for (Tensor& part : parts)
      if (!holds_elements(part.layout())) part = combine(zeros_like(part), part, 1.0f);
  }
  return any;
}

/// Offers memory for the gradients that node `n` completes, if the variables are used only there.
DISTRIBUTE_INLINE std::vector<BufferOffer> offers_for(size_t n, Walk& walk) {
  std::vector<BufferOffer> offers;
  GradientPlacer* placer = gradient_placer();
  if (!placer || walk.variables.empty()) return offers;
  for (size_t s : walk.table.complete_after[n]) {
    if (walk.sources[s].size() != 1 || walk.gradients.find(walk.sources[s][0])) continue;
    if (auto offer = placer->place(walk.variables[s])) offers.push_back(*std::move(offer));
  }
  return offers;
}

}  // namespace autograd_internal

DISTRIBUTE_INLINE std::vector<Tensor> GradientTape::State::walk(
    const std::vector<Tensor>& targets, const autograd_internal::SourceIds& sources,
    const Call& call, std::span<const Variable> of_sources) {
  check_unused();
  used = true;
  autograd_internal::Accumulator gradients;
  for (size_t i = 0; i < targets.size(); ++i) {
    const bool given = i < call.output_gradients.size() && call.output_gradients[i];
    gradients.add(targets[i].id(), given ? call.output_gradients[i] : ones_like(targets[i]));
  }
  autograd_internal::Walk walk{sources, of_sources, {sources, nodes}, std::move(gradients)};
  const auto tell = [&](size_t s) {
    if (Tensor gradient = walk.gradients.find(sources[s])) call.on_ready(s, gradient);
  };
  if (call.on_ready)  // sources that are targets and that no operation reads
    for (size_t s = 0; s < sources.size(); ++s)
      if (walk.table.first_reader[s] == nodes.size()) tell(s);
  for (size_t n = nodes.size(); n-- > 0;) {
    step_back(n, walk);
    if (call.on_ready)
      for (size_t s : walk.table.complete_after[n]) tell(s);
  }
  if (!options.persistent) nodes.clear();
  std::vector<Tensor> result;
  for (const auto& ids : sources) result.push_back(walk.gradients.find(ids));
  return result;
}

/// Turns the gradients of a node's outputs into those of its inputs.
DISTRIBUTE_INLINE void GradientTape::State::step_back(size_t n, autograd_internal::Walk& walk) {
  autograd_internal::Node& node = nodes[n];
  std::vector<std::vector<Tensor>> output_gradients;
  std::vector<Tensor> input_gradients;
  std::vector<bool> needed, is_private;
  if (autograd_internal::take_output_gradients(node, walk, output_gradients)) {
    for (uint64_t id : node.inputs) {
      const auto entry = readers.find(id);
      needed.push_back(entry != readers.end());
      is_private.push_back(needed.back() && entry->second == 1 && !walk.table.position.count(id));
    }
    const Backward backward(output_gradients, needed, std::move(is_private));
    const BufferOffers offers(autograd_internal::offers_for(n, walk));
    input_gradients = node.backward(backward);
  }
  if (!options.persistent) node.backward = nullptr;  // frees the tensors that it kept
  for (size_t i = 0; i < input_gradients.size() && i < node.inputs.size(); ++i)
    if (input_gradients[i] && needed[i])
      walk.gradients.add(node.inputs[i], std::move(input_gradients[i]));
}

DISTRIBUTE_INLINE std::span<const Tensor> Backward::gradient_parts(size_t output) const {
  return parts_[output];
}

DISTRIBUTE_INLINE const Tensor& Backward::gradient(size_t output) const {
  static const Tensor none;
  std::vector<Tensor>& parts = parts_[output];
  if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
  return parts.empty() ? none : parts[0];
}

}  // namespace distribute
