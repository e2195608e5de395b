#pragma once
/// A GPU with its libraries, real or fake.

#include "fake_blas.hpp"
#include "fake_cudnn.hpp"
#include "gpu_contract.hpp"

#include <distribute/device/math_mode.hpp>

#include <cstdlib>
#include <optional>
#include <string>

namespace distribute::testing {

/// ContractGpu without TensorFloat-32; the fake one with fakes of cuBLASLt and, where its headers
/// are there, cuDNN.
struct LibraryGpu {
  LibraryGpu() {
    config::experimental::enable_tensor_float_32_execution(false);
    const char* real = std::getenv("DISTRIBUTE_TEST_GPU");
    if (real && std::string(real) == "1") return;
    blas.emplace(FakeBlas::table());
#if DISTRIBUTE_HAS_CUDNN
    dnn.emplace(FakeCudnn::table());
#endif
  }
  ~LibraryGpu() { config::experimental::enable_tensor_float_32_execution(true); }
  ContractGpu gpu;
  std::optional<ScopedCudaBlas> blas;
#if DISTRIBUTE_HAS_CUDNN
  std::optional<cudnn_internal::ScopedCudnn> dnn;
#endif
};

}  // namespace distribute::testing
