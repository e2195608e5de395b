#pragma once
#include <distribute/base/detail/simd_math.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/ops/detail/attention_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,prefer-vector-width=512")
#define DISTRIBUTE_LANES 16
namespace distribute::ops_internal::attention_avx512 {
#include <distribute/ops/impl/attention_kernels.inc>
}
#undef DISTRIBUTE_LANES
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define DISTRIBUTE_LANES 8
namespace distribute::ops_internal::attention_avx2 {
#include <distribute/ops/impl/attention_kernels.inc>
}
#undef DISTRIBUTE_LANES
#pragma GCC pop_options
#define DISTRIBUTE_ATTENTION_VARIANTS 1
#endif
#define DISTRIBUTE_LANES 4
namespace distribute::ops_internal::attention_baseline {
#include <distribute/ops/impl/attention_kernels.inc>
}
#undef DISTRIBUTE_LANES

namespace distribute::ops_internal {

DISTRIBUTE_INLINE void attend(const AttentionHead& head, int64_t begin, int64_t end,
                              const OwnHeadRows& out, float* log_sums) {
#ifdef DISTRIBUTE_ATTENTION_VARIANTS
  if (simd_level() == 2) return attention_avx512::attend(head, begin, end, out, log_sums);
  if (simd_level() == 1) return attention_avx2::attend(head, begin, end, out, log_sums);
#endif
  attention_baseline::attend(head, begin, end, out, log_sums);
}

DISTRIBUTE_INLINE void attend_backwards(const AttentionHead& head, const AttentionResult& result,
                                        int64_t begin, int64_t end, float* dq,
                                        const OwnHeadRows& dk, const OwnHeadRows& dv) {
#ifdef DISTRIBUTE_ATTENTION_VARIANTS
  if (simd_level() == 2)
    return attention_avx512::attend_backwards(head, result, begin, end, dq, dk, dv);
  if (simd_level() == 1)
    return attention_avx2::attend_backwards(head, result, begin, end, dq, dk, dv);
#endif
  attention_baseline::attend_backwards(head, result, begin, end, dq, dk, dv);
}

}  // namespace distribute::ops_internal
#undef DISTRIBUTE_ATTENTION_VARIANTS
