#pragma once
/// Matrix products: plain, batched, and fused with bias and ReLU.

#include <distribute/base/config.hpp>
#include <distribute/device/backend.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

struct MatmulOptions {  // options of matmul()
  bool transpose_a = false;
  bool transpose_b = false;
};

/// Shapes  a [..., m, k], b [..., k, n] -> [..., m, n]; leading axes broadcast. float32, bfloat16
///         and float16 (computed in float32), int32, int64.
/// Throws  InvalidArgumentError with both shapes when inner sizes, ranks or dtypes differ.
/// Source  tf.linalg.matmul
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

namespace nn {

/// epilogue(x kernel + bias); `bias` may be none.
/// Shapes  x [..., inputs], kernel [inputs, units], bias [units] -> [..., units].
Tensor dense(const Tensor& x, const Tensor& kernel, const Tensor& bias = {},
             Epilogue epilogue = Epilogue::None);

}  // namespace nn

namespace ops_internal {

/// dy where the ReLU that made y let the value through, else 0. Keeps dy's layout. Not recorded.
Tensor relu_gate(const Tensor& dy, const Tensor& y);
/// dy behind the ReLU of an epilogue that made y, unless the reader of y has gated it already.
Tensor behind_relu(const Tensor& dy, const Tensor& y);

/// Sum over all axes but the last, in a fixed order. Not recorded.
Tensor sum_to_last_axis(const Tensor& dy);

}  // namespace ops_internal

}  // namespace distribute
