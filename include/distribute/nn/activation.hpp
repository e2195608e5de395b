#pragma once
/// Activations by name, and layers that apply one.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/activation.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::nn {

/// Returns the activation of a name that is known at run time only.
/// Throws  InvalidArgumentError with the names that there are.
/// Source  tf.keras.activations.get
namespace activations {
ActivationFunction get(std::string_view name);
}

/// Applies a function; null leaves the input as it is.
/// Source  tf.keras.layers.Activation
class Activation : public Module {
 public:
  explicit Activation(ActivationFunction function, std::string name = {});
  /// Returns the function that the constructor got; null leaves the input as it is.
  ActivationFunction function() const { return function_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "activation"; }
  bool supports_masking() const override { return true; }

  ActivationFunction function_;
};

/// Gives its input.
/// Source  tf.keras.layers.Identity
class Identity : public Module {
 public:
  explicit Identity(std::string name = {}) : Module(std::move(name)) {}

 private:
  Tensor call(const Tensor& x, CallOptions) override { return x; }
  std::string kind() const override { return "identity"; }
  bool supports_masking() const override { return true; }
};

struct ActivityRegularizationOptions {  // options of ActivityRegularization
  double l1 = 0;
  double l2 = 0;
  std::string name = {};
};

/// Gives its input x, and adds (l1 sum |x| + l2 sum x^2) / batch size to losses().
/// Source  tf.keras.layers.ActivityRegularization
class ActivityRegularization : public Module {
 public:
  explicit ActivityRegularization(ActivityRegularizationOptions options)
      : Module(std::move(options.name)) {
    set_activity_regularizer(regularizers::L1L2(options.l1, options.l2));
  }

 private:
  Tensor call(const Tensor& x, CallOptions) override { return x; }
  std::string kind() const override { return "activity_regularization"; }
  bool supports_masking() const override { return true; }
};

namespace nn_internal {

/// Returns Relu if the operation before can apply the activation itself, else no epilogue.
Epilogue epilogue_of(ActivationFunction activation);
/// Applies the part of the activation that an operation with epilogue_of(activation) leaves out.
Tensor activate(ActivationFunction activation, const Tensor& x);

}  // namespace nn_internal

struct ReLUOptions {  // options of ReLU
  std::optional<double> max_value = {};
  double negative_slope = 0;
  double threshold = 0;
  std::string name = {};
};

/// Gives x from the threshold up to max_value, and negative_slope (x - threshold) below.
/// Throws  InvalidArgumentError for a negative option.
/// Source  tf.keras.layers.ReLU
class ReLU : public LayerOf<ReLUOptions> {
 public:
  explicit ReLU(EmptyBraces) : ReLU() {}
  explicit ReLU(ReLUOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "re_lu"; }
  bool supports_masking() const override { return true; }
};

struct LeakyReLUOptions {  // options of LeakyReLU
  double negative_slope = 0.3;
  std::string name = {};
};

/// x, or negative_slope x where x is negative.
/// Source  tf.keras.layers.LeakyReLU
class LeakyReLU : public Module {
 public:
  explicit LeakyReLU(EmptyBraces) : LeakyReLU() {}
  explicit LeakyReLU(LeakyReLUOptions options = {});
  /// Returns the slope below 0.
  float negative_slope() const { return negative_slope_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "leaky_re_lu"; }
  bool supports_masking() const override { return true; }

  float negative_slope_;
};

struct ELUOptions {  // options of ELU
  double alpha = 1;
  std::string name = {};
};

/// x, or alpha (exp(x) - 1) where x is negative.
/// Source  tf.keras.layers.ELU; Clevert et al. 2016
class ELU : public Module {
 public:
  explicit ELU(EmptyBraces) : ELU() {}
  explicit ELU(ELUOptions options = {});
  /// Returns the factor below 0.
  double alpha() const { return alpha_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "elu"; }
  bool supports_masking() const override { return true; }

  double alpha_;
};

struct PReLUOptions {  // options of PReLU
  Initializer alpha_initializer = initializers::zeros();
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  // axes that share one alpha; axis 0 is the batch, so 1 is the first that is allowed
  std::vector<int> shared_axes = {};
  std::string name = {};
};

/// max(0, x) + alpha min(0, x) with a weight alpha.
/// Shapes  [batch, ...] -> the same; alpha [...], with 1 for shared axes.
/// Throws  InvalidArgumentError for a shared axis below 1.
/// Source  tf.keras.layers.PReLU; He et al. 2015
class PReLU : public LayerOf<PReLUOptions> {
 public:
  explicit PReLU(EmptyBraces) : PReLU() {}
  explicit PReLU(PReLUOptions options = {});
  const Variable& alpha() const { return alpha_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build(const Shape& input) override;
  DISTRIBUTE_INLINE std::vector<Tensor> own_losses() const override;
  std::string kind() const override { return "p_re_lu"; }
  bool supports_masking() const override { return true; }

  Variable alpha_;
};

struct SoftmaxOptions {  // options of Softmax
  int axis = -1;
  std::string name = {};
};

/// Softmax along an axis; where a mask of x's shape is false the result is 0, also where it is
/// false along the whole axis.
/// Source  tf.keras.layers.Softmax
class Softmax : public Module {
 public:
  explicit Softmax(EmptyBraces) : Softmax() {}
  explicit Softmax(SoftmaxOptions options = {});
  /// Returns the axis whose elements add up to 1.
  int axis() const { return axis_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "softmax"; }
  bool supports_masking() const override { return true; }

  int axis_;
};

}  // namespace distribute::nn
