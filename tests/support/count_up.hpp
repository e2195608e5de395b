#pragma once
/// Tensors whose elements all differ.

#include <distribute/tensor/tensor.hpp>

#include <vector>

/// Gives first, first + 1, ... in this shape.
inline distribute::Tensor count_up(const distribute::Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& value : values) value = first++;
  return {shape, values};
}
