#pragma once
/// Models made of layers: in a row, as a graph, or with names for inputs and outputs.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn {

/// Calls its layers in order, each with the mask of the one before it; owns them. Sequential
/// model(Conv2D({...}), Flatten(), Dense({...})). Layers without a name are called "conv2d",
/// "conv2d_1", ... as in Keras; in checkpoints the first one of each kind within a sequence has no
/// number. Source  tf.keras.Sequential
class Sequential : public Module {
 public:
  template <std::derived_from<Module>... Layers>
  explicit Sequential(Layers... layers) {
    (append(std::move(layers)), ...);
    number_parts_in_order();
  }

  /// Adds a layer at the end, and gives a reference to it; the sequence owns it.
  template <std::derived_from<Module> Layer>
  Layer& append(Layer layer) {
    return Module::add(std::string(), std::move(layer));
  }
  Module& append(std::unique_ptr<Module> layer) {
    add_child({}, std::move(layer));
    return child(num_children() - 1);
  }
  size_t size() const { return num_children(); }
  Module& operator[](size_t index) const { return child(index); }
  /// The number of examples of every batch: saving::save_model writes it into the model's input,
  /// and without it none; for layers that are stateful, that of the first call.
  /// Source  tf.keras.Input(batch_size=)
  void set_batch_size(std::optional<int64_t> size) { batch_size_ = size; }
  std::optional<int64_t> batch_size() const { return batch_size_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "sequential"; }

  std::optional<int64_t> batch_size_;
};

/// Tensors by the names of inputs or outputs; data::TensorMap is the same type.
using NamedTensors = std::map<std::string, Tensor>;

/// A function of named tensors that gives named tensors: module({{"image", x}, {"text", y}}). With
/// one input and one output it is also called as other modules are.
/// Source  a tf.keras.Model whose inputs and outputs are dicts
class NamedModule : public Module {
 public:
  using Module::operator();
  /// Throws  InvalidArgumentError for an input that is missing or unknown, and when the module
  ///         does not give exactly its outputs.
  NamedTensors operator()(const NamedTensors& inputs, CallOptions options = {});

  /// In the order in which they were added.
  const std::vector<std::string>& input_names() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return outputs_; }

 protected:
  /// Throws  InvalidArgumentError for a name that is there twice.
  explicit NamedModule(std::vector<std::string> inputs = {}, std::vector<std::string> outputs = {},
                       std::string name = {});
  void add_input_name(const std::string& name);
  void add_output_name(const std::string& name);
  virtual NamedTensors call_named(const NamedTensors& inputs, CallOptions options) = 0;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  NamedTensors checked_call(const NamedTensors& inputs, const CallOptions& options);
  void check_new(const std::string& name) const;

  std::vector<std::string> inputs_, outputs_;
};

namespace nn_internal {
/// "a", "b".
std::string quoted_list(const std::vector<std::string>& names);
}  // namespace nn_internal

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
    Shape shape = {};  // of an example, with a batch of 1, or as large as the inputs say
  };

  explicit Functional(std::string name = {});

  /// A `batch_size` is the number of examples of every batch. Keras wants it for layers that are
  /// stateful, so save_model does; calls do not depend on it.
  /// Shapes  `shape` is that of one example, without the batch.
  /// Throws  InvalidArgumentError for a name that is taken, and for a batch size below 1 or unlike
  ///         that of the first input, which is every input's.
  /// Source  tf.keras.Input
  Node input(const std::string& name, const Shape& shape, DType dtype = DType::Float32,
             std::optional<int64_t> batch_size = {});
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
  /// query, value and, if given, key. A NamedModule takes its inputs in the order of input_names().
  Node apply(Module& layer, const std::vector<Node>& inputs);
  /// All results of a NamedModule, in the order of output_names(); of other layers the one.
  std::vector<Node> apply_all(Module& layer, const std::vector<Node>& inputs);
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
    size_t num_results = 1;  // those behind the first follow it
  };
  const std::vector<Step>& steps() const { return steps_; }
  /// In the order of input_names() and output_names().
  const std::vector<size_t>& input_nodes() const { return inputs_; }
  const std::vector<size_t>& output_nodes() const { return outputs_; }
  /// Shape and dtype of an example, with a batch of 1, or as large as the inputs say.
  InputSpec node_spec(size_t node) const {
    return {examples_.at(node).shape(), examples_.at(node).dtype()};
  }
  /// The batch size that input() was given.
  std::optional<int64_t> batch_size() const { return batch_size_; }

 private:
  static Tensor compute(const Step& step, const std::vector<Tensor>& inputs, bool training);
  static std::vector<Tensor> compute_all(const Step& step, const std::vector<Tensor>& inputs,
                                         bool training);
  Node add_value(Tensor example);
  DISTRIBUTE_INLINE NamedTensors call_named(const NamedTensors& inputs,
                                            CallOptions options) override;
  std::string kind() const override { return "functional"; }

  std::vector<Tensor> examples_;  // of every node
  std::vector<Step> steps_;
  std::vector<size_t> inputs_, outputs_;
  std::optional<int64_t> batch_size_;
};

}  // namespace distribute::nn
