#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/broadcast.hpp>
#include <distribute/ops/math.hpp>

#include <cmath>

namespace distribute {

namespace ops_internal {

template <typename Fn>
constexpr BinaryLoops float_loops() {
  return {strip_loop<Fn, float>, nullptr, false, binary_row<Fn>()};
}
template <typename Fn>
constexpr BinaryLoops number_loops() {
  return {strip_loop<Fn, float>, strip_loop<Fn, int64_t>, false, binary_row<Fn>()};
}
template <typename Fn>
constexpr BinaryLoops comparison_loops() {
  return {strip_loop<Fn, float, bool>, strip_loop<Fn, int64_t, bool>, true, binary_row<Fn>()};
}

DISTRIBUTE_INLINE Tensor comparison(const char* op, const Tensor& a, const Tensor& b,
                                    const BinaryLoops& loops) {
  return record(op, {a, b}, broadcast_binary(op, a, b, loops), not_differentiable);
}

/// Gives the gradient for a or b before broadcasting is undone; empty when there is none.
using BinaryGradient = Tensor (*)(int input, const Tensor& dy, const Tensor& a, const Tensor& b,
                                  const Tensor& y);

DISTRIBUTE_INLINE Tensor binary(const char* op, const Tensor& a, const Tensor& b,
                                const BinaryLoops& loops, BinaryGradient gradient) {
  if (a.dtype() == DType::Bool && b.dtype() == DType::Bool)
    throw InvalidArgumentError(str_cat(op, ": not for dtype bool"));
  const Tensor y = broadcast_binary(op, a, b, loops);
  if (!is_floating(y.dtype())) return record(op, {a, b}, y, not_differentiable);
  return record(op, {a, b}, y, [=](const Backward& backward) -> std::vector<Tensor> {
    std::vector<Tensor> result(2);
    for (int i = 0; i < 2; ++i)
      if (backward.needs(size_t(i)))
        if (const Tensor g = gradient(i, backward.gradient(), a, b, y))
          result[size_t(i)] = sum_to_shape(g, (i ? b : a).shape());
    return result;
  });
}

/// Gives operand `i` its part of dy: the first one where `mask` holds, else the second one.
DISTRIBUTE_INLINE Tensor chosen(int i, const Tensor& dy, const Tensor& mask) {
  const Tensor zero = scalar_like(dy, 0);
  return i ? where(mask, zero, dy) : where(mask, dy, zero);
}

DISTRIBUTE_INLINE Tensor power_gradient(int input, const Tensor& dy, const Tensor& a,
                                        const Tensor& b, const Tensor& y) {
  if (input == 0) return dy * (b * pow(a, b - 1));
  const Tensor positive = greater(a, scalar_like(a, 0));  // log is used only where it exists
  return dy * (y * log(where(positive, a, scalar_like(a, 1))));
}

DISTRIBUTE_INLINE void check_divisor(const char* op, const Tensor& b) {
  if (is_floating(b.dtype())) return;
  const auto divisors = converted(b, DType::Int64);
  for (int64_t value : divisors.data<int64_t>())
    if (value == 0) throw InvalidArgumentError(str_cat(op, ": integer division by zero"));
}

DISTRIBUTE_INLINE Tensor logical(const char* op, const Tensor& a, const Tensor& b,
                                 const BinaryLoops& loops) {
  if (a.dtype() != DType::Bool || b.dtype() != DType::Bool)
    throw InvalidArgumentError(
        str_cat(op, ": wants bool tensors, got ", name_of(a.dtype()), " and ", name_of(b.dtype())));
  return comparison(op, a, b, loops);
}

}  // namespace ops_internal

// The gradients below take `i`, the number of the operand.
DISTRIBUTE_INLINE Tensor add(const Tensor& a, const Tensor& b) {
  return ops_internal::binary(
      "add", a, b, ops_internal::number_loops<ops_internal::Add>(),
      [](int, const Tensor& dy, const Tensor&, const Tensor&, const Tensor&) { return dy; });
}

DISTRIBUTE_INLINE Tensor subtract(const Tensor& a, const Tensor& b) {
  return ops_internal::binary("subtract", a, b,
                              ops_internal::number_loops<ops_internal::Subtract>(),
                              [](int i, const Tensor& dy, const Tensor&, const Tensor&,
                                 const Tensor&) { return i ? negative(dy) : dy; });
}

DISTRIBUTE_INLINE Tensor multiply(const Tensor& a, const Tensor& b) {
  return ops_internal::binary("multiply", a, b,
                              ops_internal::number_loops<ops_internal::Multiply>(),
                              [](int i, const Tensor& dy, const Tensor& x, const Tensor& y,
                                 const Tensor&) { return dy * (i ? x : y); });
}

DISTRIBUTE_INLINE Tensor divide(const Tensor& a, const Tensor& b) {
  if (!is_floating(a.dtype()) && a.dtype() == b.dtype())
    throw InvalidArgumentError(str_cat("divide: not for dtype ", name_of(a.dtype()),
                                       "; use floordiv, or cast to float32 first"));
  return ops_internal::binary(
      "divide", a, b, ops_internal::float_loops<ops_internal::Divide>(),
      [](int i, const Tensor& dy, const Tensor&, const Tensor& divisor, const Tensor& y) {
        return i ? negative(dy * (y / divisor)) : dy / divisor;
      });
}

DISTRIBUTE_INLINE Tensor divide_no_nan(const Tensor& a, const Tensor& b) {
  return ops_internal::binary(
      "divide_no_nan", a, b, ops_internal::float_loops<ops_internal::DivideNoNan>(),
      [](int i, const Tensor& dy, const Tensor&, const Tensor& divisor, const Tensor& y) {
        return i ? negative(dy * divide_no_nan(y, divisor)) : divide_no_nan(dy, divisor);
      });
}

DISTRIBUTE_INLINE Tensor floordiv(const Tensor& a, const Tensor& b) {
  ops_internal::check_divisor("floordiv", b);
  return ops_internal::binary(
      "floordiv", a, b, ops_internal::number_loops<ops_internal::FloorDiv>(),
      [](int, const Tensor&, const Tensor&, const Tensor&, const Tensor&) { return Tensor(); });
}

DISTRIBUTE_INLINE Tensor floormod(const Tensor& a, const Tensor& b) {
  ops_internal::check_divisor("floormod", b);
  return ops_internal::binary(
      "floormod", a, b, ops_internal::number_loops<ops_internal::FloorMod>(),
      [](int i, const Tensor& dy, const Tensor& x, const Tensor& divisor, const Tensor&) {
        return i ? negative(dy * floordiv(x, divisor)) : dy;
      });
}

DISTRIBUTE_INLINE Tensor maximum(const Tensor& a, const Tensor& b) {
  return ops_internal::binary(
      "maximum", a, b, ops_internal::number_loops<ops_internal::Maximum>(),
      [](int i, const Tensor& dy, const Tensor& x, const Tensor& y, const Tensor&) {
        return ops_internal::chosen(i, dy, greater_equal(x, y));
      });
}

DISTRIBUTE_INLINE Tensor minimum(const Tensor& a, const Tensor& b) {
  return ops_internal::binary(
      "minimum", a, b, ops_internal::number_loops<ops_internal::Minimum>(),
      [](int i, const Tensor& dy, const Tensor& x, const Tensor& y, const Tensor&) {
        return ops_internal::chosen(i, dy, less_equal(x, y));
      });
}

DISTRIBUTE_INLINE Tensor pow(const Tensor& a, const Tensor& b) {
  if (!is_floating(b.dtype()) && b.dtype() == a.dtype())
    for (int64_t exponent : ops_internal::converted(b, DType::Int64).data<int64_t>())
      if (exponent < 0)
        throw InvalidArgumentError("pow: integers to negative integer powers are not allowed");
  return ops_internal::binary("pow", a, b, ops_internal::number_loops<ops_internal::Power>(),
                              ops_internal::power_gradient);
}

DISTRIBUTE_INLINE Tensor squared_difference(const Tensor& a, const Tensor& b) {
  return square(subtract(a, b));
}

DISTRIBUTE_INLINE Tensor equal(const Tensor& a, const Tensor& b) {
  return ops_internal::comparison("equal", a, b,
                                  ops_internal::comparison_loops<ops_internal::Equal>());
}
DISTRIBUTE_INLINE Tensor not_equal(const Tensor& a, const Tensor& b) {
  return ops_internal::comparison("not_equal", a, b,
                                  ops_internal::comparison_loops<ops_internal::NotEqual>());
}
DISTRIBUTE_INLINE Tensor less(const Tensor& a, const Tensor& b) {
  return ops_internal::comparison("less", a, b,
                                  ops_internal::comparison_loops<ops_internal::Less>());
}
DISTRIBUTE_INLINE Tensor less_equal(const Tensor& a, const Tensor& b) {
  return ops_internal::comparison("less_equal", a, b,
                                  ops_internal::comparison_loops<ops_internal::LessEqual>());
}
DISTRIBUTE_INLINE Tensor greater(const Tensor& a, const Tensor& b) {
  const Tensor y = ops_internal::broadcast_binary(
      "greater", b, a, ops_internal::comparison_loops<ops_internal::Less>());
  return record("greater", {a, b}, y, not_differentiable);
}
DISTRIBUTE_INLINE Tensor greater_equal(const Tensor& a, const Tensor& b) {
  const Tensor y = ops_internal::broadcast_binary(
      "greater_equal", b, a, ops_internal::comparison_loops<ops_internal::LessEqual>());
  return record("greater_equal", {a, b}, y, not_differentiable);
}

DISTRIBUTE_INLINE Tensor logical_and(const Tensor& a, const Tensor& b) {
  return ops_internal::logical("logical_and", a, b,
                               {nullptr, ops_internal::strip_loop<ops_internal::Minimum, int64_t>,
                                false, ops_internal::binary_row<ops_internal::Minimum>()});
}
DISTRIBUTE_INLINE Tensor logical_or(const Tensor& a, const Tensor& b) {
  return ops_internal::logical("logical_or", a, b,
                               {nullptr, ops_internal::strip_loop<ops_internal::Maximum, int64_t>,
                                false, ops_internal::binary_row<ops_internal::Maximum>()});
}
DISTRIBUTE_INLINE Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return ops_internal::logical("logical_xor", a, b,
                               ops_internal::comparison_loops<ops_internal::NotEqual>());
}
DISTRIBUTE_INLINE Tensor logical_not(const Tensor& a) { return logical_xor(a, Tensor(true)); }

