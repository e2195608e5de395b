#pragma once
/// The layer that finds steps to skip.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/nn/module.hpp>

namespace distribute::nn {

struct MaskingOptions {  // options of Masking
  double mask_value = 0;
  std::string name = {};
};

/// A step whose features are all `mask_value` becomes 0 and is masked for the layers after it.
/// Shapes  [batch, steps, features] -> the same; mask [batch, steps].
/// Source  tf.keras.layers.Masking
class Masking : public Module {
 public:
  explicit Masking(EmptyBraces) : Masking() {}
  explicit Masking(MaskingOptions options = {});
  /// bool, x without its last axis: false where all features have the mask's value.
  Tensor compute_mask(const Tensor& x) const;
  /// The options that the constructor got.
  const MaskingOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE Masked masked_call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "masking"; }

  MaskingOptions options_;
};

}  // namespace distribute::nn
