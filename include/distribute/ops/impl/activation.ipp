#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/detail/flat_loop.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

namespace distribute {

namespace nn {

DISTRIBUTE_INLINE Tensor relu(const Tensor& x) {
  ops_internal::check_number("relu", x);
  if (!is_floating(x.dtype())) return maximum(x, scalar_like(x, 0));
  const ops_internal::Relu f{};
  Tensor y = ops_internal::map_floats("relu", x, ops_internal::value_loop<ops_internal::Relu>, &f,
                                      ops_internal::unary_row<ops_internal::Relu>());
  TensorHints::of(y).relu_output = true;
  return record("relu", {x}, y, [y](const Backward& b) -> std::vector<Tensor> {
    const Tensor& dy = b.gradient();
    if (TensorHints::of(dy).gated) return {dy};  // the operation above has done it while writing dy
    using ops_internal::Relu;
    return {ops_internal::unary_slope("relu", dy, y, ops_internal::kUnaryFunction<Relu>,
                                      ops_internal::RowNumbers(Relu{}))};
  });
}

DISTRIBUTE_INLINE Tensor relu6(const Tensor& x) {
  return ops_internal::unary<ops_internal::Relu6>("relu6", x);
}
DISTRIBUTE_INLINE Tensor leaky_relu(const Tensor& x) {
  return leaky_relu(x, ops_internal::LeakyRelu{}.alpha);
}
DISTRIBUTE_INLINE Tensor elu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Elu>("elu", x);
}
DISTRIBUTE_INLINE Tensor elu(const Tensor& x, double alpha) {
  const Tensor y = elu(x);
  return alpha == 1 ? y : where(greater(x, scalar_like(x, 0)), y, y * alpha);
}
DISTRIBUTE_INLINE Tensor selu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Selu>("selu", x);
}
DISTRIBUTE_INLINE Tensor gelu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Gelu>("gelu", x);
}
DISTRIBUTE_INLINE Tensor gelu_approximate(const Tensor& x) {
  return ops_internal::unary<ops_internal::GeluApproximate>("gelu_approximate", x);
}
DISTRIBUTE_INLINE Tensor softplus(const Tensor& x) {
  return ops_internal::unary<ops_internal::Softplus>("softplus", x);
}
DISTRIBUTE_INLINE Tensor silu(const Tensor& x) {
  return ops_internal::unary<ops_internal::Silu>("silu", x);
}
DISTRIBUTE_INLINE Tensor leaky_relu(const Tensor& x, float alpha) {
  ops_internal::LeakyRelu f;
  f.alpha = alpha;
  return ops_internal::unary("leaky_relu", x, f, [&] {
    return OpAttributes{{"alpha", double(alpha)}};
  });
}
DISTRIBUTE_INLINE Tensor linear(const Tensor& x) { return x; }

DISTRIBUTE_INLINE Tensor hard_sigmoid(const Tensor& x) { return relu6(x + 3.0f) / 6.0f; }
DISTRIBUTE_INLINE Tensor hard_silu(const Tensor& x) { return x * hard_sigmoid(x); }
DISTRIBUTE_INLINE Tensor mish(const Tensor& x) { return x * tanh(softplus(x)); }
DISTRIBUTE_INLINE Tensor softsign(const Tensor& x) { return x / (abs(x) + 1.0f); }
DISTRIBUTE_INLINE Tensor exponential(const Tensor& x) { return exp(x); }
DISTRIBUTE_INLINE Tensor celu(const Tensor& x) { return celu(x, 1); }
DISTRIBUTE_INLINE Tensor celu(const Tensor& x, double alpha) {
  const Tensor zero = scalar_like(x, 0);
  if (alpha == 1) return maximum(x, zero) + expm1(minimum(x, zero));
  return maximum(x, zero) + expm1(minimum(x, zero) / alpha) * alpha;
}
DISTRIBUTE_INLINE Tensor hard_tanh(const Tensor& x) { return clip_by_value(x, -1, 1); }
DISTRIBUTE_INLINE Tensor tanh_shrink(const Tensor& x) { return x - tanh(x); }
DISTRIBUTE_INLINE Tensor soft_shrink(const Tensor& x) { return soft_shrink(x, 0.5); }
DISTRIBUTE_INLINE Tensor soft_shrink(const Tensor& x, double threshold) {
  const Tensor below = where(x < -threshold, x + threshold, scalar_like(x, 0));
  return where(x > threshold, x - threshold, below);
}
DISTRIBUTE_INLINE Tensor hard_shrink(const Tensor& x) { return hard_shrink(x, 0.5); }
DISTRIBUTE_INLINE Tensor hard_shrink(const Tensor& x, double threshold) {
  return where(abs(x) > threshold, x, scalar_like(x, 0));
}
DISTRIBUTE_INLINE Tensor threshold(const Tensor& x, double threshold, double default_value) {
  return where(x > threshold, x, scalar_like(x, default_value));
}
DISTRIBUTE_INLINE Tensor log_sigmoid(const Tensor& x) { return -softplus(-x); }
DISTRIBUTE_INLINE Tensor squareplus(const Tensor& x) { return squareplus(x, 4); }
DISTRIBUTE_INLINE Tensor squareplus(const Tensor& x, double b) {
  return (x + sqrt(square(x) + b)) / 2.0f;
}
DISTRIBUTE_INLINE Tensor sparse_sigmoid(const Tensor& x) {
  const Tensor zero = scalar_like(x, 0), one = scalar_like(x, 1);
  return minimum(one, maximum(zero, (x + 1.0f) / 2.0f));  // with slope 0 at -1 and 1
}
DISTRIBUTE_INLINE Tensor sparse_plus(const Tensor& x) {
  return square(clip_by_value((x + 1.0f) / 2.0f, 0, 1)) + relu(x - 1.0f);
}

}  // namespace nn

}  // namespace distribute
