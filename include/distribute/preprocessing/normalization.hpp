#pragma once
/// Scales features to mean 0 and variance 1, or by given numbers.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/nn/module.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::preprocessing {

/// Holds the options of Normalization.
/// Source  the arguments of tf.keras.layers.Normalization
struct NormalizationOptions {
  /// axes that have a mean and a variance for each place; empty: one for all
  std::vector<int64_t> axis = {-1};
  Tensor mean = {}, variance = {};  // shape of these axes, or scalars; unset: adapt() finds them
  bool invert = false;              // computes x * deviation + mean
  std::string name = {};
};

/// Computes (x - mean) / max(sqrt(variance), 1e-7). Used by one thread until it is adapted.
/// Shapes  any -> the same, in the policy's compute dtype; weights mean and variance with the sizes
///         of `axis`, count [].
/// Source  tf.keras.layers.Normalization
class Normalization : public nn::Module {
 public:
  explicit Normalization(NormalizationOptions options = {});

  /// Builds the layer for such data if necessary, and computes mean and variance: exactly for a
  /// tensor, accumulated batch by batch for a dataset, of which it reads the first component.
  /// Elements with one axis are batched first.
  /// Throws  FailedPreconditionError when mean and variance were given; InvalidArgumentError for
  ///         data of other sizes, or a dataset that is empty or never ends.
  void adapt(const data::Dataset& dataset);
  void adapt(const Tensor& data);
  /// Returns the options that the constructor got.
  const NormalizationOptions& options() const { return options_; }

 private:
  struct Moments;
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, nn::CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "normalization"; }
  bool supports_masking() const override { return true; }
  void add(const Tensor& batch, Moments& moments);
  Shape broadcast_shape(const Shape& input) const;
  std::vector<int64_t> kept_axes(int64_t rank) const;

  NormalizationOptions options_;
  Variable mean_, variance_, count_;
};

/// Holds the options of Rescaling.
struct RescalingOptions {
  Tensor scale = 1.0f;  // a scalar, or one value for each place of the last axis
  Tensor offset = 0.0f;
  std::string name = {};
};

/// Computes x * scale + offset, in the policy's compute dtype.
/// Source  tf.keras.layers.Rescaling
class Rescaling : public nn::Module {
 public:
  explicit Rescaling(RescalingOptions options);
  explicit Rescaling(float scale, float offset = 0)
      : Rescaling(RescalingOptions{.scale = scale, .offset = offset}) {}
  /// Returns the options that the constructor got.
  const RescalingOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, nn::CallOptions options) override;
  std::string kind() const override { return "rescaling"; }
  bool supports_masking() const override { return true; }

  RescalingOptions options_;
};

}  // namespace distribute::preprocessing
