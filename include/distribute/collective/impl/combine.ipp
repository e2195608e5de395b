#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/combine.hpp>

#include <algorithm>
#include <type_traits>

namespace distribute::collective {

/// The type in which elements of type T are added.
template <typename T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>, float,
                       std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

// Functors and not a switch in the loop, so that the loops vectorize.
struct AddElements {
  template <typename T>
  DISTRIBUTE_ALWAYS_INLINE T operator()(T a, T b) const {
    return T(a + b);
  }
};
struct MultiplyElements {
  template <typename T>
  DISTRIBUTE_ALWAYS_INLINE T operator()(T a, T b) const {
    return T(a * b);
  }
};
struct SmallerElement {
  template <typename T>
  DISTRIBUTE_ALWAYS_INLINE T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct LargerElement {
  template <typename T>
  DISTRIBUTE_ALWAYS_INLINE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// Calls fn with the functor of `op` for elements of type T.
template <typename T, typename Fn>
void dispatch_op(ReductionOp op, Fn&& fn) {
  if constexpr (std::is_same_v<T, bool>) {
    if (op == ReductionOp::Mean) throw InvalidArgumentError("the mean of bool is not defined");
    if (op == ReductionOp::Sum || op == ReductionOp::Max) return fn(LargerElement());
    return fn(SmallerElement());
  } else {
    switch (op) {
      case ReductionOp::Min: return fn(SmallerElement());
      case ReductionOp::Max: return fn(LargerElement());
      case ReductionOp::Product: return fn(MultiplyElements());
      default: return fn(AddElements());
    }
  }
}

template <typename T, typename Op>
void combine_into(Op op, std::span<const void* const> inputs, Accumulator<T>* sum, int64_t begin,
                  int64_t count) {
  using Sum = Accumulator<T>;
  const T* first = static_cast<const T*>(inputs[0]) + begin;
  for (int64_t i = 0; i < count; ++i) sum[i] = Sum(first[i]);
  for (size_t r = 1; r < inputs.size(); ++r) {
    const T* next = static_cast<const T*>(inputs[r]) + begin;
    simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) sum[i] = op(sum[i], Sum(next[i]));
    });
  }
}

template <typename T>
void finish_elements(ReductionOp op, const Accumulator<T>* sum, T* out, int64_t count, int ranks) {
  using Sum = Accumulator<T>;
  if (op != ReductionOp::Mean) {
    for (int64_t i = 0; i < count; ++i) out[i] = T(sum[i]);
  } else if constexpr (std::is_floating_point_v<Sum>) {
    const Sum factor = Sum(1) / Sum(ranks);
    for (int64_t i = 0; i < count; ++i) out[i] = T(sum[i] * factor);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = T(int64_t(sum[i]) / ranks);
  }
}

/// out[i] = (a[i] op b[i]) * factor; a factor of 1 changes no bit.
template <typename Op>
void combine_floats(Op op, const float* a, const float* b, float* out, int64_t count,
                    float factor) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i]) * factor;
  });
}

/// float32 of at least two ranks, by far the most frequent case: no pass but those that add.
template <typename Op>
void combine_floats(Op op, std::span<const void* const> inputs, float* out, int64_t count,
                    float factor) {
  constexpr int64_t kBlock = 1024;
  float sum[kBlock];
  const size_t last = inputs.size() - 1;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t length = std::min(kBlock, count - begin);
    const auto input = [&](size_t r) { return static_cast<const float*>(inputs[r]) + begin; };
    for (size_t r = 1; r < last; ++r)
      combine_floats(op, r == 1 ? input(0) : sum, input(r), sum, length, 1.0f);
    combine_floats(op, last == 1 ? input(0) : sum, input(last), out + begin, length, factor);
  }
}

DISTRIBUTE_INLINE void combine(ReductionOp op, DType dtype, std::span<const void* const> inputs,
                               void* out, int64_t count) {
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    dispatch_op<T>(op, [&](auto functor) {
      if constexpr (std::is_same_v<T, float>)
        if (inputs.size() > 1)
          return combine_floats(functor, inputs, static_cast<float*>(out), count,
                                op == ReductionOp::Mean ? 1.0f / float(inputs.size()) : 1.0f);
      constexpr int64_t kBlock = 1024;
      Accumulator<T> sum[kBlock];
      for (int64_t begin = 0; begin < count; begin += kBlock) {
        const int64_t length = std::min(kBlock, count - begin);
        combine_into<T>(functor, inputs, sum, begin, length);
        finish_elements<T>(op, sum, static_cast<T*>(out) + begin, length, int(inputs.size()));
      }
    });
  });
}

DISTRIBUTE_INLINE void accumulate(ReductionOp op, DType dtype, bool first, const void* input,
                                  void* partial, int64_t count) {
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    using Sum = Accumulator<T>;
    const T* from = static_cast<const T*>(input);
    Sum* sum = static_cast<Sum*>(partial);
    if (first) {
      for (int64_t i = 0; i < count; ++i) sum[i] = Sum(from[i]);
      return;
    }
    dispatch_op<T>(op, [&](auto functor) {
      simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) sum[i] = functor(sum[i], Sum(from[i]));
      });
    });
  });
}

DISTRIBUTE_INLINE void finish(ReductionOp op, DType dtype, const void* partial, void* out,
                              int64_t count, int ranks) {
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    finish_elements<T>(op, static_cast<const Accumulator<T>*>(partial), static_cast<T*>(out), count,
                       ranks);
  });
}

}  // namespace distribute::collective
