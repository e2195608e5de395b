#pragma once
/// Matrix products of GPUs by cuBLASLt, with bias and ReLU in its epilogue. The library is loaded
/// at first use.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_driver.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace distribute {

/// The structure cublasLtMatmulHeuristicResult_t of versions 12 and 13.
struct BlasChoice {
  uint64_t algorithm[8] = {};
  size_t workspace_bytes = 0;
  int state = 0;
  float waves = 0;
  int reserved[4] = {};
};

/// Functions of libcublasLt.so, by their exported names. Enumerators are ints.
struct CudaBlas {
  const char* (*cublasLtGetStatusName)(int) = nullptr;
  int (*cublasLtCreate)(CudaHandle*) = nullptr;
  int (*cublasLtMatmulDescCreate)(CudaHandle*, int, int) = nullptr;
  int (*cublasLtMatmulDescDestroy)(CudaHandle) = nullptr;
  int (*cublasLtMatmulDescSetAttribute)(CudaHandle, int, const void*, size_t) = nullptr;
  int (*cublasLtMatrixLayoutCreate)(CudaHandle*, int, uint64_t, uint64_t, int64_t) = nullptr;
  int (*cublasLtMatrixLayoutDestroy)(CudaHandle) = nullptr;
  int (*cublasLtMatrixLayoutSetAttribute)(CudaHandle, int, const void*, size_t) = nullptr;
  int (*cublasLtMatmulPreferenceCreate)(CudaHandle*) = nullptr;
  int (*cublasLtMatmulPreferenceDestroy)(CudaHandle) = nullptr;
  int (*cublasLtMatmulPreferenceSetAttribute)(CudaHandle, int, const void*, size_t) = nullptr;
  int (*cublasLtMatmulAlgoGetHeuristic)(CudaHandle, CudaHandle, CudaHandle, CudaHandle, CudaHandle,
                                        CudaHandle, CudaHandle, int, BlasChoice*, int*) = nullptr;
  int (*cublasLtMatmul)(CudaHandle, CudaHandle, const void*, const void*, CudaHandle, const void*,
                        CudaHandle, const void*, const void*, CudaHandle, void*, CudaHandle,
                        const void*, void*, size_t, CudaHandle) = nullptr;
};

/// Fills the table from the library of this machine.
/// Returns  an empty string, or what is missing and how to get it; the table is then unusable.
std::string load_cuda_blas(CudaBlas& blas);

/// During tests, products are computed by this table for the life of the object. Not thread-safe.
class [[nodiscard]] ScopedCudaBlas {
 public:
  explicit ScopedCudaBlas(const CudaBlas& blas);
  ~ScopedCudaBlas();
  ScopedCudaBlas(const ScopedCudaBlas&) = delete;
  ScopedCudaBlas& operator=(const ScopedCudaBlas&) = delete;

 private:
  void* previous_;
};

/// Says why cuBLASLt cannot be used; empty when it can.
std::string cuda_blas_problem();

/// Computes c = epilogue(a b + bias) on the current stream. Arrays are row-major, not empty and on
/// one GPU; `bias` is [columns] or null. Types are float32, bfloat16 and float16; sums are taken in
/// float32.
/// Throws  UnavailableError without cuBLASLt; InternalError with the call, its sizes and the
///         library's message.
Array cuda_blas_matmul(const MatmulShape& shape, const Array& a, const Array& b, const Array* bias,
                       Epilogue epilogue);

}  // namespace distribute
