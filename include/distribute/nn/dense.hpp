#pragma once
/// Fully connected layers.

#include <distribute/base/config.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn {

struct DenseOptions {  // options of Dense
  int64_t units = 0;
  ActivationFunction activation = nullptr;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::optional<int64_t> lora_rank = {};  // enable_lora() at the first call
  std::optional<double> lora_alpha = {};  // unset: lora_rank
  std::string name = {};
};

/// activation(x kernel + bias); ReLU is fused.
/// Shapes  [batch, ..., inputs] -> [batch, ..., units]; kernel [inputs, units], bias [units].
/// Throws  InvalidArgumentError for an input of fewer than two axes, as Keras.
/// Source  tf.keras.layers.Dense
class Dense : public LoraLayer {
 public:
  /// Throws  InvalidArgumentError for units < 1.
  explicit Dense(DenseOptions options);
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }
  /// Returns the options that the constructor got.
  const DenseOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  DISTRIBUTE_INLINE LoraTarget lora_target() const override;
  std::string kind() const override { return "dense"; }
  bool supports_masking() const override { return true; }

  DenseOptions options_;
  Variable kernel_, bias_;
};

struct EinsumDenseOptions {  // options of EinsumDense
  std::string equation;      // such as "abc,cde->abde" or "...x,xy->...y"
  // without the batch; -1: the size of the input's axis of that letter
  std::vector<int64_t> output_shape;
  std::string bias_axes = {};  // letters of the output; empty: no bias
  ActivationFunction activation = nullptr;
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Constraint kernel_constraint = {}, bias_constraint = {};
  std::optional<int64_t> lora_rank = {};  // enable_lora() at the first call
  std::optional<double> lora_alpha = {};  // unset: lora_rank
  std::string name = {};
};

/// Computes activation(einsum(x, kernel) + bias). The equation must be a matrix product: letters of
/// input and kernel are summed, and come first in the kernel; the output has all others, in any
/// order.
/// Throws  InvalidArgumentError for an equation that does not fit the input; UnimplementedError for
///          equations that describe another product.
/// Source  tf.keras.layers.EinsumDense
class EinsumDense : public LoraLayer {
 public:
  explicit EinsumDense(EinsumDenseOptions options);
  const Variable& kernel() const { return kernel_; }
  const Variable& bias() const { return bias_; }
  /// Returns the options that the constructor got.
  const EinsumDenseOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  DISTRIBUTE_INLINE LoraTarget lora_target() const override;
  std::string kind() const override { return "einsum_dense"; }
  void build_bias(const Shape& input);
  void read_equation();

  EinsumDenseOptions options_;
  std::string input_, output_;  // letters
  // letters of input and output, of input and kernel, of kernel and output
  std::string kept_, shared_, made_;
  bool ellipsis_;
  std::vector<int64_t> made_sizes_;
  Variable kernel_, bias_;
};

}  // namespace distribute::nn
