#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/collective/detail/combine.hpp>
#include <distribute/collective/detail/sum_order.hpp>

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

inline constexpr int64_t kCombineBlock = 1024;  // elements whose partial results stay in the cache

/// out[i] = a[i] op b[i], in Sum; out may be a or b if that has the type Sum.
template <typename Sum, typename Op, typename A, typename B>
void combine_two(Op op, const A* a, const B* b, Sum* out, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) out[i] = op(Sum(a[i]), Sum(b[i]));
  });
}

/// Combines at most kCombineBlock elements of at least two inputs.
template <typename T, typename Op>
void combine_block(Op op, std::span<const void* const> inputs, int64_t begin, int64_t count,
                   Accumulator<T>* out) {
  using Sum = Accumulator<T>;
  const auto input = [&](size_t r) { return static_cast<const T*>(inputs[r]) + begin; };
  if (inputs.size() == 2) return combine_two<Sum>(op, input(0), input(1), out, count);
  const size_t left = size_t(left_ranks(int(inputs.size())));
  combine_block<T>(op, inputs.first(left), begin, count, out);
  if (inputs.size() == left + 1) return combine_two<Sum>(op, out, input(left), out, count);
  Sum right[kCombineBlock];
  combine_block<T>(op, inputs.subspan(left), begin, count, right);
  combine_two<Sum>(op, out, right, out, count);
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
void combine_all_floats(Op op, std::span<const void* const> inputs, float* out, int64_t count,
                        float factor) {
  float sums[2][kCombineBlock];
  const size_t left = size_t(left_ranks(int(inputs.size())));
  for (int64_t begin = 0; begin < count; begin += kCombineBlock) {
    const int64_t length = std::min(kCombineBlock, count - begin);
    const auto branch = [&](std::span<const void* const> ranks, float* sum) -> const float* {
      if (ranks.size() == 1) return static_cast<const float*>(ranks[0]) + begin;
      combine_block<float>(op, ranks, begin, length, sum);
      return sum;
    };
    const float* a = branch(inputs.first(left), sums[0]);
    combine_floats(op, a, branch(inputs.subspan(left), sums[1]), out + begin, length, factor);
  }
}

template <typename T, typename Op>
void combine_elements(Op op, std::span<const void* const> inputs, int64_t begin, int64_t count,
                      Accumulator<T>* sum) {
  if (inputs.size() > 1) return combine_block<T>(op, inputs, begin, count, sum);
  const T* only = static_cast<const T*>(inputs[0]) + begin;
  for (int64_t i = 0; i < count; ++i) sum[i] = Accumulator<T>(only[i]);
}

DISTRIBUTE_INLINE void combine(ReductionOp op, DType dtype, std::span<const void* const> inputs,
                               void* out, int64_t count) {
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    dispatch_op<T>(op, [&](auto functor) {
      if constexpr (std::is_same_v<T, float>)
        if (inputs.size() > 1)
          return combine_all_floats(functor, inputs, static_cast<float*>(out), count,
                                    op == ReductionOp::Mean ? 1.0f / float(inputs.size()) : 1.0f);
      Accumulator<T> sum[kCombineBlock];
      for (int64_t begin = 0; begin < count; begin += kCombineBlock) {
        const int64_t length = std::min(kCombineBlock, count - begin);
        combine_elements<T>(functor, inputs, begin, length, sum);
        finish_elements<T>(op, sum, static_cast<T*>(out) + begin, length, int(inputs.size()));
      }
    });
  });
}

DISTRIBUTE_INLINE void combine_branch(ReductionOp op, DType dtype,
                                      std::span<const void* const> inputs, void* partial,
                                      int64_t count) {
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    auto* sum = static_cast<Accumulator<T>*>(partial);
    dispatch_op<T>(op, [&](auto functor) {
      for (int64_t begin = 0; begin < count; begin += kCombineBlock)
        combine_elements<T>(functor, inputs, begin, std::min(kCombineBlock, count - begin),
                            sum + begin);
    });
  });
}

DISTRIBUTE_INLINE void combine_branches(ReductionOp op, DType dtype, Branch left, Branch right,
                                        void* partial, int64_t count) {
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    using Sum = Accumulator<T>;
    Sum* sum = static_cast<Sum*>(partial);
    const auto typed = [](Branch branch, const auto& use) {
      branch.is_rank ? use(static_cast<const T*>(branch.data))
                     : use(static_cast<const Sum*>(branch.data));
    };
    dispatch_op<T>(op, [&](auto functor) {
      typed(left, [&](auto* a) {
        typed(right, [&](auto* b) { combine_two<Sum>(functor, a, b, sum, count); });
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
