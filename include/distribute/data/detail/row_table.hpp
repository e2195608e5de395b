#pragma once
/// Examples that are stored in memory as rows, selected by number, and gathered into a batch in one
/// pass.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace distribute::data {

/// A table gives rows by their numbers. Immutable, thread-safe.
class RowTable {
 public:
  virtual ~RowTable() = default;
  virtual int64_t num_rows() const = 0;
  /// Shapes and types of one row.
  virtual ElementSpec row_spec() const = 0;
  /// Gathers these rows in order, with a batch axis.
  virtual Batch gather(std::span<const int64_t> rows) const = 0;
  /// A number that most likely differs for other values. It covers at most 1 GiB of them.
  virtual uint32_t checksum() const = 0;
};

/// One component of the examples, kept as it was loaded and converted when a batch is made.
struct Column {
  Tensor values;                 // [n, ...]
  DType dtype = values.dtype();  // dtype in the batch
  float divide_by = 1;           // applied when `dtype` is float32 and `values` uint8
  // The shape of one row, with the same number of elements as a row of `values`; unset: the shape
  // in `values`.
  std::optional<std::vector<int64_t>> row_shape = {};
  std::string name = {};  // name of the component
};

/// Makes a table of tensors with equal first axes.
/// Throws  InvalidArgumentError for no columns, scalars, sizes that differ, or a conversion other
///         than uint8 -> float32 and uint8 -> int32 / int64.
std::shared_ptr<const RowTable> make_table(std::vector<Column> columns);

/// Makes a table in which row i is the int64 scalar start + i * step.
std::shared_ptr<const RowTable> make_range_table(int64_t start, int64_t stop, int64_t step);

}  // namespace distribute::data
