#pragma once
/// Base of layers and models: named weights, named parts, building on the first call.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/initializers.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn::nn_internal {
class ModuleNames;
}

namespace distribute::nn {

struct Regularizer;

/// Shape, with the batch axis, and dtype of a module's input.
struct InputSpec {
  Shape shape;
  DType dtype = DType::Float32;
};

struct CallOptions {      // options of call()
  bool training = false;  // dropout drops, batch normalization uses the batch
  Tensor mask = {};       // bool [batch, steps]: the steps of the input that count; none: all
};

/// A result and its mask, bool [batch, steps]; no mask: all steps count.
struct Masked {
  Tensor value, mask;
};

/// Returns the mask that a module attached to its result. The next module uses it unless its call
/// is given one, and losses and metrics leave out the steps that it excludes. It belongs to this
/// tensor: results of other operations on the tensor have none.
/// Source  keras.src.backend.get_keras_mask; tensor._keras_mask
Tensor get_keras_mask(const Tensor& x);

namespace nn_internal {
/// Attaches a mask to `y`, which a module computed from `x`. A mask whose sizes are not the first
/// sizes of y, as after a layer that changes the number of steps, is not attached. If `y` is `x` or
/// has another mask already, the result is a new handle to the same elements.
Tensor with_mask(const Tensor& y, const Tensor& mask, const Tensor& x = {});
}  // namespace nn_internal

/// A function of one tensor with weights. It is made on one thread; replica threads may call it
/// together.
/// Invariants:
/// 1. Weights are created at the first call, once for all replicas, under the current strategy.
/// 2. A module owns its parts; modules move together with them and are never copied.
/// 3. A module that is part of another one has a name that is unique there.
///
/// Your own module owns its layers and refers to them:
///
///   class Block : public nn::Module {
///    public:
///     explicit Block(int64_t filters) : filters_(filters) {}
///
///    private:
///     Tensor call(const Tensor& x, nn::CallOptions options) override {
///       return nn::relu(norm_(conv_(x, options), options) + x);
///     }
///     int64_t filters_;
///     nn::Conv2D& conv_ = add("conv", nn::Conv2D({.filters = filters_, .kernel_size = 3}));
///     nn::BatchNormalization& norm_ = add("norm", nn::BatchNormalization());
///   };
///
/// Weights are named by their path: "sequential/block/conv/kernel". A module without a given name
/// is called after its kind, with a number that counts such modules of the thread as Keras does:
/// "dense", "dense_1", in the order in which they were made. clear_session() starts again.
/// Checkpoints do not depend on these names, but on those of the parts within their module.
/// Source  tf.keras.layers.Layer, tf.Module
class Module : public Trackable {
 public:
  DISTRIBUTE_INLINE ~Module() override;
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;

  /// Builds the module if this is the first call, then computes. A floating x is first cast to the
  /// policy's compute dtype, as Keras does. Without options.mask the mask is get_keras_mask(x), and
  /// the result has the mask that the module gives it.
  Tensor operator()(const Tensor& x, CallOptions options = {});
  /// Returns the same result with its mask beside it.
  /// Source  tf.keras.layers.Layer.compute_mask
  Masked call_with_mask(const Tensor& x, CallOptions options = {});

  /// Creates the module's own weights for inputs of this shape unless they exist. Inside a replica
  /// every replica of the strategy must call it.
  void ensure_built(const Shape& input);
  bool built() const override;

  /// Returns the given name, or kind and number ("conv2d_1").
  std::string name() const;
  /// Sets the name. Call it before the first call, as weights keep the names that they were made
  /// with.
  /// Throws  FailedPreconditionError when the module is part of another one; InvalidArgumentError
  ///          for a name with '/'.
  void set_name(std::string name);
  /// Returns the beginning of the names of its weights: "sequential/dense".
  /// Source  tf.keras.layers.Layer.path
  std::string path() const;
  /// With false, the name of the module is not part of paths as long as it is the outermost module,
  /// as with Keras's functional models. Names then do not depend on how many models exist.
  void set_name_in_path(bool shown) { name_in_path_ = shown; }
  /// Keras' lower-case class name, such as "conv2d".
  std::string class_name() const { return kind(); }
  /// Returns whether paths through this module contain its name; false for lists.
  virtual bool adds_name() const { return true; }
  /// Returns the result's shape in the first call, with the batch axis; nullopt before it.
  std::optional<Shape> output_shape() const;
  /// Returns the input of the first call; nullopt before it. Source
  /// tf.keras.layers.Layer.input_spec
  std::optional<InputSpec> input_spec() const;
  /// Returns whether the module is trained; layers without weights of their own have this setting
  /// as well.
  bool trainable() const { return trainable_; }
  /// Freezes or unfreezes the module and its parts. A part that is unfrozen afterwards is trained,
  /// also where the module around it is frozen; Keras trains none of a frozen model's layers.
  void set_trainable(bool trainable);

