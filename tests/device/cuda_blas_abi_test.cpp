// What device/detail/cuda_blas.hpp declares by itself is what the toolkit's headers declare.
#include <distribute/device/detail/cuda_blas.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/same_call.hpp>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#define SAME(name)                                                                            \
  static_assert(distribute::testing::SameCall<decltype(distribute::CudaBlas::cublasLt##name), \
                                              decltype(&::cublasLt##name)>::value)
SAME(GetStatusName);
SAME(Create);
SAME(MatmulDescDestroy);
SAME(MatmulDescSetAttribute);
SAME(MatrixLayoutCreate);
SAME(MatrixLayoutDestroy);
SAME(MatrixLayoutSetAttribute);
SAME(MatmulPreferenceCreate);
SAME(MatmulPreferenceDestroy);
SAME(MatmulPreferenceSetAttribute);
SAME(MatmulAlgoGetHeuristic);
SAME(Matmul);
SAME(MatmulDescCreate);
#undef SAME

static_assert(sizeof(distribute::BlasChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(distribute::BlasChoice, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));

TEST_CASE("the enumerators given to cuBLASLt are its own", "[device][cuda_blas]") {
  CHECK((CUBLAS_COMPUTE_32F == 68 && CUBLAS_COMPUTE_32F_FAST_TF32 == 77));
  CHECK((CUDA_R_32F == 0 && CUDA_R_16F == 2 && CUDA_R_16BF == 14));
  CHECK((CUBLASLT_MATMUL_DESC_TRANSA == 3 && CUBLASLT_MATMUL_DESC_TRANSB == 4));
  CHECK((CUBLASLT_MATMUL_DESC_EPILOGUE == 7 && CUBLASLT_MATMUL_DESC_BIAS_POINTER == 8));
  CHECK((CUBLASLT_EPILOGUE_DEFAULT == 1 && CUBLASLT_EPILOGUE_RELU == 2));
  CHECK((CUBLASLT_EPILOGUE_BIAS == 4 && CUBLASLT_EPILOGUE_RELU_BIAS == 6));
  CHECK((CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == 5));
  CHECK((CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == 6));
  CHECK((CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1));
  CHECK((CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == 3));
  CHECK((CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == 5));
  CHECK((CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == 8));
  CHECK(
      (CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == 2 && CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE == 4));
  CHECK(CUBLAS_OP_T == 1);
}
#endif

TEST_CASE("a table of cuBLASLt is whole, or the reason is told", "[device][cuda_blas]") {
  distribute::CudaBlas blas;
  const std::string problem = distribute::load_cuda_blas(blas);
  CHECK(problem.empty() == (blas.cublasLtMatmul != nullptr));
}
