#pragma once
/// Values of Arrow's columns as tensors.

#if DISTRIBUTE_HAS_ARROW
#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>

#include <string>

namespace arrow {
class Array;
class DataType;
class Field;
}  // namespace arrow

namespace distribute::data::data_internal {

/// Returns the component that a column becomes.
/// Throws  InvalidArgumentError, with `path` and the column's name, for a type that is none.
TensorSpec spec_of_column(const arrow::Field& field, const std::string& path);

/// A message about one value, without file, row and column.
struct BadValue {
  std::string what;
};

/// Returns a value of a column. `spec` is the column's; with `nulls_are_zero` a missing value is 0,
/// false or empty.
/// Throws  BadValue for a missing value, or a number that does not fit.
Tensor value_of_column(const arrow::Array& column, int64_t row, const TensorSpec& spec,
                       bool nulls_are_zero);

}  // namespace distribute::data::data_internal
#endif
