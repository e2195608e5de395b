#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/half_arrays.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>

namespace distribute {

namespace ops_internal {

/// Converts one number to another type.
template <Element To, Element From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return bool(value != From(0));
  else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>)
    return saturated<To>(double(float(value)));
  else if constexpr (std::is_integral_v<To>)
    return To(value);
  else
    return To(float(value));
}

DISTRIBUTE_INLINE void convert_elements(const void* from, DType from_type, void* to, DType to_type,
                                        int64_t count) {
  dispatch(from_type, [&](auto source) {
    dispatch(to_type, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      const From* x = static_cast<const From*>(from);
      To* y = static_cast<To*>(to);
      if constexpr (std::is_same_v<From, float> && std::is_same_v<To, bfloat16>)
        device_internal::round_to_bfloat16(x, y, count);
      else if constexpr (std::is_same_v<From, bfloat16> && std::is_same_v<To, float>)
        device_internal::widen_bfloat16(x, y, count);
      else
        for (int64_t i = 0; i < count; ++i) y[i] = convert<To>(x[i]);
    });
  });
}

/// Converts; images keep their arrangement, and all else becomes row-major.
DISTRIBUTE_INLINE Tensor converted(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (on_gpu(x)) return gpu_convert(x, dtype);
  const LayoutPtr layout = x.layout() ? x.layout()->retyped(dtype) : nullptr;
  Tensor y = Tensor::empty(x.shape(), dtype, x.device(), layout);
  const Tensor source = layout ? x : x.row_major();
  const char* from = source.array().bytes();
  char* to = y.array().bytes();
  parallel_for(x.num_elements(), 16384, [&](int64_t begin, int64_t end) {
    convert_elements(from + begin * size_of(x.dtype()), x.dtype(), to + begin * size_of(dtype),
                     dtype, end - begin);
  });
  return y;
}

}  // namespace ops_internal

DISTRIBUTE_INLINE Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const Tensor y = ops_internal::converted(x, dtype);
  if (!is_floating(dtype) || !is_floating(x.dtype()))
    return record("cast", {x}, y, not_differentiable);
  return record("cast", {x}, y, [from = x.dtype()](const Backward& b) -> std::vector<Tensor> {
    return {cast(b.gradient(), from)};
  });
}

}  // namespace distribute
