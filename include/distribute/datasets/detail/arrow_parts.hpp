#pragma once
/// The parts of Parquet and Arrow files, which are read one after another.

#if DISTRIBUTE_HAS_ARROW
#include <distribute/base/config.hpp>
#include <distribute/datasets/detail/table_file.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow

namespace distribute::data::data_internal {

/// The parts of an open file in order: Parquet's row groups, Arrow's batches. Thread-compatible.
class TableParts {
 public:
  virtual ~TableParts() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  /// Gives the next rows of these columns; null at the end.
  virtual std::shared_ptr<arrow::RecordBatch> next(const std::vector<int>& columns) = 0;
  /// Passes over whole parts, unread, that have at most `count` rows together; returns their rows.
  virtual int64_t skip_parts(int64_t) { return 0; }
};

/// Opens a file. Throws  what parquet_dataset() throws.
std::unique_ptr<TableParts> open_parts(const std::string& path, TableFormat format);

}  // namespace distribute::data::data_internal
#endif
