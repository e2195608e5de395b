#pragma once
/// A source whose elements stand for files: what autosharding by File deals out.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <string>
#include <vector>

namespace distribute::data {

/// The numbers of `files` in order, int64 scalars, as rows of a table. A worker's share keeps the
/// numbers of the whole list, so that they name the same file on every worker.
/// Throws  InvalidArgumentError for no files.
/// Source  tf.data.Dataset.list_files(shuffle=False), with numbers in place of names
NodePtr file_list_source(std::vector<std::string> files);

/// The files that match `pattern`, sorted: `*`, `?` and `[...]` in the last part of a path.
/// Throws  NotFoundError when there are none or the directory is missing.
/// Source  tf.io.gfile.glob
std::vector<std::string> match_files(const std::string& pattern);

}  // namespace distribute::data
