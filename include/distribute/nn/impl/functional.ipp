#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/functional.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/ops/cast.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Functional::Functional(std::string name) : NamedModule({}, {}, std::move(name)) {
  set_name_in_path(false);  // as in Keras
}

DISTRIBUTE_INLINE Functional::Node Functional::add_value(Tensor example) {
  examples_.push_back(std::move(example));
  return {examples_.size() - 1, examples_.back().shape()};
}

DISTRIBUTE_INLINE Functional::Node Functional::input(const std::string& name, const Shape& shape,
                                                     DType dtype) {
  add_input_name(name);
  std::vector<int64_t> sizes{1};
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  const Node node = add_value(cast(zeros(Shape(sizes)), dtype));
  inputs_.push_back(node.index);
  return node;
}

DISTRIBUTE_INLINE Functional::Node Functional::apply(Module& layer, const Node& x) {
  return apply(layer, std::vector<Node>{x});
}

DISTRIBUTE_INLINE Functional::Node Functional::apply(Module& layer,
                                                     const std::vector<Node>& inputs) {
  bool own = false;
  for (size_t i = 0; i < num_children(); ++i) own = own || &child(i) == &layer;
  if (!own)
    throw InvalidArgumentError(
        str_cat("layer '", layer.name(), "' is not part of this model: add() gives one that is"));
  Step step{&layer, {}, examples_.size()};
  for (const Node& node : inputs) step.inputs.push_back(node.index);
  const Node node = add_value(compute(step, examples_, {}));
  steps_.push_back(std::move(step));
  return node;
}

DISTRIBUTE_INLINE void Functional::output(const std::string& name, const Node& y) {
  add_output_name(name);
  outputs_.push_back(y.index);
}

DISTRIBUTE_INLINE Tensor Functional::compute(const Step& step, const std::vector<Tensor>& values,
                                             const CallOptions& options) {
  if (step.inputs.size() == 1) return (*step.layer)(values.at(step.inputs[0]), options);
  auto* merging = dynamic_cast<MultiInputModule*>(step.layer);
  if (!merging)
    throw InvalidArgumentError(
        str_cat("layer '", step.layer->name(), "' takes one tensor, not ", step.inputs.size()));
  std::vector<Tensor> inputs;
  for (const size_t input : step.inputs) inputs.push_back(values.at(input));
  return (*merging)(inputs, options);
}

DISTRIBUTE_INLINE NamedTensors Functional::call_named(const NamedTensors& inputs,
                                                      CallOptions options) {
  std::vector<Tensor> values(examples_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) values[inputs_[i]] = inputs.at(input_names()[i]);
  for (const Step& step : steps_) values[step.result] = compute(step, values, options);
  NamedTensors outputs;
  for (size_t i = 0; i < outputs_.size(); ++i) outputs[output_names()[i]] = values[outputs_[i]];
  return outputs;
}

}  // namespace distribute::nn
