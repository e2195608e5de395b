// The backend of GPUs on the fake GPU: its own kernels and its way to cuBLASLt.
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_transpose.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_blas.hpp>
#include <distribute/device/detail/cuda_memory.hpp>
#include <distribute/device/detail/cuda_module.hpp>

#include "support/fake_blas.hpp"
#include "support/fake_cuda.hpp"

#include "../support/catch.hpp"

using namespace distribute;
using namespace distribute::testing;

namespace {

const Device kGpu{DeviceType::Gpu, 0};

const char kMatrixText[] =
#include <distribute/device/kernels/matrix.cu.inc>
    ;

template <typename T>
Array on_gpu(const std::vector<T>& values) {
  Array array = make_array(int64_t(values.size() * sizeof(T)), kGpu);
  copy_bytes(array.bytes(), kGpu, values.data(), Device{}, int64_t(values.size() * sizeof(T)));
  return array;
}

template <typename T>
std::vector<T> on_host(const Array& array, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  copy_bytes(values.data(), Device{}, array.bytes(), kGpu, count * int64_t(sizeof(T)));
  return values;
}

/// Small whole numbers, exact in every type.
template <typename T>
std::vector<T> numbers(int64_t count) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(T(float(i * 13 % 17 - 8)));
  return values;
}

template <typename T>
void check_sums(int64_t rows, int64_t columns) {
  const auto values = numbers<T>(rows * columns);
  std::vector<float> sums(static_cast<size_t>(columns)), got;
  for (size_t i = 0; i < values.size(); ++i) sums[i % size_t(columns)] += float(values[i]);
  for (T sum : on_host<T>(cuda_column_sums(dtype_of<T>, on_gpu(values), rows, columns), columns))
    got.push_back(float(sum));
  CHECK(got == sums);
}

