#pragma once
/// Attention in which several heads of queries share keys and values, and what it keeps of earlier
/// steps.

#include <distribute/base/config.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <string>

namespace distribute::nn {

/// Says how the angles of positions change where a model sees more positions than in its first
/// training. Hugging Face's "rope_scaling" has the same names and formulas.
/// "linear"   Divides all frequencies by `factor`.
/// "dynamic"  Makes the wavelengths longer once a call has positions beyond the original ones. Keys
///            that a cache holds keep the angles that they had.
/// "llama3"   Divides low frequencies by `factor` and keeps high ones.
/// "yarn"     Divides the frequencies that turn less than beta_slow times in the original positions
///            and keeps those that turn more than beta_fast times; Peng et al. 2023.
struct RopeScaling {
  std::string rope_type = "default";
  double factor = 1;
  int64_t original_max_position_embeddings = 0;      // not of "linear"
  double low_freq_factor = 1, high_freq_factor = 4;  // of "llama3"
  double beta_fast = 32, beta_slow = 1;              // of "yarn"
  double attention_factor = 0;  // of "yarn", multiplies the vectors; 0: 0.1 log(factor) + 1
  bool truncate = true;         // of "yarn": the bounds between frequencies are whole numbers
};

struct RotaryEmbeddingOptions {  // options of RotaryEmbedding
  double max_wavelength = 10'000;
  double scaling_factor = 1;  // positions are divided by it
  RopeScaling rope_scaling = {};
  std::string name = {};
};

/// Cosines and sines of the angles of positions, float32 [batch or 1, steps, 1, depth / 2].
struct RotaryAngles {
  Tensor cosines, sines;
};

/// Turns element i of the first half of a vector and element i of its second half by the angle
/// position / scaling_factor / max_wavelength^(2 i / depth), which `rope_scaling` may change. The
/// positions are 0, 1, 2, ... along the first axis behind the batch. Angles are rounded to float32
/// where those programs round them.
/// Shapes  [batch, steps, heads, depth] or [batch, steps, depth] -> the same; the depth is even.
/// Throws  InvalidArgumentError for other shapes, and options outside of their ranges.
/// Source  keras_hub.layers.RotaryEmbedding, transformers.modeling_rope_utils; Su et al. 2021
class RotaryEmbedding : public LayerOf<RotaryEmbeddingOptions> {
 public:
  explicit RotaryEmbedding(RotaryEmbeddingOptions options = {});

  /// Returns the angles of vectors of this depth. "dynamic" takes the largest position for the end
  /// of the sequence.
  /// Shapes  positions int32 [batch or 1, steps].
  RotaryAngles angles(const Tensor& positions, int64_t depth) const;
  /// Returns them by operations, for positions that are an input of a function to export.
  /// Throws  UnimplementedError for "dynamic".
  RotaryAngles angles_by_operations(const Tensor& positions, int64_t depth) const;
  /// Turns x by these angles.
  static Tensor turn(const Tensor& x, const RotaryAngles& angles);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "rotary_embedding"; }
};

/// Holds the keys and values of the earlier steps of a layer, [batch, steps, key-value heads,
/// depth]. On CPUs its tensors are longer than the steps so far; later steps are written into the
/// rest. Thread-compatible.
class KeyValues {
 public:
  KeyValues() = default;
  /// Holds tensors whose room stays as it is: a call's steps get the places [batch, steps] in them,
  /// by operations that exported files can have.
  KeyValues(Tensor keys, Tensor values, Tensor places)
      : keys_(std::move(keys)),
        values_(std::move(values)),
        places_(std::move(places)),
        steps_(keys_.shape()[1]) {}

  /// Returns the number of steps that it has.
  int64_t steps() const { return steps_; }
  /// Adds steps, which no tape follows. Where these have no room, it makes room for `room` steps,
  /// or twice as many as there are.
  void append(const Tensor& keys, const Tensor& values, int64_t room);
  /// Returns the tensors, of which steps() count; empty before the first.
  const Tensor& keys() const { return keys_; }
  const Tensor& values() const { return values_; }

 private:
  Tensor keys_, values_;
  Tensor places_;  // of the steps of the call; empty: behind those that are there
  int64_t steps_ = 0;
};

/// Says where the steps of a call stand, and which earlier ones they may attend to.
struct AttentionStep {
  Tensor positions = {};        // int32 [batch or 1, steps]
  bool by_operations = false;   // the positions are an input of a function to export
  AttentionOptions masks = {};  // over the kept steps and those of the call; a key mask over all
  RotaryAngles angles = {};     // of the positions; empty: computed anew
  KeyValues* kept = nullptr;    // gets the steps of the call; null: there are no earlier steps
  int64_t room = 0;             // steps for which `kept` has room
};

struct GroupQueryAttentionOptions {  // options of GroupQueryAttention
  int64_t head_dim = 0;
  int64_t num_query_heads = 0;
  int64_t num_key_value_heads = 0;  // divides num_query_heads
  bool use_bias = true;
  std::optional<bool> use_output_bias = {};  // of the last product; unset: use_bias
  bool use_causal_mask = false;
  std::optional<RotaryEmbeddingOptions> rotary = {};  // turns queries and keys
  double dropout = 0;                                 // of the probabilities, in training
  std::optional<uint64_t> seed = {};                  // of the dropout; unset: the next one
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  std::string name = {};
};

/// Self-attention of num_query_heads heads of queries over num_key_value_heads heads of keys and
/// values, each shared by as many successive query heads.
/// Shapes  [batch, steps, d] -> the same; query/kernel [d, query heads, head_dim], key/kernel and
///          value/kernel [d, key-value heads, head_dim], attention_output/kernel [query heads,
///          head_dim, d].
/// Source  tf.keras.layers.GroupQueryAttention; Ainslie et al. 2023
class GroupQueryAttention : public LayerOf<GroupQueryAttentionOptions> {
 public:
  /// Throws  InvalidArgumentError for sizes below 1, heads that do not divide each other, and a
  ///         dropout outside [0, 1).
  explicit GroupQueryAttention(GroupQueryAttentionOptions options);

  /// Lets each step of x attend to the steps before it and to itself. `step` gives the positions of
  /// these steps, the masks and the earlier keys and values.
  Tensor attend(const Tensor& x, const AttentionStep& step, CallOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "grouped_query_attention"; }
  bool supports_masking() const override { return true; }
  EinsumDense& product(const std::string& name, int64_t heads);

  std::optional<RotaryEmbedding> rotary_;
  std::optional<Dropout> dropout_;
  EinsumDense *query_, *key_, *value_;
  EinsumDense* output_ = nullptr;  // made at the first call, as it has the width of the input
};

struct SwiGLUOptions {  // options of SwiGLU
  int64_t units = 0;    // between the products
  bool use_bias = false;
  std::string name = {};
};

/// down_proj(silu(gate_proj(x)) * up_proj(x)): a feed-forward network with a gate.
/// Shapes  [..., d] -> the same; gate_proj/kernel and up_proj/kernel [d, units], down_proj/kernel
///          [units, d].
/// Source  Shazeer 2020; the feed-forward part of keras_hub.models.LlamaBackbone
class SwiGLU : public Module {
 public:
  /// Throws  InvalidArgumentError for units < 1.
  explicit SwiGLU(SwiGLUOptions options);
  /// Returns the options that the constructor got.
  const SwiGLUOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "swi_glu"; }
  bool supports_masking() const override { return true; }

  SwiGLUOptions options_;
  Dense &gate_, &up_;
  Dense* down_ = nullptr;  // made at the first call, as it has the width of the input
};

}  // namespace distribute::nn
