#pragma once
/// Writing some rows of a variable's value: what the scatter methods of variables compute.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>

namespace distribute {

/// Says how old and new values of a row, or of what a tuple of indices names, give the value that
/// is kept.
enum class ScatterOp { Sub, Add, Mul, Div, Min, Max, Update };

/// "scatter_sub", as the method of a variable is called.
const char* name_of(ScatterOp op);
/// "scatter_nd_sub".
const char* nd_name_of(ScatterOp op);

namespace autograd_internal {

/// Throws  InvalidArgumentError when the slices do not fit a variable of this shape and dtype, or
///         name a row that does not exist.
void check_scatter(ScatterOp op, const std::string& variable, const Shape& shape, DType dtype,
                   const IndexedSlices& slices);

/// Positions that tuples of indices name in a tensor whose first `depth` axes are seen as one.
struct FlatIndices {
  Tensor positions;
  Shape flat;     // the tensor's shape with one axis for the indexed ones: [product, rest...]
  Shape outcome;  // the shape of the named values: [i..., rest...]
};
/// Errors begin with `op`.
/// Shapes  indices int32 or int64 [i..., depth] -> positions int64 [product of i].
/// Throws  InvalidArgumentError for tuples longer than the rank, and for one out of range.
FlatIndices flat_indices(const char* op, const Shape& shape, const Tensor& indices);

/// Gives `value` with its rows slices.indices changed, in the order of the slices: a row that
/// occurs twice is changed twice. The result is row-major and on the value's device.
Tensor scattered(ScatterOp op, const Tensor& value, const IndexedSlices& slices);

}  // namespace autograd_internal

}  // namespace distribute
