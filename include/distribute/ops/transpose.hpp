#pragma once
/// Another order of a tensor's axes.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <initializer_list>
#include <span>

namespace distribute {

/// Axis i of the result is axis permutation[i] of x; no permutation reverses the axes.
/// Throws  InvalidArgumentError when `permutation` does not name every axis once.
/// Source  tf.transpose
Tensor transpose(const Tensor& x, std::span<const int> permutation = {});
inline Tensor transpose(const Tensor& x, std::initializer_list<int> permutation) {
  return transpose(x, std::span(permutation.begin(), permutation.size()));
}

}  // namespace distribute