/// The same bits wherever the matrix lies.
template <typename T>
void check_sums_of_part(int64_t rows, int64_t columns) {
  std::vector<T> values(size_t(rows * columns + 1));
  for (size_t i = 0; i < values.size(); ++i) values[i] = T(1 / float(3 + i * 13 % 17));
  Array moved = on_gpu(values);
  moved.offset_bytes += int64_t(sizeof(T));
  const Array home = on_gpu(std::vector<T>(values.begin() + 1, values.end()));
  const auto sums = [&](const Array& x) {
    return on_host<T>(cuda_column_sums(dtype_of<T>, x, rows, columns), columns);
  };
  const auto a = sums(moved), b = sums(home);
  CHECK(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// The bits of a conversion by the host, ties between two numbers of 16 bits among them.
template <typename From, typename To = From>
void check_transpose(int64_t rows, int64_t columns) {
  std::vector<From> values;
  for (int64_t i = 0; i < rows * columns; ++i)
    values.push_back(From(i % 3 == 0 ? 1 + float(i) * 0x1p-11f : 1 / float(3 + i * 13 % 17)));
  const auto got = on_host<To>(
      cuda_transpose(dtype_of<From>, dtype_of<To>, on_gpu(values), rows, columns), rows * columns);
  std::vector<To> wanted(values.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      wanted[size_t(c * rows + r)] = To(float(values[size_t(r * columns + c)]));
  CHECK(std::memcmp(got.data(), wanted.data(), got.size() * sizeof(To)) == 0);
}

/// Matrices of many sizes in the types of `dtypes` by turns have the bits of one launch for each.
void check_transpose_all(int64_t count, const std::vector<DType>& dtypes) {
  std::vector<device_internal::FilterMatrix> matrices;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t rows = 1 + i * 7 % 70, columns = 1 + i * 5 % 67;
    std::vector<float> values;
    for (int64_t k = 0; k < rows * columns; ++k) values.push_back(1 / float(3 + (i + k) * 13 % 17));
    matrices.push_back({on_gpu(values), dtypes[size_t(i) % dtypes.size()], rows, columns});
  }
  const std::vector<Array> all = cuda_transpose_all(matrices);
  REQUIRE(all.size() == matrices.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& m = matrices[i];
    const int64_t bytes = m.rows * m.columns * size_of(m.dtype);
    const Array one = cuda_transpose(DType::Float32, m.dtype, m.from, m.rows, m.columns);
    CHECK(on_host<uint8_t>(all[i], bytes) == on_host<uint8_t>(one, bytes));
  }
}

}  // namespace

TEST_CASE("columns are summed, few rows and many", "[device][cuda_backend]") {
  FakeCuda gpu;
  check_sums<float>(1, 1);
  check_sums<float>(7, 33);
  check_sums<float>(2000, 10);
  check_sums<bfloat16>(16, 40);
  check_sums<float16>(1100, 3);
  check_sums<float>(2000, 12);
  check_sums<float>(40, 64);
  check_sums<float>(1100, 260);
  check_sums<bfloat16>(1100, 128);
  check_sums<float16>(9, 264);
  check_sums_of_part<float>(1100, 24);
  check_sums_of_part<bfloat16>(300, 24);
  const Array none = cuda_column_sums(DType::Float32, on_gpu<float>({}), 0, 3);
  CHECK(on_host<float>(none, 3) == std::vector<float>{0, 0, 0});
}

TEST_CASE("matrices are turned round", "[device][cuda_backend]") {
  FakeCuda gpu;
  check_transpose<float>(3, 5);
  check_transpose<float>(1, 5);
  check_transpose<float>(65, 33);
  check_transpose<bfloat16>(25, 64);
  check_transpose<float16>(64, 31);
}

TEST_CASE("matrices are turned round and converted by one launch", "[device][cuda_backend]") {
  FakeCuda gpu;
  const auto check = [](int64_t rows, int64_t columns) {
    check_transpose<float, bfloat16>(rows, columns);
    check_transpose<float, float16>(rows, columns);
    check_transpose<bfloat16, float>(rows, columns);
    check_transpose<float16, float>(rows, columns);
  };
  check(65, 33);
  check(1, 40);
  check(40, 1);
  check(3, 5);
  CHECK(gpu.count("launch transpose_matrix") == 16);
}

TEST_CASE("many matrices are turned round by one launch for each type", "[device][cuda_backend]") {
  FakeCuda gpu;
  const auto launches = [&](int64_t count, const std::vector<DType>& dtypes) {
    gpu.forget_calls();
    check_transpose_all(count, dtypes);
    return gpu.count("launch transpose_matrices");
  };
  CHECK(launches(1, {DType::Float16}) == 0);  // the kernel for one
  CHECK(launches(53, {DType::BFloat16}) == 1);
  CHECK(launches(12, {DType::BFloat16, DType::Float32, DType::Float16}) == 3);
  CHECK(launches(144, {DType::Float16}) == 1);
  CHECK(launches(145, {DType::Float32}) == 2);
}

TEST_CASE("products without elements or without inner elements", "[device][cuda_backend]") {
  FakeCuda gpu;
  const ScopedCudaBlas blas(FakeBlas::table());
  Backend& engine = backend(DeviceType::Gpu);
  CHECK(engine.name() == "cuda");
  const Array none = on_gpu<float>({}), bias = on_gpu<float>({1, -2});
  CHECK(engine.matmul({DType::Float32, 1, 0, 2, 3}, none, bias, nullptr, Epilogue::None)
            .buffer->bytes() == 0);
  CHECK(FakeBlas::products == 0);
  const Array c = engine.matmul({DType::Float32, 1, 2, 2, 0}, none, none, &bias, Epilogue::Relu);
  CHECK(on_host<float>(c, 4) == std::vector<float>{1, 0, 1, 0});
}

TEST_CASE("the backend's kernels compile for every architecture", "[device][cuda_backend]") {
  CudaCompiler compiler;
  if (const std::string problem = load_cuda_compiler(compiler); !problem.empty()) {
    WARN("skipped: " << problem);
    return;
  }
  for (int capability : {80, 86, 90, 100}) {
    const auto text =
        kernel_text({kMatrixText, "column_sums", {}, {}, {DType::BFloat16, DType::Float32}});
    CHECK_FALSE(compile_kernels(compiler, text, "matrix", capability).empty());
  }
}
