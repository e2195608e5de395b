#pragma once
/// Writing some rows of a variable's value: what the scatter methods of variables compute.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>

namespace distribute {

/// How a row and its new values become the new row.
enum class ScatterOp { Sub, Add, Mul, Div, Min, Max, Update };

/// "scatter_sub", as the method of a variable is called.
const char* name_of(ScatterOp op);

namespace autograd_internal {

/// Throws  InvalidArgumentError when the slices do not fit a variable of this shape and dtype, and
///         for a row that does not exist.
void check_scatter(ScatterOp op, const std::string& variable, const Shape& shape, DType dtype,
                   const IndexedSlices& slices);

/// `value` with its rows slices.indices changed, in the slices' order: a row that comes twice is
/// changed twice. The result is row-major and on the value's device.
Tensor scattered(ScatterOp op, const Tensor& value, const IndexedSlices& slices);

}  // namespace autograd_internal

}  // namespace distribute
