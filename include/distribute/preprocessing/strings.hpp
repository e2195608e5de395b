#pragma once
/// Strings as tensors: what lookups and text layers take and give.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute::preprocessing {

/// A tensor of strings is uint8 with one axis more, the bytes of each, filled up with 0 to the
/// longest: uint8 [2, 5] holds two strings. Lines of a TextLineDataset are single strings,
/// padded_batch joins them. Strings live on the host.

/// Shapes  n strings -> uint8 [n, longest]
Tensor strings_tensor(const std::vector<std::string>& strings);
/// The same in `shape`, which has as many places. Shapes  [d0, ...] -> uint8 [d0, ..., longest]
Tensor strings_tensor(const std::vector<std::string>& strings, const Shape& shape);

/// All strings of a tensor in order, without the zeros behind each; they live as long as it does.
/// Throws  InvalidArgumentError for a tensor that is not uint8 or has no axes.
std::vector<std::string_view> string_views(const Tensor& strings);
std::vector<std::string> strings_of(const Tensor& strings);
/// The shape without the axis of bytes.
Shape shape_of_strings(const Tensor& strings);

}  // namespace distribute::preprocessing
