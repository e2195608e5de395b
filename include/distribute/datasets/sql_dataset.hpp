#pragma once
/// Datasets of the rows of a database.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>

#include <string>
#include <vector>

namespace distribute::data {

/// Gives the rows that `query` selects in the SQLite database `data_source_name`, as elements of
/// one component for each of `output_types`: scalars of Int32, Int64, Float32 or Bool, and UInt8
/// for texts and blobs, which become bytes (data/element_spec.hpp). NULL is 0, false or no bytes. A
/// database in an object store is read into memory. The position is the number of rows given, so
/// that a query needs an ORDER BY. Workers share the rows by AutoShardPolicy::Data.
/// Throws  InvalidArgumentError for another driver than "sqlite" or other types; while reading for
///         another number of columns, and, with row and column, for a value that is not of its
///         type or outside of it (TensorFlow gives 0 and the low bits then). NotFoundError for a
///         missing database; UnknownError with SQLite's message; UnimplementedError in a build
///         without libsqlite3-dev.
/// Source  tf.data.experimental.SqlDataset
Dataset sql_dataset(const std::string& driver_name, const std::string& data_source_name,
                    const std::string& query, std::vector<DType> output_types);

}  // namespace distribute::data
