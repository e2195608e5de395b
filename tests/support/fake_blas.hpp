#pragma once
/// A cuBLASLt made of host loops, for the fake GPU: computes what its descriptors say.

#include <distribute/device/detail/cuda_blas.hpp>

#include <atomic>
#include <cstdint>

namespace distribute::testing {

struct FakeBlas {
  // Several replicas call it at the same time.
  static inline std::atomic<int> alive = 0, heuristics = 0, products = 0;
  static inline std::atomic<uint32_t> last_alignment = 0, last_reductions = 0;
  static inline std::atomic<int> last_compute_type = 0;

  static CudaBlas table();
};

}  // namespace distribute::testing
