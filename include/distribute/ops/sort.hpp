#pragma once
/// Sorting along an axis.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

enum class SortDirection { Ascending, Descending };  // ascending or descending

/// Equal values keep their order, in both directions. Sorting is done on the host.
/// Shapes  as x.
/// Throws  InvalidArgumentError for an axis that does not exist.
/// Source  tf.sort
Tensor sort(const Tensor& x, int axis = -1, SortDirection direction = SortDirection::Ascending);

/// The int32 places along `axis` that sort x.
/// Source  tf.argsort
Tensor argsort(const Tensor& x, int axis = -1, SortDirection direction = SortDirection::Ascending);

}  // namespace distribute
