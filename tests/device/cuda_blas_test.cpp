// Matrix products on the fake GPU with a fake cuBLASLt, which reads descriptors as the real one.
#include <distribute/device/detail/cuda_blas.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>

#include "support/fake_blas.hpp"
#include "support/fake_cuda.hpp"

#include "../support/catch.hpp"

using namespace distribute;
using namespace distribute::testing;

namespace {

const Device kGpu{DeviceType::Gpu, 0};

/// Small whole numbers: exact in every dtype.
Array numbers(DType dtype, int64_t count, int seed) {
  Array array = make_array(count * size_of(dtype), kGpu);
  FakeCuda::with_memory([&] {
    for (int64_t i = 0; i < count; ++i)
      dispatch(dtype, [&](auto type) {
        array.data<decltype(type)>()[i] = decltype(type)(float((i * 7 + seed) % 11 - 5));
        return 0;
      });
  });
  return array;
}

float at(const Array& array, DType dtype, int64_t i) {
  return dispatch(dtype, [&](auto type) { return float(array.data<decltype(type)>()[i]); });
}

/// The product as its definition says.
std::vector<float> expected(const MatmulShape& s, const Array& a, const Array& b, const Array* bias,
                            bool relu) {
  std::vector<float> c;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = 0; j < s.columns; ++j) {
        float sum = bias ? at(*bias, s.dtype, j) : 0;
        for (int64_t k = 0; k < s.inner; ++k)
          sum +=
              at(a, s.dtype,
                 n * s.rows * s.inner + (s.transpose_a ? k * s.rows + i : i * s.inner + k)) *
              at(b, s.dtype,
                 n * s.inner * s.columns + (s.transpose_b ? j * s.inner + k : k * s.columns + j));
        c.push_back(relu && sum < 0 ? 0 : sum);
      }
  return c;
}

void check_product(const MatmulShape& s, bool with_bias, Epilogue epilogue) {
  const Array a = numbers(s.dtype, s.batch * s.rows * s.inner, 1);
  const Array b = numbers(s.dtype, s.batch * s.inner * s.columns, 2);
  const Array bias = numbers(s.dtype, s.columns, 3);
  const Array* const added = with_bias ? &bias : nullptr;
  const Array c = cuda_blas_matmul(s, a, b, added, epilogue);
  std::vector<float> got, wanted;
  FakeCuda::with_memory([&] {
    wanted = expected(s, a, b, added, epilogue == Epilogue::Relu);
    for (size_t i = 0; i < wanted.size(); ++i) got.push_back(at(c, s.dtype, int64_t(i)));
  });
  CHECK(got == wanted);
}

}  // namespace

TEST_CASE("products of all transpositions, batches and epilogues are right",
          "[device][cuda_blas]") {
  FakeCuda gpu;
  const ScopedCudaBlas blas(FakeBlas::table());
  for (DType dtype : {DType::Float32, DType::BFloat16, DType::Float16})
    for (int64_t batch : {1, 3})
      for (int flags = 0; flags < 16; ++flags)
        check_product({dtype, batch, 2, 5, 3, (flags & 1) != 0, (flags & 2) != 0}, (flags & 4) != 0,
                      flags & 8 ? Epilogue::Relu : Epilogue::None);
  CHECK(FakeBlas::alive == 0);
  CHECK(FakeBlas::products == 3 * 2 * 16);
}

TEST_CASE("a kernel is chosen once for each shape, alignment and setting", "[device][cuda_blas]") {
  FakeCuda gpu;
  const ScopedCudaBlas blas(FakeBlas::table());
  const MatmulShape s{DType::Float32, 1, 4, 4, 4};
  for (int run = 0; run < 3; ++run) check_product(s, false, Epilogue::None);
  CHECK(FakeBlas::heuristics == 1);
  CHECK(FakeBlas::last_alignment == 256);
  check_product(s, true, Epilogue::None);
  CHECK(FakeBlas::heuristics == 2);

  Array a = numbers(s.dtype, 17, 1);
  a.offset_bytes = 4;
  cuda_blas_matmul(s, a, numbers(s.dtype, 16, 2), nullptr, Epilogue::None);
  CHECK(FakeBlas::heuristics == 3);
  CHECK(FakeBlas::last_alignment == 4);
}

TEST_CASE("TensorFloat-32 and determinism reach the library", "[device][cuda_blas]") {
  FakeCuda gpu;
  const ScopedCudaBlas blas(FakeBlas::table());
  const MatmulShape s{DType::Float32, 1, 4, 4, 4};
  check_product(s, false, Epilogue::None);
  CHECK(FakeBlas::last_compute_type == 77);
  CHECK(FakeBlas::last_reductions == 7);
  config::experimental::enable_tensor_float_32_execution(false);
  config::experimental::enable_op_determinism();
  check_product(s, false, Epilogue::None);
  CHECK(FakeBlas::last_compute_type == 68);
  CHECK(FakeBlas::last_reductions == 6);
  config::experimental::enable_tensor_float_32_execution(true);
  device_state().op_determinism = false;
}

TEST_CASE("errors of the library name call and sizes", "[device][cuda_blas]") {
  FakeCuda gpu;
  CudaBlas table = FakeBlas::table();
  table.cublasLtMatmulAlgoGetHeuristic = [](CudaHandle, CudaHandle, CudaHandle, CudaHandle,
                                            CudaHandle, CudaHandle, CudaHandle, int, BlasChoice*,
                                            int*) { return 15; };
  const ScopedCudaBlas blas(table);
  const Array x = numbers(DType::Float32, 6, 1);
  try {
    cuda_blas_matmul({DType::Float32, 1, 2, 2, 3}, x, x, nullptr, Epilogue::None);
    FAIL("no error");
  } catch (const InternalError& error) {
    const std::string message = error.what();
    CHECK(message.find("cublasLtMatmulAlgoGetHeuristic of 1 x [2, 3] [3, 2] float32") == 0);
    CHECK(message.find("CUBLAS_STATUS") != std::string::npos);
  }
  CHECK(FakeBlas::alive == 0);
}

TEST_CASE("the real library has every function of the table", "[device][cuda_blas]") {
  CudaBlas blas;
  const std::string problem = load_cuda_blas(blas);
  if (!problem.empty()) {
    WARN("skipped: " << problem);
    CHECK(problem.find("cuBLASLt") != std::string::npos);
    return;
  }
  CHECK(std::string(blas.cublasLtGetStatusName(7)) == "CUBLAS_STATUS_INVALID_VALUE");
  CudaHandle layout = nullptr;
  REQUIRE(blas.cublasLtMatrixLayoutCreate(&layout, 0, 4, 8, 4) == 0);
  const int32_t count = 3;
  CHECK(blas.cublasLtMatrixLayoutSetAttribute(layout, 5, &count, sizeof count) == 0);
  CHECK(blas.cublasLtMatrixLayoutSetAttribute(layout, 5, &count, 2) != 0);
  CHECK(blas.cublasLtMatrixLayoutDestroy(layout) == 0);
  CudaHandle product = nullptr;
  REQUIRE(blas.cublasLtMatmulDescCreate(&product, 68, 0) == 0);
  const int32_t epilogue = 6;
  const void* const bias = &epilogue;
  CHECK(blas.cublasLtMatmulDescSetAttribute(product, 7, &epilogue, sizeof epilogue) == 0);
  CHECK(blas.cublasLtMatmulDescSetAttribute(product, 8, &bias, sizeof bias) == 0);
  CHECK(blas.cublasLtMatmulDescDestroy(product) == 0);
}
