#include <distribute/device/detail/plain_product.hpp>

#include "../support/catch.hpp"

using namespace distribute;
using device_internal::plain_product;

namespace {

const Device kHost{};

template <typename T>
Array array_of(const std::vector<T>& values) {
  Array array = make_array(int64_t(values.size() * sizeof(T)), kHost);
  std::copy(values.begin(), values.end(), array.data<T>());
  return array;
}

template <typename T>
std::vector<T> values_of(const Array& array, size_t count) {
  return {array.data<T>(), array.data<T>() + count};
}

// a = [1 2 3; 4 5 6], b = [7 8; 9 10; 11 12], a b = [58 64; 139 154]
const std::vector<int64_t> kA{1, 2, 3, 4, 5, 6}, kTurnedA{1, 4, 2, 5, 3, 6};
const std::vector<int64_t> kB{7, 8, 9, 10, 11, 12}, kTurnedB{7, 9, 11, 8, 10, 12};
const std::vector<int64_t> kProduct{58, 64, 139, 154};

}  // namespace

TEST_CASE("whole numbers are multiplied with either side transposed", "[device][plain_product]") {
  for (const bool turn_a : {false, true})
    for (const bool turn_b : {false, true}) {
      const MatmulShape shape{DType::Int64, 1, 2, 2, 3, turn_a, turn_b};
      const Array c = plain_product(shape, array_of(turn_a ? kTurnedA : kA),
                                    array_of(turn_b ? kTurnedB : kB), nullptr, Epilogue::None);
      CHECK(values_of<int64_t>(c, 4) == kProduct);
    }
}

TEST_CASE("each matrix of a batch is multiplied by its own", "[device][plain_product]") {
  const MatmulShape shape{DType::Int32, 2, 1, 1, 2};
  const Array c = plain_product(shape, array_of<int32_t>({1, 2, 3, 4}),
                                array_of<int32_t>({5, 6, 7, 8}), nullptr, Epilogue::None);
  CHECK(values_of<int32_t>(c, 2) == std::vector<int32_t>{17, 53});
}

TEST_CASE("a product over nothing is the bias behind ReLU", "[device][plain_product]") {
  const MatmulShape shape{DType::Float32, 1, 2, 2, 0};
  const Array none = array_of<float>({}), bias = array_of<float>({-1, 2});
  const Array c = plain_product(shape, none, none, &bias, Epilogue::Relu);
  CHECK(values_of<float>(c, 4) == std::vector<float>{0, 2, 0, 2});
}

TEST_CASE("some rows of a product with the left side transposed", "[device][plain_product]") {
  const MatmulShape shape{DType::Float32, 1, 2, 2, 3, true, false};
  const std::vector<float> a{1, 4, 2, 5, 3, 6}, b{7, 8, 9, 10, 11, 12};
  std::vector<float> row(2);
  device_internal::plain_rows(shape, a.data(), b.data(), 1, 2, row.data());
  CHECK(row == std::vector<float>{139, 154});
}
