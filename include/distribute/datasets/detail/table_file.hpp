#pragma once
/// Reads the rows of one Parquet or Arrow file.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/datasets/tables.hpp>

#include <memory>
#include <string>

namespace distribute::data::data_internal {

enum class TableFormat { Parquet, Arrow };

/// A file that is open for reading. Thread-compatible.
class TableFile {
 public:
  virtual ~TableFile() = default;
  /// The components of a row: the columns that were asked for.
  virtual const ElementSpec& spec() const = 0;
  /// Gives the next row; false at the end.
  virtual bool next(Batch& row) = 0;
  /// Passes over up to `count` rows and returns how many there were.
  virtual int64_t skip(int64_t count) = 0;
  /// Number of rows before the next one, with those that next() has refused.
  virtual int64_t passed() const = 0;
  /// Whether the end has come, or an error that ends the file: one that is not of a single row.
  virtual bool ended() const = 0;
};

/// Returns whether this build has Arrow's C++ library.
bool has_arrow();

/// Opens a file. Throws  what parquet_dataset() throws.
std::unique_ptr<TableFile> open_table(const std::string& path, TableFormat format,
                                      const TableOptions& options);

}  // namespace distribute::data::data_internal
