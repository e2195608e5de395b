#pragma once
/// Low-rank adaptation: a layer's large weight stays as it is, and the product of two small
/// matrices, which alone are trained, is added to it.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::nn {

struct LoraOptions {                      // options of LoraLayer::enable_lora
  std::optional<double> lora_alpha = {};  // the product counts alpha / rank times; unset: the rank
  Initializer a_initializer = initializers::he_uniform();
  Initializer b_initializer = initializers::zeros();
};

struct EnableLoraOptions {  // options of enable_lora
  /// Names of the layers that get matrices.
  std::vector<std::string> target_layer_names = {"query", "value", "query_dense", "value_dense"};
  std::optional<double> lora_alpha = {};  // as in LoraOptions
};

/// Is the base of layers with one large weight w, in whose place enable_lora() puts w + alpha /
/// rank a b.
/// Shapes  w [..., n] -> lora_kernel_a [..., rank], lora_kernel_b [rank, n]; of an Embedding
///          lora_embeddings_a and lora_embeddings_b. Both are float32.
/// Source  tf.keras.layers.Dense.enable_lora and the like; Hu et al. 2021
class LoraLayer : public Module {
 public:
  /// Adds a and b, and takes w from the trainable weights; the bias is trained as before. Files of
  /// weights hold the sum in w's place. Checkpoints hold all three. Call it in the strategy's
  /// scope, where the layer was made.
  /// Throws  FailedPreconditionError before the first call and when it was called before;
  ///          InvalidArgumentError for a rank below 1, and a layer whose w has a constraint.
  void enable_lora(int64_t rank, LoraOptions options = {});

  bool lora_enabled() const { return bool(lora_a_); }  // whether enable_lora() was called
  /// Returns the rank and the alpha that it was enabled with.
  int64_t lora_rank() const { return lora_a_.shape()[-1]; }
  double lora_alpha() const { return lora_alpha_; }
  /// Returns the two matrices; before enable_lora() they refer to no variable.
  const Variable& lora_a() const { return lora_a_; }
  const Variable& lora_b() const { return lora_b_; }
  /// w itself.
  Variable lora_weight() const { return lora_target().weight; }
  /// Returns the value that stands in w's place: w + alpha / rank a b.
  /// Source  tf.keras.layers.Dense.kernel
  Tensor merged_weight() const { return with_lora(lora_weight()); }

 protected:
  struct LoraTarget {  // the large weight
    const char* name;
    Variable weight;
    bool constrained;
  };

  explicit LoraLayer(std::string name) : Module(std::move(name)) {}
  virtual LoraTarget lora_target() const = 0;
  /// Adds the matrices while the layer is built, if there is a rank.
  void build_lora(const std::optional<int64_t>& rank, const std::optional<double>& alpha);
  /// Gives the value of `weight`, with the product where there is one.
  Tensor with_lora(const Variable& weight) const;
  /// Gives alpha / rank x b for some rows x of a.
  Tensor lora_product(const Tensor& x) const;
  /// Gives the penalties of the weights that are trained.
  std::vector<Tensor> penalties(const Regularizer& on_kernel, const Variable& kernel,
                                const Regularizer& on_bias, const Variable& bias) const;

 private:
  friend std::vector<LoraLayer*> enable_lora(Module& model, int64_t rank,
                                             const EnableLoraOptions& options);
  void check_lora(int64_t rank) const;
  void add_matrices(int64_t rank, const LoraOptions& options);
  void freeze_all_but_matrices();

  Variable lora_a_, lora_b_;
  double lora_alpha_ = 0;
};

/// Enables LoRA in the layers with these names, freezes everything else, biases too, and returns
/// those layers. Call the model once before.
/// Throws  InvalidArgumentError when no layer that could have the matrices has such a name, with
///          the names that exist; as LoraLayer::enable_lora. Then nothing has changed.
/// Source  keras_hub.models.Backbone.enable_lora
std::vector<LoraLayer*> enable_lora(Module& model, int64_t rank,
                                    const EnableLoraOptions& options = {});

/// Returns the layers of the model in which LoRA is enabled.
std::vector<const LoraLayer*> lora_layers(const Module& model);

}  // namespace distribute::nn
