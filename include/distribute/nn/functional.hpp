#pragma once
/// Models as graphs of layers: several named inputs and outputs, shared layers.

#include <distribute/base/config.hpp>
#include <distribute/nn/named_module.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn {

/// A graph of layers. Every apply() computes an example at once: so layers are built, in the order
/// of the calls, and a wrong shape is an error in the line that made it. Masks flow from layer to
/// layer. Make it in the strategy's
/// scope.
///
///   nn::Functional model;
///   const auto image = model.input("image", {28, 28, 1});
///   const auto hidden = model.apply(nn::Dense({.units = 64}), model.apply(nn::Flatten(), image));
///   model.output("digit", model.apply(nn::Dense({.units = 10}), hidden));
///   model.output("is_even", model.apply(nn::Dense({.units = 1}), hidden));
///
/// Source  tf.keras.Model(inputs, outputs), tf.keras.Input
class Functional : public NamedModule {
 public:
  /// A tensor of the graph: a cheap value.
  struct Node {
    size_t index = 0;
    Shape shape = {};  // of an example, with a batch of 1
  };

  explicit Functional(std::string name = {});

  /// Shapes  `shape` is that of one example, without the batch.
  /// Throws  InvalidArgumentError for a name that is taken.
  Node input(const std::string& name, const Shape& shape, DType dtype = DType::Float32);
  /// Takes in a layer that is applied several times: its weights are shared.
  template <std::derived_from<Module> Layer>
  Layer& add(Layer layer) {
    return Module::add(std::string(), std::move(layer));
  }
  Module& add(std::unique_ptr<Module> layer) {
    add_child({}, std::move(layer));
    return child(num_children() - 1);
  }
  /// Throws  InvalidArgumentError for a layer of another model, or one of several inputs; what the
  ///         layer throws for the shape.
  Node apply(Module& layer, const Node& x);
  /// The same for layers of several inputs, such as Add and Concatenate, and MultiHeadAttention of
  /// query, value and, if given, key.
  Node apply(Module& layer, const std::vector<Node>& inputs);
  template <std::derived_from<Module> Layer>
  requires(!std::is_lvalue_reference_v<Layer>) Node apply(Layer&& layer, const Node& x) {
    return apply(static_cast<Module&>(add(std::move(layer))), x);
  }
  template <std::derived_from<Module> Layer>
  requires(!std::is_lvalue_reference_v<Layer>) Node
      apply(Layer&& layer, const std::vector<Node>& inputs) {
    return apply(static_cast<Module&>(add(std::move(layer))), inputs);
  }
  /// Throws  InvalidArgumentError for a name that is taken.
  void output(const std::string& name, const Node& y);

  /// Also says what each layer is connected to: layer, number of its call, 0.
  /// Source  tf.keras.Model.summary
  std::string summary() const;

  /// One call of a layer; numbers are those of nodes.
  struct Step {
    Module* layer;
    std::vector<size_t> inputs;
    size_t result;
  };
  const std::vector<Step>& steps() const { return steps_; }
  /// In the order of input_names() and output_names().
  const std::vector<size_t>& input_nodes() const { return inputs_; }
  const std::vector<size_t>& output_nodes() const { return outputs_; }
  /// Of an example, with a batch of 1.
  InputSpec node_spec(size_t node) const {
    return {examples_.at(node).shape(), examples_.at(node).dtype()};
  }

 private:
  static Masked compute(const Step& step, const std::vector<Masked>& inputs, bool training);
  Node add_value(Tensor example);
  DISTRIBUTE_INLINE NamedTensors call_named(const NamedTensors& inputs,
                                            CallOptions options) override;
  std::string kind() const override { return "functional"; }

  std::vector<Tensor> examples_;  // of every node
  std::vector<Step> steps_;
  std::vector<size_t> inputs_, outputs_;
};

}  // namespace distribute::nn
