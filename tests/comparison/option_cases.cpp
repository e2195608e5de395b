#include "option_cases.hpp"

#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <cstdio>

namespace comparison {

using dist::DType;

Tensor positive(const Shape& shape, uint64_t seed) {
  return abs(uniform(shape, seed)) * 0.9f + 0.05f;
}

Tensor bits(const Shape& shape, uint64_t seed) {
  const Tensor x = uniform(shape, seed);
  return cast(greater(x, dist::zeros_like(x)), DType::Float32);
}

Tensor one_hot_of(const Shape& shape, uint64_t seed) {
  const Tensor x = uniform(shape, seed);
  return cast(equal(x, reduce_max(x, {-1}, true) * dist::ones_like(x)), DType::Float32);
}

Tensor class_ids(const Shape& shape, int classes, uint64_t seed) {
  return cast(floor((uniform(shape, seed) + 1.0f) / 2.0f * float(classes)), DType::Int32);
}

std::string python(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  const std::string digits = text;
  return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
}

}  // namespace comparison
