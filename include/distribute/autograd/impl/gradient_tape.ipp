#pragma once
#include <distribute/autograd/accumulate.hpp>
#include <distribute/autograd/detail/jacobian.hpp>
#include <distribute/autograd/gradient_placer.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/detail/thread_context.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

namespace distribute {

namespace autograd_internal {

/// One recorded operation. Ids stand for tensors so that the record keeps no result alive.
struct Node {
  const char* op;
  std::vector<uint64_t> inputs, outputs;
  BackwardFunction backward;
};

struct WatchedVariable {
  Variable variable;
  std::vector<uint64_t> values;  // ids of the values it had while the tape ran
};

/// A requested source: the ids it is known by.
using SourceIds = std::vector<std::vector<uint64_t>>;

struct Walk;

}  // namespace autograd_internal

struct GradientTape::State {
  Options options;
  bool recording = true;
  bool keeps_operations = true;
  bool used = false;
  std::deque<autograd_internal::Node> nodes;  // a persistent tape may grow while it is walked
  std::unordered_map<uint64_t, int> readers;  // followed tensors -> operations that read them
  std::vector<autograd_internal::WatchedVariable> variables;

  bool follows(uint64_t id) const { return readers.count(id) != 0; }
  void add(const char* op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
           const BackwardFunction& backward);
  void add_variable(const Variable& variable, const Tensor& value);
  autograd_internal::SourceIds ids_of(const std::vector<Variable>& sources) const;
  /// `of_sources`: what the sources are, as far as they are variables.
  std::vector<Tensor> walk(const std::vector<Tensor>& targets,
                           const autograd_internal::SourceIds& sources, const Call& call,
                           std::span<const Variable> of_sources = {});
  void step_back(size_t n, autograd_internal::Walk& walk);
  void check_unused() const;  // throws where a second walk is not possible
};

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

/// Gradients on their way back, by the id of the tensor they belong to. The last addition waits
/// for the reader, who may do it together with other work.
class Accumulator {
 public:
  void add(uint64_t id, Tensor gradient) {
    std::vector<Tensor>& parts = gradients_[id];
    if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
    parts.push_back(std::move(gradient));
  }
  /// The sum; none when there is no part.
  Tensor find(uint64_t id) {
    const auto entry = gradients_.find(id);
    if (entry == gradients_.end()) return {};
    std::vector<Tensor>& parts = entry->second;
    if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
    return parts[0];
  }
  /// That of a source.
  Tensor find(const std::vector<uint64_t>& ids) {
    Tensor total;
    for (uint64_t id : ids)
      if (Tensor part = find(id)) total = total ? combine(total, part, 1.0f) : part;
    return total;
  }
  /// The parts of a gradient that is not read again.
  std::vector<Tensor> take(uint64_t id) {
    const auto entry = gradients_.find(id);
    if (entry == gradients_.end()) return {};
    std::vector<Tensor> parts = std::move(entry->second);
    gradients_.erase(entry);
    return parts;
  }

 private:
  std::unordered_map<uint64_t, std::vector<Tensor>> gradients_;
};

/// Sources by id, and the earliest operation that reads each: then its gradient is complete.
struct SourceTable {
  std::unordered_map<uint64_t, size_t> position;
  std::vector<size_t> first_reader;
  std::vector<std::vector<size_t>> complete_after;  // by node

  SourceTable(const SourceIds& sources, const std::deque<Node>& nodes)
      : first_reader(sources.size(), nodes.size()), complete_after(nodes.size()) {
    for (size_t s = 0; s < sources.size(); ++s)
      for (uint64_t id : sources[s]) position.emplace(id, s);
    for (size_t n = nodes.size(); n-- > 0;)
      for (uint64_t id : nodes[n].inputs)
        if (const auto found = position.find(id); found != position.end())
          first_reader[found->second] = n;
    for (size_t s = 0; s < sources.size(); ++s) {
      for (uint64_t id : sources[s])  // a source may be asked for twice
        first_reader[s] = std::min(first_reader[s], first_reader[position.at(id)]);
      if (first_reader[s] < nodes.size()) complete_after[first_reader[s]].push_back(s);
    }
  }
};

/// A walk from targets back to sources.
struct Walk {
  const SourceIds& sources;
  std::span<const Variable> variables;
  SourceTable table;
  Accumulator gradients;
};

/// Dense gradients of a node's outputs, in parts; false when the target depends on none of them.
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

/// Places for the gradients that node `n` completes, of variables used only there.
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
  if (!is_new && variable.impl().parts().empty()) return;  // the value of shards was recorded
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
  if (!options.persistent) node.backward = nullptr;  // frees what it had saved
  for (size_t i = 0; i < input_gradients.size() && i < node.inputs.size(); ++i)
    if (input_gradients[i] && needed[i])
      walk.gradients.add(node.inputs[i], std::move(input_gradients[i]));
}

DISTRIBUTE_INLINE const Tensor& Backward::gradient(size_t output) const {
  static const Tensor none;
  std::vector<Tensor>& parts = parts_[output];
  if (parts.size() == 2) parts = {combine(parts[0], parts[1], 1.0f)};
  return parts.empty() ? none : parts[0];
}

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
  if (device_state().log_device_placement && !outputs.empty())
    device_internal::log_placement(op, outputs[0].device());
  if (OpTrace* trace = autograd_internal::active_trace())
    for (const Tensor& output : outputs)
      if (output) trace->add({op, {inputs.begin(), inputs.end()}, output, attributes()});
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
    trace->add({op, {inputs.begin(), inputs.end()}, output, attributes()});
  return output;
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
DISTRIBUTE_INLINE GradientTape::GradientTape(Options options) : state_(std::make_unique<State>()) {
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

namespace autograd_internal {

/// Lets a tape be walked several times for one answer; one that is not persistent is used up then.
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

}  // namespace autograd_internal

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
    trace->add({"stop_gradient", {tensor}, result});
  return result;
}

}  // namespace distribute
