#pragma once
/// Tensors for tests of operations, and comparison with TensorFlow's results.

#include <distribute/tensor/tensor.hpp>

#include "support/catch.hpp"

namespace distribute_test {

using distribute::Shape;
using distribute::Tensor;

inline const Tensor kMatrix({3, 4},
                            std::vector<float>{3, -1, 2, 5, 0.5f, 4, -2, 1, 2.5f, 0.25f, -3, 6});
inline const Tensor kCube = [] {
  std::vector<float> values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i) * 0.25f - 2.0f;
  return Tensor({2, 3, 4}, values);
}();
inline const Tensor kTies{4.0f, 1.0f, 3.0f, 1.0f, 2.0f};
inline const Tensor kIntegers{int32_t{5}, int32_t{3}, int32_t{9}, int32_t{3}, int32_t{1}};

inline void check_tensor(const Tensor& got, const Shape& shape, const std::vector<double>& wanted) {
  CHECK(got.shape() == shape);
  const std::vector<float> values = got.to_vector();
  REQUIRE(values.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    INFO("element " << i);
    CHECK(values[i] == Approx(wanted[i]).epsilon(2e-6).margin(1e-6));
  }
}

}  // namespace distribute_test
