#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/lazy_product.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>
#include <distribute/tensor/detail/unrecorded.hpp>

#include <array>
#include <vector>

namespace distribute {

namespace ops_internal {

/// Whether the products of 16-bit operands are computed in float32: if the device has no kernels
/// for them, if there is nothing to multiply, and on the CPU in traces, as files have no such
/// products.
DISTRIBUTE_INLINE bool multiplies_wide(const Tensor& a, const Tensor& b) {
  if (!is_half(a.dtype())) return false;
  if (!backend(a.device().type).multiplies(a.dtype())) return true;
  return !on_gpu(a) &&
         (a.num_elements() == 0 || b.num_elements() == 0 || autograd_internal::is_tracing());
}

DISTRIBUTE_INLINE Tensor relu_gate(const Tensor& dy, const Tensor& y) {
  if (on_gpu(dy) || on_gpu(y)) {
    const Relu relu{};
    return gpu_slope(dy, y, unary_row<Relu>(), &relu, 1);
  }
  const Tensor source = in_layout(y, dy.layout());
  Tensor gated = Tensor::empty(dy.shape(), dy.dtype(), dy.device(), dy.layout());
  const auto run =
      [&]<typename T>(T) {  // 16-bit floats by their bits: positive ones are positive integers
        const int64_t count =
            dy.layout() ? gated.array().buffer->bytes() / int64_t(sizeof(T)) : dy.num_elements();
        const T *gradient = dy.array().data<T>(), *value = source.array().data<T>();
        T* out = gated.array().data<T>();
        parallel_for(count, 16384, [=](int64_t begin, int64_t end) {
          simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
            for (int64_t i = begin; i < end; ++i) out[i] = value[i] > T(0) ? gradient[i] : T(0);
          });
        });
      };
  is_half(dy.dtype()) ? run(int16_t{}) : run(float{});
  return gated;
}

/// Sums the columns; on the CPU in float32.
DISTRIBUTE_INLINE Tensor sum_to_last_axis(const Tensor& dy) {
  const int64_t columns = dy.shape()[-1], rows = columns ? dy.num_elements() / columns : 0;
  if (on_gpu(dy)) {
    const Tensor sums = gpu_reduce(dy.view({rows, columns}), {true, false}, binary_row<SumOf>());
    return converted(sums, dy.dtype()).view({columns});
  }
  Tensor sums = zeros({columns});
  const Tensor source = dy.row_major();
  const DType type = dy.dtype();
  const char* data = source.array().bytes();
  float* out = sums.mutable_data<float>();
  parallel_for(columns, 64, [=](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    std::vector<float> room(size_t(type == DType::Float32 ? 0 : count));
    for (int64_t r = 0; r < rows; ++r) {
      const char* row = data + (r * columns + begin) * size_of(type);
      if (!room.empty()) convert_elements(row, type, room.data(), DType::Float32, count);
      const float* from = room.empty() ? reinterpret_cast<const float*>(row) : room.data();
      float* to = out + begin;
      simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
        for (int64_t c = 0; c < count; ++c) to[c] += from[c];
      });
    }
  });
  return sums;
}

/// The matrices of a product and the batch axes of its result.
struct MatmulPlan {
  MatmulShape shape;
  Shape result, batch_a, batch_b, batch;
};

DISTRIBUTE_INLINE std::string describe_operands(const char* op, const char* problem,
                                                const Tensor& a, const Tensor& b) {
  return str_cat(op, ": ", problem, ": ", to_string(a.shape()), " ", name_of(a.dtype()), " x ",
                 to_string(b.shape()), " ", name_of(b.dtype()));
}

DISTRIBUTE_INLINE Shape batch_axes(const Shape& shape) {
  return Shape(shape.dims().first(size_t(shape.rank() - 2)));
}

DISTRIBUTE_INLINE MatmulPlan plan_matmul(const Tensor& a, const Tensor& b,
                                         const MatmulOptions& options) {
  if (a.shape().rank() < 2 || b.shape().rank() < 2)
    throw InvalidArgumentError(describe_operands("matmul", "operands need two axes", a, b));
  if (a.dtype() != b.dtype())
    throw InvalidArgumentError(describe_operands("matmul", "dtypes differ", a, b));
  MatmulPlan plan;
  MatmulShape& s = plan.shape;
  s.dtype = a.dtype();
  s.transpose_a = options.transpose_a;
  s.transpose_b = options.transpose_b;
  s.rows = a.shape()[options.transpose_a ? -1 : -2];
  s.inner = a.shape()[options.transpose_a ? -2 : -1];
  s.columns = b.shape()[options.transpose_b ? -2 : -1];
  if (s.inner != b.shape()[options.transpose_b ? -1 : -2])
    throw InvalidArgumentError(describe_operands("matmul", "inner sizes differ", a, b));
  plan.batch_a = batch_axes(a.shape());
  plan.batch_b = batch_axes(b.shape());
  plan.batch = broadcast_shapes("matmul", plan.batch_a, plan.batch_b);
  s.batch = plan.batch.num_elements();
  plan.result = plan.batch;
  plan.result.push_back(s.rows);
  plan.result.push_back(s.columns);
  return plan;
}

