#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/detail/summary_table.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>

#include <algorithm>
#include <map>

namespace distribute::nn {

DISTRIBUTE_INLINE Functional::Functional(std::string name) : NamedModule({}, {}, std::move(name)) {
  set_name_in_path(false);  // as in Keras
}

DISTRIBUTE_INLINE Functional::Node Functional::add_value(Tensor example, bool has_batch_size) {
  examples_.push_back(std::move(example));
  has_batch_size_.push_back(has_batch_size);
  return {examples_.size() - 1, examples_.back().shape()};
}

DISTRIBUTE_INLINE Functional::Node Functional::input(const std::string& name, const Shape& shape,
                                                     DType dtype,
                                                     std::optional<int64_t> batch_size) {
  if (batch_size && *batch_size < 1)
    throw InvalidArgumentError(
        str_cat("input '", name, "': a batch size must be at least 1, got ", *batch_size));
  if (batch_size && batch_size_ && batch_size_ != batch_size)
    throw InvalidArgumentError(str_cat("input '", name, "': a batch size of ", *batch_size,
                                       ", and another input has ", *batch_size_));
  add_input_name(name);
  if (batch_size) batch_size_ = batch_size;
  std::vector<int64_t> sizes{batch_size_.value_or(1)};
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  const Node node = add_value(cast(zeros(Shape(sizes)), dtype), batch_size.has_value());
  inputs_.push_back(node.index);
  return node;
}

DISTRIBUTE_INLINE Functional::Node Functional::apply(Module& layer, const Node& x) {
  return apply(layer, std::vector<Node>{x});
}

DISTRIBUTE_INLINE Functional::Node Functional::apply(Module& layer,
                                                     const std::vector<Node>& inputs) {
  const std::vector<Node> results = apply_all(layer, inputs);
  if (results.size() != 1)
    throw InvalidArgumentError(str_cat("layer '", layer.name(), "' has ", results.size(),
                                       " results: apply_all() gives them"));
  return results[0];
}

DISTRIBUTE_INLINE std::vector<Functional::Node> Functional::apply_all(
    Module& layer, const std::vector<Node>& inputs) {
  bool own = false;
  for (size_t i = 0; i < num_children(); ++i) own = own || &child(i) == &layer;
  if (!own)
    throw InvalidArgumentError(
        str_cat("layer '", layer.name(), "' is not part of this model: add() gives one that is"));
  Step step{&layer, {}, examples_.size()};
  for (const Node& node : inputs) step.inputs.push_back(node.index);
  const auto fixed = [&](size_t node) { return has_batch_size_[node]; };
  // As in Keras, a result has the batch of the first input; sums and their like that of any.
  const bool has_batch_size = dynamic_cast<Merge*>(&layer)
                                  ? std::any_of(step.inputs.begin(), step.inputs.end(), fixed)
                                  : !step.inputs.empty() && fixed(step.inputs[0]);
  std::vector<Node> results;
  for (Tensor& result : compute_all(step, examples_of(inputs), false))
    results.push_back(add_value(std::move(result), has_batch_size));
  layer.reset_states();  // what it has seen was an example
  step.num_results = results.size();
  steps_.push_back(std::move(step));
  return results;
}

/// Examples of equal batches: those that were made before the batch size was known are repeated.
DISTRIBUTE_INLINE std::vector<Tensor> Functional::examples_of(
    const std::vector<Node>& inputs) const {
  std::vector<Tensor> examples;
  for (const Node& node : inputs) {
    const Tensor& example = examples_.at(node.index);
    const bool is_older = batch_size_ && example.shape().rank() > 0 && example.shape()[0] == 1;
    std::vector<int64_t> times(size_t(example.shape().rank()), 1);
    if (is_older) times[0] = *batch_size_;
    examples.push_back(is_older ? tile(example, times) : example);
  }
  return examples;
}

DISTRIBUTE_INLINE void Functional::output(const std::string& name, const Node& y) {
  add_output_name(name);
  outputs_.push_back(y.index);
}

DISTRIBUTE_INLINE std::string Functional::summary() const {
  using nn_internal::class_of, nn_internal::summary_line;
  std::string lines;
  std::vector<std::string> sources(examples_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    sources[inputs_[i]] = input_names()[i] + "[0][0]";
    lines += summary_line(input_names()[i], "InputLayer", node_spec(inputs_[i]).shape,
                          batch_size(inputs_[i]), 0) +
             "\t-\n";
  }
  std::vector<std::pair<const Module*, std::string>> connections;  // of each layer
  std::map<const Module*, int64_t> calls;
  std::map<const Module*, std::optional<int64_t>> batches;
  for (const Step& step : steps_) {
    if (calls[step.layer] == 0) connections.push_back({step.layer, {}});
    for (size_t i = 0; i < step.num_results; ++i)
      sources[step.result + i] = str_cat(step.layer->name(), "[", calls[step.layer], "][", i, "]");
    ++calls[step.layer];
    batches[step.layer] = batch_size(step.result);
    const auto own = std::find_if(connections.begin(), connections.end(),
                                  [&](const auto& one) { return one.first == step.layer; });
    for (const size_t input : step.inputs)
      own->second += (own->second.empty() ? "" : ", ") + sources[input];
  }
  for (const auto& [layer, from] : connections)
    lines += summary_line(layer->name(), class_of(*layer), layer->output_shape(), batches[layer],
                          layer->count_params()) +
             "\t" + from + "\n";
  return nn_internal::summary_table(*this, lines, 4);
}

DISTRIBUTE_INLINE Tensor Functional::compute(const Step& step, const std::vector<Tensor>& inputs,
                                             bool training) {
  if (inputs.size() == 1) return (*step.layer)(inputs[0], {.training = training});
  if (auto* attention = dynamic_cast<MultiHeadAttention*>(step.layer)) {
    if (inputs.size() > 3)
      throw InvalidArgumentError("attention takes query, value and key, not " +
                                 std::to_string(inputs.size()) + " tensors");
    MultiHeadAttentionCall call{.training = training};
    if (inputs.size() == 3) call.key = inputs[2];
    return (*attention)(inputs[0], inputs[1], call);
  }
  auto* merging = dynamic_cast<MultiInputModule*>(step.layer);
  if (!merging)
    throw InvalidArgumentError(
        str_cat("layer '", step.layer->name(), "' takes one tensor, not ", inputs.size()));
  return (*merging)(inputs, {.training = training});
}

/// A module of several named inputs or outputs inside of this one.
DISTRIBUTE_INLINE std::vector<Tensor> Functional::compute_all(const Step& step,
                                                              const std::vector<Tensor>& inputs,
                                                              bool training) {
  auto* named = dynamic_cast<NamedModule*>(step.layer);
  if (!named || (named->input_names().size() == 1 && named->output_names().size() == 1))
    return {compute(step, inputs, training)};
  if (inputs.size() != named->input_names().size())
    throw InvalidArgumentError(str_cat("layer '", named->name(), "' takes ",
                                       nn_internal::quoted_list(named->input_names()), ", not ",
                                       inputs.size(), " tensors"));
  NamedTensors taken;
  for (size_t i = 0; i < inputs.size(); ++i) taken[named->input_names()[i]] = inputs[i];
  const NamedTensors given = (*named)(taken, {.training = training});
  std::vector<Tensor> results;
  for (const std::string& name : named->output_names()) results.push_back(given.at(name));
  return results;
}

namespace nn_internal {

/// Which values of a model have lost their mask to an attention layer. In Keras a layer inside of a
/// functional model gets the masks that its inputs had when the model was made, where attention
/// takes none; the results of a call have the masks that are left at its end.
class LostMasks {
 public:
  explicit LostMasks(size_t values) : lost_(values) {}

