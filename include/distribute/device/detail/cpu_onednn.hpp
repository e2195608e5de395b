#pragma once
/// The fast CPU backend on oneDNN (2.6 or 3.x); builds without oneDNN lack it.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute {

/// Returns the oneDNN backend, or null when this build has none.
Backend* onednn_backend();

/// Returns the oneDNN backend, or Eigen's when this build has none.
Backend& built_in_backend();

/// Says how the CPU multiplies 16-bit floats, "bfloat16 as it is (oneDNN,
/// brg:avx512_core_amx_bf16), float16 widened to float32".
std::string cpu_products_of_half();

/// A product of matrices of 16-bit floats, as MatmulShape, whose rows are not adjacent in memory.
struct CpuBlockProduct {
  DType dtype;  // one that the CPU's backend multiplies
  int64_t rows, columns, inner;
  int64_t a_step, b_step, c_step;  // elements from row to row, of the matrices as they are stored
  bool transpose_a = false, transpose_b = false;
  bool float32_result = false, add = false;  // adds the product to c
};
/// Computes the product on the calling thread alone. Thread-safe.
void cpu_multiply_block(const CpuBlockProduct& shape, const void* a, const void* b, void* c);

/// Returns the names of the kernels that oneDNN has chosen so far, "convolution_forward
/// jit:avx512_core"; empty without oneDNN.
std::vector<std::string> onednn_kernels_in_use();

}  // namespace distribute
