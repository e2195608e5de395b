#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/device/backend.hpp>

namespace distribute {

// Their headers include backend.hpp, so they can only follow (see below).
Backend& eigen_backend();
Backend* onednn_backend();
Backend& cuda_backend();

DISTRIBUTE_INLINE Backend& backend(DeviceType type) {
  if (type == DeviceType::Gpu) return cuda_backend();
  if (auto* chosen = static_cast<Backend*>(process_state().cpu_backend)) return *chosen;
  Backend* onednn = onednn_backend();
  return onednn ? *onednn : eigen_backend();
}

DISTRIBUTE_INLINE void Backend::product_rows(const MatmulShape& shape, const float* a,
                                             const float* b, int64_t begin, int64_t end,
                                             float* rows) {
  eigen_backend().product_rows(shape, a, b, begin, end, rows);
}

DISTRIBUTE_INLINE ScopedCpuBackend::ScopedCpuBackend(Backend& backend)
    : previous_(static_cast<Backend*>(process_state().cpu_backend)) {
  process_state().cpu_backend = &backend;
}

DISTRIBUTE_INLINE ScopedCpuBackend::~ScopedCpuBackend() { process_state().cpu_backend = previous_; }

}  // namespace distribute

#include <distribute/device/cpu_eigen.hpp>
#include <distribute/device/cpu_onednn.hpp>
#include <distribute/device/cuda_backend.hpp>
