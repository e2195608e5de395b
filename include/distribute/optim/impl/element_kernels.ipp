#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/optim/detail/element_kernels.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace distribute::optim::optim_internal {

DISTRIBUTE_INLINE void scale(float* x, float factor, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) x[i] = kernels::UpdateSteps::shrunk(x[i], factor);
  });
}

DISTRIBUTE_INLINE void average(float* mean, const float* x, float momentum, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      mean[i] = kernels::UpdateSteps::averaged(mean[i], x[i], momentum);
  });
}

DISTRIBUTE_INLINE void add_decay(const float* g, const float* w, float decay, float* sum,
                                 int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      sum[i] = kernels::UpdateSteps::with_decay(g[i], w[i], decay);
  });
}

DISTRIBUTE_INLINE ElementKernel with_coupled_decay(ElementKernel formula, float decay,
                                                   size_t num_slots) {
  return [=](float* weights, float* const* slots, const float* gradient, int64_t count) {
    constexpr int64_t kPiece = 2048;
    float sum[kPiece];
    std::vector<float*> moved(num_slots);
    for (int64_t begin = 0; begin < count; begin += kPiece) {
      const int64_t size = std::min(kPiece, count - begin);
      for (size_t s = 0; s < num_slots; ++s) moved[s] = slots[s] + begin;
      add_decay(gradient + begin, weights + begin, decay, sum, size);
      formula(weights + begin, moved.data(), sum, size);
    }
  };
}

}  // namespace distribute::optim::optim_internal
