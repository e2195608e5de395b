#pragma once
/// A GPU with its libraries, real or fake.

#include "fake_blas.hpp"
#include "fake_cudnn.hpp"
#include "gpu_contract.hpp"

#include <distribute/device/detail/cuda_blas.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>

#include <optional>

namespace distribute::testing {

/// ContractGpu; the fake one with fakes of cuBLASLt and, where its headers are there, cuDNN. A real
/// one has the libraries themselves, or there would be nothing to test.
struct LibraryGpu {
  LibraryGpu() {
    if (tests_real_gpu()) {
      REQUIRE(cuda_blas_problem() == "");
      REQUIRE(cudnn_problem() == "");
      return;
    }
    blas.emplace(FakeBlas::table());
#if DISTRIBUTE_HAS_CUDNN
    dnn.emplace(FakeCudnn::table());
#endif
  }
  ContractGpu gpu;
  std::optional<ScopedCudaBlas> blas;
#if DISTRIBUTE_HAS_CUDNN
  std::optional<cudnn_internal::ScopedCudnn> dnn;
#endif
};

}  // namespace distribute::testing
