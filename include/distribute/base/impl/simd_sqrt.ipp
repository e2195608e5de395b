#pragma once
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/parallel.hpp>

#include <cmath>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace distribute {

namespace base_internal {

#if defined(__x86_64__)
/// Both compute the whole vectors and return the number of elements done.
__attribute__((target("avx512f"))) inline int64_t sqrt_avx512(const float* from, float* to,
                                                              int64_t count) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    _mm512_storeu_ps(to + i, _mm512_maskz_sqrt_ps(__mmask16(-1), _mm512_loadu_ps(from + i)));
  return i;
}
__attribute__((target("avx2"))) inline int64_t sqrt_avx2(const float* from, float* to,
                                                         int64_t count) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_sqrt_ps(_mm256_loadu_ps(from + i)));
  return i;
}
inline int64_t sqrt_vectors(const float* from, float* to, int64_t count) {
  if (simd_level() == 2) return sqrt_avx512(from, to, count);
  return simd_level() == 1 ? sqrt_avx2(from, to, count) : 0;
}
#else
inline int64_t sqrt_vectors(const float*, float*, int64_t) { return 0; }
#endif

}  // namespace base_internal

DISTRIBUTE_INLINE void simd_sqrt(const float* from, float* to, int64_t count) {
  for (int64_t i = base_internal::sqrt_vectors(from, to, count); i < count; ++i)
    to[i] = std::sqrt(from[i]);
}

}  // namespace distribute
