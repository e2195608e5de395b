#pragma once
/// Layers that normalize groups of channels, or without a mean.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/nn/module.hpp>

namespace distribute::nn {

struct GroupNormalizationOptions {  // options of GroupNormalization
  int64_t groups = 32;              // -1: one for each channel
  double epsilon = 1e-3;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = initializers::zeros();
  Initializer gamma_initializer = initializers::ones();
  std::string name = {};
};

/// Each group of channels of an example to mean 0 and variance 1, times gamma plus beta.
/// Shapes  [batch, ..., channels] -> the same; gamma and beta [channels].
/// Throws  InvalidArgumentError when the groups do not divide the channels.
/// Source  tf.keras.layers.GroupNormalization; Wu & He 2018
class GroupNormalization : public Module {
 public:
  explicit GroupNormalization(EmptyBraces) : GroupNormalization() {}
  explicit GroupNormalization(GroupNormalizationOptions options = {});
  /// The options that the constructor got.
  const GroupNormalizationOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "group_normalization"; }

  GroupNormalizationOptions options_;
  Variable gamma_, beta_;
};

struct RMSNormalizationOptions {  // options of RMSNormalization
  int axis = -1;
  double epsilon = 1e-6;
  Initializer scale_initializer = initializers::ones();
  std::string name = {};
};

/// x / sqrt(mean of x^2 + epsilon) * scale, along one axis.
/// Shapes  any -> the same; scale [size of the axis].
/// Source  tf.keras.layers.RMSNormalization; Zhang & Sennrich 2019
class RMSNormalization : public Module {
 public:
  explicit RMSNormalization(EmptyBraces) : RMSNormalization() {}
  explicit RMSNormalization(RMSNormalizationOptions options = {});
  /// The options that the constructor got.
  const RMSNormalizationOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  std::string kind() const override { return "rms_normalization"; }

  RMSNormalizationOptions options_;
  Variable scale_;
};

}  // namespace distribute::nn