/// Returns the operand with its batch axes broadcast to the result's.
DISTRIBUTE_INLINE Tensor with_batch(const Tensor& t, const Shape& own, const Shape& batch) {
  if (own == batch) return t.row_major();
  Shape target = batch;
  target.push_back(t.shape()[-2]);
  target.push_back(t.shape()[-1]);
  return expand_to_shape("matmul", t, target).row_major();
}

DISTRIBUTE_INLINE Tensor multiply_matrices(const MatmulPlan& plan, const Tensor& a,
                                           const Tensor& b) {
  Backend& engine = backend(a.device().type);
  const Tensor left = with_batch(a, plan.batch_a, plan.batch);
  const Tensor right = with_batch(b, plan.batch_b, plan.batch);
  const DType dtype = plan.shape.float32_result ? DType::Float32 : plan.shape.dtype;
  return Tensor(plan.result, dtype,
                engine.matmul(plan.shape, left.array(), right.array(), nullptr, Epilogue::None));
}

DISTRIBUTE_INLINE Tensor behind_relu(const Tensor& dy, const Tensor& y) {
  if (TensorHints::of(dy).gated) return dy;
  return record("relu_gate", {dy}, relu_gate(dy, y), [y](const Backward& second) {
    return std::vector<Tensor>{relu_gate(second.gradient(), y)};
  });
}

Tensor product_as(DType result, const Tensor& a, const Tensor& b, const MatmulOptions& options);

/// Returns the gradients of c = op(a) op(b) as products, so that they have gradients too. 16-bit
/// ones on the CPU that are summed over broadcast axes are rounded after the sum.
DISTRIBUTE_INLINE std::vector<Tensor> matmul_gradients(const Backward& backward, const Tensor& a,
                                                       const Tensor& b, MatmulOptions options) {
  const Tensor dy = cast(backward.gradient(), a.dtype());
  const auto [ta, tb] = options;
  const auto fit = [&](const Tensor& to, const Tensor& left, const Tensor& right,
                       const MatmulOptions& turned) {
    const bool wide = !on_gpu(a) && batch_axes(to.shape()) != batch_axes(dy.shape());
    const DType type = is_half(a.dtype()) && wide ? DType::Float32 : a.dtype();
    return cast(sum_to_shape(product_as(type, left, right, turned), to.shape()), a.dtype());
  };
  Tensor da, db;
  if (backward.needs(0)) da = ta ? fit(a, b, dy, {tb, true}) : fit(a, dy, b, {false, !tb});
  if (backward.needs(1)) db = tb ? fit(b, dy, a, {true, ta}) : fit(b, a, dy, {!ta, false});
  return {da, db};
}

/// Computes matmul() with a result of the operands' type or, on the CPU, in float32.
DISTRIBUTE_INLINE Tensor product_as(DType result, const Tensor& a, const Tensor& b,
                                    const MatmulOptions& options) {
  if (const Device device = device_of({a, b}); lie_apart(a, b))
    return product_as(result, carried_to(a, device), carried_to(b, device), options);
  if (multiplies_wide(a, b) && a.dtype() == b.dtype())
    return cast(
        product_as(DType::Float32, cast(a, DType::Float32), cast(b, DType::Float32), options),
        result);
  MatmulPlan plan = plan_matmul(a, b, options);
  plan.shape.float32_result = result != a.dtype();
  if (a.dtype() == DType::UInt8 || a.dtype() == DType::Bool)
    throw InvalidArgumentError(describe_operands("matmul", "dtype not supported", a, b));
  const BackwardFunction gradient = [a, b, options](const Backward& backward) {
    return matmul_gradients(backward, a, b, options);
  };
  return record("matmul", {a, b}, multiply_matrices(plan, a, b), gradient, [&] {
    return OpAttributes{{"transpose_a", int64_t(options.transpose_a)},
                        {"transpose_b", int64_t(options.transpose_b)}};
  });
}

/// Computes x^T dy. Small 16-bit batches are widened, as their product is bound by the kernel's
/// size.
DISTRIBUTE_INLINE Tensor dense_kernel_gradient(const Tensor& x, const Tensor& dy, DType result) {
  constexpr int64_t kSmallBatch = 64;
  const bool widened = !on_gpu(x) && result == DType::Float32 && x.shape()[0] <= kSmallBatch;
  const DType own = widened ? result : x.dtype();
  const Tensor a = cast(x, own), b = cast(dy, own);
  const bool lazy = autograd_internal::wants_lazy_product(a, b) && !is_recording(std::array{a, b});
  return lazy ? autograd_internal::lazy_product(a, b) : product_as(result, a, b, {true, false});
}

