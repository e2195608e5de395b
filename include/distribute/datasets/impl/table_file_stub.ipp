#pragma once
#if !DISTRIBUTE_HAS_ARROW
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/table_file.hpp>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool has_arrow() { return false; }

DISTRIBUTE_INLINE std::unique_ptr<TableFile> open_table(const std::string& path, TableFormat,
                                                        const TableOptions&) {
  throw UnimplementedError(
      str_cat(path,
              ": this build reads no Parquet and Arrow files; install Apache's package "
              "libparquet-dev, or PyPI's pyarrow, and configure with "
              "-DArrowParquet_ROOT=<its folder>"));
}

}  // namespace distribute::data::data_internal
#endif