  /// Returns the policy that was set, else the global policy at the time the module was made.
  const Policy& dtype_policy() const { return policy_; }
  /// Sets the policy of the module and its parts. Call it before the first call.
  /// Source  the argument `dtype` of Keras' layers
  void set_dtype_policy(const Policy& policy);
  void set_dtype_policy(const std::string& name) { set_dtype_policy(Policy(name)); }

  /// Returns the weights that exist, own ones first, of these the trainable ones, then those of the
  /// parts in order. A weight that is cut into shards is listed as its shards.
  /// Source  tf.keras.layers.Layer.weights
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  int64_t count_params() const;
  /// Returns whether this weight of the module itself is among the trainable ones.
  bool trains(const Variable& own) const;
  /// Returns the parts, the parts of each behind it.
  /// Source  tf.Module.submodules
  std::vector<Module*> submodules();
  /// Returns the penalties on results of the last call and what add_loss() was given, then the
  /// regularization terms of weights, which it computes anew, recorded on the active tapes. Weights
  /// of modules that are not trainable have none, as in Keras.
  std::vector<Tensor> losses() const;
  /// Adds to losses() the sum of a tensor, which call() of your own module computes. The outermost
  /// call forgets those of the call before. Exported functions leave them out.
  /// Throws  InvalidArgumentError for an empty tensor.
  /// Source  tf.keras.layers.Layer.add_loss
  void add_loss(const Tensor& loss);
  /// Adds the penalty on each result of the module, divided by its batch size, to losses(). The
  /// outermost call forgets those of the call before. Layers with an option of this name set it.
  /// Source  the argument `activity_regularizer` of Keras' layers
  void set_activity_regularizer(const Regularizer& regularizer);
  const Regularizer& activity_regularizer() const;
  /// Clears the states that stateful recurrent layers in it keep between calls.
  /// Source  tf.keras.layers.RNN.reset_states; Keras 2 has it in tf.keras.Model, too
  void reset_states();
  /// Returns a table of parts, output shapes and numbers of weights.
  std::string summary() const;

  DISTRIBUTE_INLINE std::vector<NamedVariable> own_variables() const override;
  DISTRIBUTE_INLINE std::vector<Child> children() const override;

 protected:
  explicit Module(std::string name = {});

  virtual Tensor call(const Tensor& x, CallOptions options) = 0;
  /// Computes the result and its mask; modules that make masks override it. By default the mask is
  /// the one that the last module inside has attached to the result, else the mask of x if the
  /// module supports masking.
  DISTRIBUTE_INLINE virtual Masked masked_call(const Tensor& x, CallOptions options);
  /// Returns whether the results have the steps of the inputs, and therefore their mask.
  /// Source  tf.keras.layers.Layer.supports_masking
  virtual bool supports_masking() const { return false; }
  /// Builds a module of several inputs if this is its first call, then computes.
  Tensor enter(std::span<const Tensor> inputs, const std::function<Tensor()>& compute);
  /// Casts x to the policy's compute dtype; integers keep their dtype.
  Tensor autocast(const Tensor& x) const;
  /// Creates the module's own weights through add_weight; `input` has the batch axis.
  DISTRIBUTE_INLINE virtual void build(const Shape& input);
  /// Builds a module of several inputs; by default it builds for the first one.
  DISTRIBUTE_INLINE virtual void build_all(std::span<const Shape> inputs);
  /// Returns the regularization terms of the module's own weights as scalars, without those of its
  /// parts.
  DISTRIBUTE_INLINE virtual std::vector<Tensor> own_losses() const;
  /// Clears what the layer keeps between calls; layers without states need not override it.
  virtual void reset_own_states() {}
  /// Returns the batch size of its parts, where the module around it has `outer`; for summary().
  virtual std::optional<int64_t> parts_batch_size(std::optional<int64_t> outer) const {
    return outer;
  }
  /// Returns Keras' lower-case class name, with which automatic names start; by default it is made
  /// from the name of the class: "my_block" for MyBlock.
  DISTRIBUTE_INLINE virtual std::string kind() const;

