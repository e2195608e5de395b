#pragma once
/// Reads snapshots of several processes (data/chunked_snapshot.hpp), also while they are written.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>
#include <distribute/io/detail/compression_type.hpp>

#include <string>
#include <string_view>

namespace distribute::data::data_internal {

/// Returns whether the contents of a snapshot.metadata are those for chunks.
bool is_chunks_metadata(std::string_view metadata);
/// Gives the elements of the chunks in `path`. Where no DONE is there yet, a pass waits for further
/// chunks, for each at most `wait_seconds`.
/// Throws  FailedPreconditionError with the contents of ERROR; InvalidArgumentError for another
///         compression than the chunks have. While reading: DeadlineExceededError.
NodePtr chunks_source(const std::string& path, std::string_view metadata,
                      io::Compression compression, double wait_seconds);

}  // namespace distribute::data::data_internal
