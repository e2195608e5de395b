#include "optimizer_loops.hpp"

#include <omp.h>

#include <cmath>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace distribute_tools {

constexpr float kRate = 1e-4F, kDecay1 = 1 - 0.9F, kDecay2 = 1 - 0.999F, kEpsilon = 1e-7F;

/// Elements [first, last) that one thread works on.
struct Share {
  int64_t first, last;
};

Share share_of_this_thread(size_t size) {
  const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
  const auto count = static_cast<int64_t>(size);
  return {count * me / threads, count * (me + 1) / threads};
}

// std::sqrt keeps a loop scalar unless errno is switched off for the whole file (ten times slower
// here), so the vectors are spelled out; 8 lanes already wait for memory.
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) int64_t adam_vectors(float* weight, const float* gradient,
                                                         float* mean, float* square, Share share) {
  const __m256 rate = _mm256_set1_ps(kRate), epsilon = _mm256_set1_ps(kEpsilon);
  const __m256 decay1 = _mm256_set1_ps(kDecay1), decay2 = _mm256_set1_ps(kDecay2);
  int64_t i = share.first;
  for (; i + 8 <= share.last; i += 8) {
    const __m256 g = _mm256_loadu_ps(gradient + i);
    __m256 m = _mm256_loadu_ps(mean + i), v = _mm256_loadu_ps(square + i);
    m += (g - m) * decay1;
    v += (g * g - v) * decay2;
    _mm256_storeu_ps(mean + i, m);
    _mm256_storeu_ps(square + i, v);
    const __m256 step = rate * m / (_mm256_sqrt_ps(v) + epsilon);
    _mm256_storeu_ps(weight + i, _mm256_loadu_ps(weight + i) - step);
  }
  return i;
}
bool has_vectors() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
int64_t adam_vectors(float*, const float*, float*, float*, Share share) { return share.first; }
bool has_vectors() { return false; }
#endif

void adam_pass(std::span<float> weight, std::span<const float> gradient, std::span<float> mean,
               std::span<float> square) {
#pragma omp parallel
  {
    const Share share = share_of_this_thread(weight.size());
    int64_t i = share.first;
    if (has_vectors())
      i = adam_vectors(weight.data(), gradient.data(), mean.data(), square.data(), share);
    for (; i < share.last; ++i) {
      mean[i] += (gradient[i] - mean[i]) * kDecay1;
      square[i] += (gradient[i] * gradient[i] - square[i]) * kDecay2;
      weight[i] -= kRate * mean[i] / (std::sqrt(square[i]) + kEpsilon);
    }
  }
}

void momentum_pass(std::span<float> weight, std::span<const float> gradient,
                   std::span<float> velocity) {
  float* __restrict to = weight.data(), * __restrict v = velocity.data();
  const float* __restrict from = gradient.data();
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < weight.size(); ++i) {
    v[i] = 0.9F * v[i] - 0.01F * from[i];
    to[i] += v[i];
  }
}

void sgd_pass(std::span<float> weight, std::span<const float> gradient) {
  float* __restrict to = weight.data();
  const float* __restrict from = gradient.data();
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < weight.size(); ++i) to[i] -= 0.01F * from[i];
}

}  // namespace distribute_tools