  /// Creates a weight; `options.name` is replaced by the full name. Call inside build().
  Variable add_weight(const std::string& name, const Shape& shape, const Initializer& initializer,
                      VariableOptions options = {});
  /// Lists a weight of a part among the module's own, before these; variables() has it once, here.
  void share_weight(const NamedVariable& weight);
  /// Takes a weight that was made by add_weight from the trainable ones, for good.
  void freeze(const Variable& own);
  /// Takes over the layer and returns a reference to it. An empty name stands for the layer's own
  /// or an automatic one.
  /// Throws  InvalidArgumentError for a name that is taken already or has a '/'.
  template <std::derived_from<Module> Layer>
  Layer& add(const std::string& name, Layer layer) {
    auto owned = std::make_unique<Layer>(std::move(layer));
    Layer& reference = *owned;
    add_child(name, std::move(owned));
    return reference;
  }
  void add_child(std::string name, std::unique_ptr<Module> child);
  /// Adds the next element of a list, which checkpoints name by its index.
  void add_element(std::unique_ptr<Module> child);
  /// Makes automatic names of parts follow their order, in whatever order the compiler evaluated
  /// the arguments of a constructor.
  void number_parts_in_order();
  size_t num_children() const;
  Module& child(size_t index) const;

 private:
  struct State;
  class RunningCall;
  friend class nn_internal::ModuleNames;
  void ensure_built_for(std::span<const Shape> inputs);
  void build_once(std::span<const Shape> inputs);
  void note_call(const Tensor& x, const Tensor& y);
  void penalize(const Tensor& y);
  void keep_penalty(const Tensor& penalty);
  void forget_penalties();
  void collect_penalties(std::vector<Tensor>& all) const;
  void collect_weight_terms(std::vector<Tensor>& all) const;
  std::string path_to(const std::string& name) const;
  std::string unused_name(const std::string& kind) const;
  bool has_child(const std::string& name) const;
  void adopt(std::string edge, std::unique_ptr<Module> child);
  void give_name(const std::string& name);
  void check_names(const Module& part) const;
  const Module* scope_owner() const;
  bool scope_has(const std::string& name) const;
  void list_unnamed(std::vector<Module*>& all);
  bool named() const;
  void mark_named();
  uint64_t place() const;
  void set_place(uint64_t place);
  void collect(std::vector<Variable>& all, int wanted) const;
  void summarize(std::string& table, const std::string& indent,
                 std::optional<int64_t> batch_size) const;

  Policy policy_ = global_policy();
  std::string name_;  // empty until the module is named
  std::string path_;  // set when the module is built
  bool trainable_ = true, name_in_path_ = true;
  std::vector<NamedVariable> weights_;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> children_;
  Pimpl<State> state_;
};

/// A layer that keeps the options of its constructor.
template <typename Options>
class LayerOf : public Module {
 public:
  /// Returns the options that the constructor got.
  const Options& options() const { return options_; }

 protected:
  explicit LayerOf(Options options) : Module(options.name), options_(std::move(options)) {
    if constexpr (requires { options_.activity_regularizer; })
      set_activity_regularizer(options_.activity_regularizer);
  }

  Options options_;
};

/// Resets the automatic names of this thread, so that the next ones are "dense" again.
/// Source  tf.keras.backend.clear_session
void clear_session();

}  // namespace distribute::nn

namespace distribute {

namespace nn::metrics {}

// Keras's names of parts of nn: layers::Dense, losses::Poisson, metrics::AUC.
namespace layers = nn;
namespace losses = nn;
namespace metrics = nn::metrics;

}  // namespace distribute
