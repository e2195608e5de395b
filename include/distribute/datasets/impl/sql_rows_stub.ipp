#pragma once
#if !DISTRIBUTE_HAS_SQLITE
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/sql_rows.hpp>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool has_sqlite() { return false; }

DISTRIBUTE_INLINE std::unique_ptr<BatchStream> sql_rows(const SqlQuery&) {
#if __has_include(<sqlite3.h>)
  const char* const cure = DISTRIBUTE_GET_BY_FLAGS("SQLITE", "libsqlite3-dev", "-lsqlite3");
#else
  const char* const cure = DISTRIBUTE_GET_BY_PACKAGE("libsqlite3-dev");
#endif
  throw UnimplementedError(str_cat("sql_dataset: this build reads no databases; ", cure));
}

}  // namespace distribute::data::data_internal
#endif
