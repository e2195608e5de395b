#pragma once
/// Reads the rows of a query.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <memory>
#include <string>
#include <vector>

namespace distribute::data::data_internal {

/// A query, and the element types of its columns.
struct SqlQuery {
  std::string database = {}, text = {};
  std::vector<DType> types = {};
};

/// Whether this build has SQLite.
bool has_sqlite();

/// Starts the query at its first row. `query` outlives the stream.
std::unique_ptr<BatchStream> sql_rows(const SqlQuery& query);

}  // namespace distribute::data::data_internal