/// Returns the gradients of x, kernel and bias, where `dy` [..., units] is the gradient of their
/// result. Kernel and bias may be float32 beside a 16-bit x.
DISTRIBUTE_INLINE std::vector<Tensor> dense_gradients(const Backward& backward, const Tensor& dy,
                                                      const Tensor& x, const Tensor& kernel,
                                                      const Tensor& bias) {
  const int64_t inputs = kernel.shape()[0], units = kernel.shape()[1];
  const int64_t rows = inputs ? x.num_elements() / inputs : 0;
  const Tensor dy2 = reshape(dy, {rows, units});
  const Tensor x2 = reshape(x, {rows, inputs});
  Tensor dx, dw, db;
  if (backward.needs(0))
    dx = reshape(matmul(dy2, cast(kernel, dy.dtype()), {false, true}), x.shape());
  if (backward.needs(1)) dw = dense_kernel_gradient(x2, dy2, kernel.dtype());
  if (backward.needs(2))
    db = record("bias_gradient", {dy2}, converted(sum_to_last_axis(dy2), bias.dtype()),
                [dy2](const Backward& second) -> std::vector<Tensor> {
                  const Tensor all = expand_to_shape("dense", second.gradient(), dy2.shape());
                  return {cast(all, dy2.dtype())};
                });
  return {dx, dw, db};
}

/// Whether 16-bit operands of dense() need no recorded conversion. On the CPU they have float32
/// kernels, whose gradients then stay in float32, too.
DISTRIBUTE_INLINE bool multiplies_as_given(const Tensor& x, const Tensor& kernel) {
  return !multiplies_wide(x, kernel) &&
         (x.dtype() == kernel.dtype() || (!on_gpu(x) && kernel.dtype() == DType::Float32));
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options) {
  using namespace ops_internal;
  return product_as(a.dtype(), a, b, options);
}

namespace nn {

DISTRIBUTE_INLINE Tensor dense(const Tensor& x, const Tensor& kernel, const Tensor& bias,
                               Epilogue epilogue) {
  using namespace ops_internal;
  if (const Device device = device_of({x, kernel}); lie_apart(x, kernel))
    return dense(carried_to(x, device), carried_to(kernel, device), carried_to(bias, device),
                 epilogue);
  if (kernel.shape().rank() != 2 || x.shape().rank() < 1 || x.shape()[-1] != kernel.shape()[0])
    throw InvalidArgumentError(describe_operands("dense", "inner sizes differ", x, kernel));
  if (bias && bias.shape() != Shape{kernel.shape()[1]})
    throw InvalidArgumentError(describe_operands("dense", "bias does not fit", kernel, bias));
  if (is_half(x.dtype()) && !multiplies_as_given(x, kernel)) {
    const DType own = multiplies_wide(x, kernel) ? DType::Float32 : x.dtype();
    const auto fit = [own](const Tensor& t) { return t ? cast(t, own) : t; };
    return cast(dense(fit(x), fit(kernel), fit(bias), epilogue), x.dtype());
  }
  const bool narrow = is_half(x.dtype()) && !on_gpu(x) && (!bias || is_floating(bias.dtype()));
  const bool alike = x.dtype() == kernel.dtype() && (!bias || bias.dtype() == x.dtype());
  if (!is_floating(x.dtype()) || !(alike || narrow))
    throw InvalidArgumentError(
        describe_operands("dense", "operands must be floating and alike", x, kernel));
  const int64_t inputs = kernel.shape()[0], units = kernel.shape()[1];
  const int64_t rows = inputs ? x.num_elements() / inputs : 0;
  const MatmulShape shape{x.dtype(), 1, rows, units, inputs, false, false};
  const Tensor flat = tensor_internal::viewed(x, {rows, inputs});
  const Tensor weights = converted(kernel.row_major(), x.dtype());
  const Tensor added = bias && narrow ? converted(bias.row_major(), DType::Float32) : bias;
  Tensor y(x.shape().with(-1, units), x.dtype(),
           backend(x.device().type)
               .matmul(shape, flat.array(), weights.array(), added ? &added.array() : nullptr,
                       epilogue));
  if (epilogue == Epilogue::Relu) TensorHints::of(y).relu_output = true;
  const BackwardFunction gradient = [=](const Backward& backward) {
    const Tensor dy = backward.gradient();
    return dense_gradients(backward, epilogue == Epilogue::Relu ? behind_relu(dy, y) : dy, x,
                           kernel, bias);
  };
  return record("dense", {x, kernel, bias}, y, gradient, [&] {
    return OpAttributes{{"epilogue", int64_t(epilogue)}};
  });
}

}  // namespace nn

}  // namespace distribute
