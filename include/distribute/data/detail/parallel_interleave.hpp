#pragma once
/// Reads the parts of an interleaved dataset with several threads.

#include <distribute/base/config.hpp>
#include <distribute/data/detail/autotune.hpp>
#include <distribute/data/detail/interleave.hpp>

#include <cstdint>
#include <memory>

namespace distribute::data::data_internal {

/// Gives the same elements and positions as the stream of one thread. `function` must outlive it.
std::unique_ptr<BatchStream> parallel_interleave(std::unique_ptr<BatchStream> input,
                                                 const NodeFunction& function,
                                                 const InterleaveOptions& options, const Pass& pass,
                                                 const StageThreads& threads);

}  // namespace distribute::data::data_internal
