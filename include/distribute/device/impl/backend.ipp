#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/backend.hpp>
#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/detail/plain_product.hpp>

namespace distribute {

DISTRIBUTE_INLINE Backend& backend(DeviceType type) {
  if (type == DeviceType::Gpu) return cuda_backend();
  if (!omp_in_parallel() && intra_op_threads() > 1) base_internal::check_no_fork();
  if (auto* chosen = device_state().cpu_backend) return *chosen;
  return built_in_backend();
}

DISTRIBUTE_INLINE Array Backend::conv2d_with_sums(const Conv2DShape& shape, const Array& x,
                                                  const Array& w, Array&) {
  return conv2d(shape, x, w, nullptr, Epilogue::None);
}

DISTRIBUTE_INLINE void Backend::product_rows(const MatmulShape& shape, const float* a,
                                             const float* b, int64_t begin, int64_t end,
                                             float* rows) {
  device_internal::plain_rows(shape, a, b, begin, end, rows);
}

DISTRIBUTE_INLINE ScopedCpuBackend::ScopedCpuBackend(Backend& backend)
    : previous_(device_state().cpu_backend) {
  device_state().cpu_backend = &backend;
}

DISTRIBUTE_INLINE ScopedCpuBackend::~ScopedCpuBackend() { device_state().cpu_backend = previous_; }

}  // namespace distribute
