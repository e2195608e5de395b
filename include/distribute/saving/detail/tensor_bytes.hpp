#pragma once
/// Tensors as plain little-endian bytes in row-major order.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::saving_internal {

/// The elements of a tensor, wherever it is.
void append_bytes(std::string& out, const Tensor& value);
/// `bytes` are as many as shape and dtype say.
Tensor tensor_of_bytes(const Shape& shape, DType dtype, std::string_view bytes);
/// Nothing where that many bytes are not a tensor of these sizes, however large these are.
std::optional<Shape> shape_of_bytes(const std::vector<uint64_t>& sizes, DType dtype,
                                    uint64_t bytes);

}  // namespace distribute::saving_internal
