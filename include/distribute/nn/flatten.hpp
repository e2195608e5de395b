#pragma once
/// The layer that turns images into vectors.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

namespace distribute::nn {

/// Shapes  [batch, ...] -> [batch, rest], index (y * width + x) * channels + c.
/// Source  tf.keras.layers.Flatten
class Flatten : public Module {
 public:
  explicit Flatten(std::string name = {}) : Module(std::move(name)) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "flatten"; }
  bool supports_masking() const override { return false; }
};

}  // namespace distribute::nn