DISTRIBUTE_INLINE Tensor add_n(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) throw InvalidArgumentError("add_n: wanted a tensor or more");
  Tensor sum = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (tensors[i].shape() != sum.shape())
      throw InvalidArgumentError(str_cat("add_n: tensor ", i, " is ", to_string(tensors[i].shape()),
                                         ", the first one ", to_string(sum.shape())));
    sum = sum + tensors[i];
  }
  return sum;
}

DISTRIBUTE_INLINE Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (condition.dtype() != DType::Bool || a.dtype() != b.dtype())
    throw InvalidArgumentError(
        str_cat("where: wants a bool condition and two tensors of one dtype, ", "got ",
                name_of(condition.dtype()), ", ", name_of(a.dtype()), " and ", name_of(b.dtype())));
  const Shape shape =
      broadcast_shapes("where", condition.shape(), broadcast_shapes("where", a.shape(), b.shape()));
  const Device device = ops_internal::device_of({condition, a, b});
  const auto full = [&](const Tensor& x) {
    if (is_gpu(device)) return ops_internal::gpu_expand(x, shape, device);
    return ops_internal::expand_to_shape("where", stop_gradient(x), shape);
  };
  const Tensor mask = full(condition), x = full(a), y = full(b);
  Tensor result;
  if (is_gpu(device))
    result = ops_internal::gpu_select(mask, x, y);
  else
    result = Tensor::empty(shape, a.dtype(), a.device());
  if (device.type == DeviceType::Cpu)
    dispatch(a.dtype(), [&](auto type) {
      using T = decltype(type);
      const T *from_a = x.data<T>().data(), *from_b = y.data<T>().data();
      const bool* choose = mask.data<bool>().data();
      T* out = result.mutable_data<T>();
      parallel_for(shape.num_elements(), 16384, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out[i] = choose[i] ? from_a[i] : from_b[i];
      });
    });
  if (!is_floating(a.dtype()))
    return record("where", {condition, a, b}, result, not_differentiable);
  const BackwardFunction gradient = [condition, shape_a = a.shape(), shape_b = b.shape()](
                                        const Backward& backward) -> std::vector<Tensor> {
    const Tensor &dy = backward.gradient(), zero = scalar_like(dy, 0);
    return {{},
            ops_internal::sum_to_shape(where(condition, dy, zero), shape_a),
            ops_internal::sum_to_shape(where(condition, zero, dy), shape_b)};
  };
  return record("where", {condition, a, b}, result, gradient);
}

DISTRIBUTE_INLINE Tensor scalar_like(const Tensor& like, double value) {
  return dispatch(like.dtype(), [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_integral_v<T>) {
      const T whole = ops_internal::saturated<T>(value);
      if (double(whole) != value)
        throw InvalidArgumentError(
            str_cat("the number ", value, " beside a tensor of dtype ", name_of(like.dtype())));
      return Tensor(whole);
    } else {
      return Tensor(T(float(value)));
    }
  });
}

}  // namespace distribute
