#pragma once
/// Normalization layers.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <concepts>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::nn {

struct RenormClipping {  // limits of the corrections r and d of batch renormalization
  std::optional<double> rmax = {}, rmin = {}, dmax = {};
};

struct BatchNormalizationOptions {  // options of BatchNormalization
  int axis = -1;                    // of the channels
  double momentum = 0.99;
  double epsilon = 1e-3;
  bool center = true;                       // add beta
  bool scale = true;                        // multiply by gamma
  bool renorm = false;                      // batch renormalization, in training
  RenormClipping renorm_clipping = {};      // unset: no limit
  double renorm_momentum = 0.99;            // of the statistics that renorm compares batches with
  bool synchronized = false;                // statistics of all replicas' batches together
  ActivationFunction activation = nullptr;  // applied to the result; ReLU is fused
  Initializer beta_initializer = initializers::zeros();
  Initializer gamma_initializer = initializers::ones();
  Initializer moving_mean_initializer = initializers::zeros();
  Initializer moving_variance_initializer = initializers::ones();
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};

/// In training normalizes each channel with mean and variance of the batch (of this replica unless
/// synchronized) and moves the moving values towards them: moving = moving * momentum + batch *
/// (1 - momentum); else, or when not trainable, normalizes with the moving values. These are
/// synchronized on read and averaged over replicas. Under a mask mean and variance are computed
/// from the steps that count, and from those of this replica alone even if synchronized, as in
/// Keras. With renorm a normalized x becomes x r + d in training. Here r is deviation /
/// renorm_stddev and d is (mean - renorm_mean) / renorm_stddev; both have no gradient and compare
/// the batch with earlier ones.
/// Shapes  [..., channels] -> the same; weights gamma, beta, moving_mean, moving_variance
///         [channels]. An empty batch leaves the moving values alone.
/// Source  tf.keras.layers.BatchNormalization; renorm: Ioffe 2017
class BatchNormalization : public LayerOf<BatchNormalizationOptions> {
 public:
  explicit BatchNormalization(EmptyBraces) : BatchNormalization() {}
  /// Throws  InvalidArgumentError for a momentum outside of [0, 1] and limits that exclude all.
  explicit BatchNormalization(BatchNormalizationOptions options = {});
  /// Computes activation(normalized x + residual) in one pass, for the end of a residual block.
  /// Shapes  residual as x.
  Tensor with_residual(const Tensor& x, const Tensor& residual, CallOptions options = {});
  const Variable& gamma() const { return gamma_; }
  const Variable& beta() const { return beta_; }
  const Variable& moving_mean() const { return moving_mean_; }
  const Variable& moving_variance() const { return moving_variance_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "batch_normalization"; }
  bool supports_masking() const override { return true; }
  Tensor normalize(const Tensor& x, const Tensor& residual, CallOptions options);
  Tensor normalize_last(const Tensor& x, const Tensor& residual, CallOptions options);
  Tensor normalize_masked(const Tensor& x, const Tensor& mask);
  Tensor corrected(const Tensor& normalized, const Tensor& mean, const Tensor& variance);
  Tensor finished(const Tensor& normalized, const Tensor& x, const Tensor& residual);
  void move_renormed(const Tensor& mean, const Tensor& deviation);
  void move(const Tensor& mean, const Tensor& variance);

  Variable gamma_, beta_, moving_mean_, moving_variance_;
  Variable moving_stddev_, renorm_mean_, renorm_stddev_;
};

namespace nn_internal {
/// last_axis() returns x with `axis` as the last one, axis_back() moves the last one to `axis`.
Tensor last_axis(const Tensor& x, int axis);
Tensor axis_back(const Tensor& x, int axis);
}  // namespace nn_internal

/// One or several axes.
struct NormalizedAxes {
  std::vector<int> list;
  NormalizedAxes(int axis) : list{axis} {}
  NormalizedAxes(std::initializer_list<int> axes) : list(axes) {}
};

struct LayerNormalizationOptions {  // options of LayerNormalization
  NormalizedAxes axis = -1;         // axes that are normalized together
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = initializers::zeros();
  Initializer gamma_initializer = initializers::ones();
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};

/// Normalizes to mean 0 and variance 1 along the axes, then multiplies by gamma and adds beta.
/// Shapes  any -> the same; gamma and beta have the sizes of the axes. The last axes are normalized
///          in one pass; others are transposed to the end first.
/// Throws  InvalidArgumentError for no axes, or one that occurs twice.
/// Source  tf.keras.layers.LayerNormalization
class LayerNormalization : public LayerOf<LayerNormalizationOptions> {
 public:
  explicit LayerNormalization(EmptyBraces) : LayerNormalization() {}
  explicit LayerNormalization(LayerNormalizationOptions options = {})
      : LayerOf(std::move(options)) {}
  const Variable& gamma() const { return gamma_; }
  const Variable& beta() const { return beta_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "layer_normalization"; }
  bool supports_masking() const override { return true; }

