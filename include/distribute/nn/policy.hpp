#pragma once
/// Precision policies: the dtypes in which layers compute and keep their weights.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>

#include <string>

namespace distribute::nn {

/// "float32", or "mixed_bfloat16" and "mixed_float16": computation and results in 16 bits, weights
/// and their gradients in float32. Immutable.
/// Source  tf.keras.mixed_precision.Policy
class Policy {
 public:
  /// Throws  InvalidArgumentError for a name other than these three.
  explicit Policy(const std::string& name = "float32");
  std::string name() const;
  DType compute_dtype() const { return compute_dtype_; }
  DType variable_dtype() const { return DType::Float32; }
  bool operator==(const Policy&) const = default;

 private:
  DType compute_dtype_;
};

/// Sets the policy of layers made afterwards. Call it before the model is made.
/// Source  tf.keras.mixed_precision.set_global_policy
void set_global_policy(const Policy& policy);
void set_global_policy(const std::string& name);
/// Returns the global policy, "float32" until it is set. Source
/// tf.keras.mixed_precision.global_policy
Policy global_policy();

}  // namespace distribute::nn