  bool operator[](size_t value) const { return lost_[value]; }
  /// Updates the masks after a layer has been called with these inputs.
  void follow(const Module& layer, const std::vector<size_t>& inputs, size_t result,
              const std::vector<Tensor>& values) {
    const auto lost = [&](size_t i) { return bool(lost_[i]); };
    const auto none = [&](size_t i) { return lost_[i] || !get_keras_mask(values[i]); };
    if (dynamic_cast<const MultiHeadAttention*>(&layer)) {
      lost_[result] = lost_[inputs[0]];
      for (const size_t input : inputs) lost_[input] = true;
    } else if (dynamic_cast<const Concatenate*>(&layer)) {
      lost_[result] = std::all_of(inputs.begin(), inputs.end(), none);
    } else if (!dynamic_cast<const Masking*>(&layer)) {
      lost_[result] = std::any_of(inputs.begin(), inputs.end(), lost);
    }
  }

 private:
  std::vector<bool> lost_;
};

}  // namespace nn_internal

DISTRIBUTE_INLINE NamedTensors Functional::call_named(const NamedTensors& inputs,
                                                      CallOptions options) {
  std::vector<Tensor> values(examples_.size());
  nn_internal::LostMasks lost(examples_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor& input = inputs.at(input_names()[i]);
    values[inputs_[i]] =
        inputs_.size() == 1 ? nn_internal::with_mask(input, options.mask, input) : input;
  }
  for (const Step& step : steps_) {
    std::vector<Tensor> taken, masks;
    for (const size_t input : step.inputs) {
      taken.push_back(values.at(input));
      masks.push_back(get_keras_mask(taken.back()));
    }
    std::vector<Tensor> results = compute_all(step, taken, options.training);
    for (size_t i = 0; i < taken.size(); ++i)
      values[step.inputs[i]] = nn_internal::with_mask(taken[i], masks[i]);
    for (size_t i = 0; i < results.size(); ++i) values[step.result + i] = std::move(results[i]);
    lost.follow(*step.layer, step.inputs, step.result, values);
  }
  NamedTensors outputs;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Tensor& value = values[outputs_[i]];
    outputs[output_names()[i]] = lost[outputs_[i]] ? nn_internal::with_mask(value, {}) : value;
  }
  return outputs;
}

}  // namespace distribute::nn