  std::vector<int> order_;  // permutation that puts the axes last; empty if they are
  int first_ = -1;          // first of the axes after the permutation
  Variable gamma_, beta_;
};

struct GroupNormalizationOptions {  // options of GroupNormalization
  int64_t groups = 32;              // -1: one for each channel
  int axis = -1;                    // of the channels
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = initializers::zeros();
  Initializer gamma_initializer = initializers::ones();
  Regularizer beta_regularizer = {}, gamma_regularizer = {};
  Constraint beta_constraint = {}, gamma_constraint = {};
  std::string name = {};
};

/// Normalizes each group of channels of an example to mean 0 and variance 1, then multiplies by
/// gamma and adds beta.
/// Shapes  [batch, ..., channels] -> the same; gamma and beta [channels].
/// Throws  InvalidArgumentError when the groups do not divide the channels.
/// Source  tf.keras.layers.GroupNormalization; Wu & He 2018
class GroupNormalization : public LayerOf<GroupNormalizationOptions> {
 public:
  explicit GroupNormalization(EmptyBraces) : GroupNormalization() {}
  explicit GroupNormalization(GroupNormalizationOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "group_normalization"; }
  bool supports_masking() const override { return true; }

  Variable gamma_, beta_;
};

struct UnitNormalizationOptions {  // options of UnitNormalization
  NormalizedAxes axis = -1;        // axes that are normalized together
  std::string name = {};
};

/// Divides by the norm along the axes, so that squares add up to 1; zeros stay zeros.
/// Source  tf.keras.layers.UnitNormalization
class UnitNormalization : public LayerOf<UnitNormalizationOptions> {
 public:
  explicit UnitNormalization(EmptyBraces) : UnitNormalization() {}
  explicit UnitNormalization(UnitNormalizationOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "unit_normalization"; }
  bool supports_masking() const override { return true; }
};

struct RMSNormalizationOptions {  // options of RMSNormalization
  int axis = -1;
  double epsilon = 1e-6;
  Initializer scale_initializer = initializers::ones();
  std::string name = {};
};

/// Computes x / sqrt(mean of x^2 + epsilon) * scale along one axis.
/// Shapes  any -> the same; scale [size of the axis].
/// Source  tf.keras.layers.RMSNormalization; Zhang & Sennrich 2019
class RMSNormalization : public LayerOf<RMSNormalizationOptions> {
 public:
  explicit RMSNormalization(EmptyBraces) : RMSNormalization() {}
  explicit RMSNormalization(RMSNormalizationOptions options = {}) : LayerOf(std::move(options)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "rms_normalization"; }

  Variable scale_;
};

struct LayerScaleOptions {  // options of LayerScale
  double init_values = 1e-6;
  int64_t projection_dim = 0;  // features of the input
  std::string name = {};
};

/// Multiplies x by a weight "gamma" that has one number for each feature.
/// Shapes  [..., projection_dim] -> the same.
/// Throws  InvalidArgumentError for an input with another number of features.
/// Source  keras.src.applications.convnext.LayerScale; Touvron et al. 2021
class LayerScale : public LayerOf<LayerScaleOptions> {
 public:
  explicit LayerScale(LayerScaleOptions options);

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "layer_scale"; }

  Variable gamma_;
};

struct SpectralNormalizationOptions {  // options of SpectralNormalization
  int64_t power_iterations = 1;
  std::string name = {};
};

/// Divides the kernel of a layer, or its embeddings, by the largest singular value before each call
/// in training. Iterations find the value, from the weight "vector_u" on. No gradient goes through
/// the division, and a kernel of zeros stays. The result has the dtype of the input, as in Keras,
/// so that an Embedding takes its indices as floating point numbers.
/// Shapes  as the layer's; vector_u [1, last size of the kernel].
/// Throws  InvalidArgumentError for fewer than one iteration, and for a layer without a weight
///         "kernel" or "embeddings"; UnimplementedError for a step of training that is recorded or
///         exported.
/// Source  tf.keras.layers.SpectralNormalization; Miyato et al. 2018
class SpectralNormalization : public Module {
 public:
  template <std::derived_from<Module> Layer>
  explicit SpectralNormalization(Layer layer, SpectralNormalizationOptions options = {})
      : SpectralNormalization(std::make_unique<Layer>(std::move(layer)), std::move(options)) {}
  explicit SpectralNormalization(std::unique_ptr<Module> layer,
                                 SpectralNormalizationOptions options = {});
  /// Returns the layer inside.
  Module& layer() const { return child(0); }
  int64_t power_iterations() const { return power_iterations_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "spectral_normalization"; }
  void normalize();

  int64_t power_iterations_;
  Variable kernel_, vector_u_;
};

}  // namespace distribute::nn
