#pragma once
/// Layers at the input of sequences: embedding and masking.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn {

struct EmbeddingOptions {  // options of Embedding
  int64_t input_dim = 0;   // size of the vocabulary
  int64_t output_dim = 0;  // width of a vector
  Initializer embeddings_initializer = initializers::random_uniform();
  Regularizer embeddings_regularizer = {};  // of the whole table, also in rows that are not read
  Constraint embeddings_constraint = {};
  bool mask_zero = false;                 // 0 stands for padding: such steps do not count
  std::optional<int64_t> lora_rank = {};  // enable_lora() at the first call
  std::optional<double> lora_alpha = {};  // unset: lora_rank
  std::string name = {};
};

/// Looks up rows of a table; the table's gradient holds only the rows of the batch. With mask_zero
/// the result carries the mask x != 0, whatever mask the input has.
/// Shapes  integer [i...] -> [i..., output_dim]; weight embeddings [input_dim, output_dim].
/// Throws  InvalidArgumentError for a number outside [0, input_dim).
/// Source  tf.keras.layers.Embedding
class Embedding : public LoraLayer {
 public:
  explicit Embedding(EmbeddingOptions options);
  const Variable& embeddings() const { return embeddings_; }
  /// Returns x != 0 with mask_zero, else an empty tensor.
  /// Source  tf.keras.layers.Embedding.compute_mask
  Tensor compute_mask(const Tensor& x) const;
  /// Returns the options that the constructor got.
  const EmbeddingOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE Masked masked_call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  DISTRIBUTE_INLINE LoraTarget lora_target() const override;
  std::string kind() const override { return "embedding"; }

  EmbeddingOptions options_;
  Variable embeddings_;
};

struct MaskingOptions {  // options of Masking
  double mask_value = 0;
  std::string name = {};
};

/// A step whose features are all `mask_value` becomes 0 and is masked for the layers after it.
/// Shapes  [batch, steps, features] -> the same; mask [batch, steps].
/// Source  tf.keras.layers.Masking
class Masking : public LayerOf<MaskingOptions> {
 public:
  explicit Masking(EmptyBraces) : Masking() {}
  explicit Masking(MaskingOptions options = {}) : LayerOf(std::move(options)) {}
  /// Returns a bool tensor of x's shape without its last axis: false where all features equal the
  /// mask value.
  Tensor compute_mask(const Tensor& x) const;

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE Masked masked_call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "masking"; }
};

}  // namespace distribute::nn
