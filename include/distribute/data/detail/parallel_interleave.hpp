#pragma once
/// The parts of an interleaved dataset, read by several threads.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/interleave.hpp>

#include <cstdint>
#include <memory>

namespace distribute::data::data_internal {

/// As the stream of one thread, which has the same positions. `function` outlives it.
std::unique_ptr<BatchStream> parallel_interleave(std::unique_ptr<BatchStream> input,
                                                 const NodeFunction& function,
                                                 const InterleaveOptions& options, const Pass& pass,
                                                 int64_t num_threads);

}  // namespace distribute::data::data_internal
