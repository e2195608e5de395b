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

/// Calls its layers in order, each with the mask of the one before it; owns them. Example:
/// Sequential model(Conv2D({...}), Flatten(), Dense({...})). Layers without a name are called
/// "conv2d", "conv2d_1", ... as in Keras; in checkpoints the first one of each kind within a
/// sequence has no number.
/// Source  tf.keras.Sequential
class Sequential : public Module {
 public:
  template <std::derived_from<Module>... Layers>
  explicit Sequential(Layers... layers) {
    (add(std::move(layers)), ...);
    number_parts_in_order();
  }

  /// Adds a layer at the end and returns a reference to it; the sequence owns it.
  template <std::derived_from<Module> Layer>
  Layer& add(Layer layer) {
    return Module::add(std::string(), std::move(layer));
  }
  Module& add(std::unique_ptr<Module> layer) {
    add_child({}, std::move(layer));
    return child(num_children() - 1);
  }
  size_t size() const { return num_children(); }
  Module& operator[](size_t index) const { return child(index); }
  /// Sets the number of examples of every batch, which saving::save_model writes into the model's
  /// input. Without it the input has no fixed batch, except for stateful layers, where it is the
  /// first call's.
  /// Source  tf.keras.Input(batch_size=)
  void set_batch_size(std::optional<int64_t> size) { batch_size_ = size; }
  std::optional<int64_t> batch_size() const { return batch_size_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "sequential"; }
  std::optional<int64_t> parts_batch_size(std::optional<int64_t>) const override {
    return batch_size_;
  }

  std::optional<int64_t> batch_size_;
};

/// Tensors by the names of inputs or outputs; data::TensorMap is the same type.
using NamedTensors = std::map<std::string, Tensor>;

/// Maps named tensors to named tensors: module({{"image", x}, {"text", y}}). With one input and one
/// output it can also be called with a tensor, as other modules.
/// Source  a tf.keras.Model whose inputs and outputs are dicts
class NamedModule : public Module {
 public:
  using Module::operator();
  /// Throws  InvalidArgumentError for an input that is missing or unknown, and when the module
  ///         does not give exactly its outputs.
  NamedTensors operator()(const NamedTensors& inputs, CallOptions options = {});

  /// Returns the names in the order in which they were added.
  const std::vector<std::string>& input_names() const { return inputs_; }
  const std::vector<std::string>& output_names() const { return outputs_; }

 protected:
  /// Throws  InvalidArgumentError for a name that occurs twice.
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
/// Formats names as "a", "b".
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
  /// Stands for a tensor of the graph; it is cheap to copy.
  struct Node {
    size_t index = 0;
    Shape shape = {};  // of an example with a batch of 1, or the batch size that the inputs set
  };

  explicit Functional(std::string name = {});

  /// Adds an input. `batch_size` is the number of examples of every batch; Keras requires it for
  /// stateful layers, so save_model does too, but calls do not depend on it. Other inputs may have
  /// none.
  /// Shapes  `shape` is the shape of one example, without the batch.
  /// Throws  InvalidArgumentError for a name that is taken, for a batch size below 1, and for one
  ///          that differs from another input's.
  /// Source  tf.keras.Input
  Node input(const std::string& name, const Shape& shape, DType dtype = DType::Float32,
             std::optional<int64_t> batch_size = {});
  /// Adds a layer that can be applied several times with the same weights.
  template <std::derived_from<Module> Layer>
  Layer& add(Layer layer) {
    return Module::add(std::string(), std::move(layer));
  }
  Module& add(std::unique_ptr<Module> layer) {
    add_child({}, std::move(layer));
    return child(num_children() - 1);
  }
  /// Applies a layer.
  /// Throws  InvalidArgumentError for a layer of another model, or one of several inputs, and what
  ///          the layer throws for the shape.
  Node apply(Module& layer, const Node& x);
  /// Applies a layer of several inputs, such as Add and Concatenate, or MultiHeadAttention with
  /// query, value and, if given, key. A NamedModule takes its inputs in the order of input_names().
  Node apply(Module& layer, const std::vector<Node>& inputs);
  /// Returns all results of a NamedModule, in the order of output_names(), or the one result of
  /// another layer.
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
  /// Names an output.
  /// Throws  InvalidArgumentError for a name that is taken.
  void output(const std::string& name, const Node& y);

  /// Returns the table with a column that says what each layer is connected to: layer, number of
  /// its call, 0.
  /// Source  tf.keras.Model.summary
  std::string summary() const;

  /// One call of a layer; its numbers are those of nodes.
  struct Step {
    Module* layer;
    std::vector<size_t> inputs;
    size_t result;
    size_t num_results = 1;  // results behind the first have the numbers that follow
  };
  const std::vector<Step>& steps() const { return steps_; }
  /// Nodes in the order of input_names() and output_names().
  const std::vector<size_t>& input_nodes() const { return inputs_; }
  const std::vector<size_t>& output_nodes() const { return outputs_; }
  /// Returns shape and dtype of an example, with a batch of 1 or the batch size that the inputs
  /// set.
  InputSpec node_spec(size_t node) const {
    return {examples_.at(node).shape(), examples_.at(node).dtype()};
  }
  /// Returns the batch size that an input was given.
  std::optional<int64_t> batch_size() const { return batch_size_; }
  /// Returns the batch size of a node; nullopt if the inputs that it is made of leave it open.
  std::optional<int64_t> batch_size(size_t node) const {
    return has_batch_size_.at(node) ? batch_size_ : std::nullopt;
  }

 private:
  static Tensor compute(const Step& step, const std::vector<Tensor>& inputs, bool training);
  static std::vector<Tensor> compute_all(const Step& step, const std::vector<Tensor>& inputs,
                                         bool training);
  Node add_value(Tensor example, bool has_batch_size);
  std::vector<Tensor> examples_of(const std::vector<Node>& inputs) const;
  DISTRIBUTE_INLINE NamedTensors call_named(const NamedTensors& inputs,
                                            CallOptions options) override;
  std::string kind() const override { return "functional"; }
  std::optional<int64_t> parts_batch_size(std::optional<int64_t>) const override {
    return batch_size_;
  }

  std::vector<Tensor> examples_;  // of every node
  std::vector<bool> has_batch_size_;
  std::vector<Step> steps_;
  std::vector<size_t> inputs_, outputs_;
  std::optional<int64_t> batch_size_;
};

}  // namespace distribute::nn
