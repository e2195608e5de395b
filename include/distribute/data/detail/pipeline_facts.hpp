#pragma once
/// What a saved position says about its pipeline, so that one that does not fit can be explained.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data::data_internal {

/// The end of a saved position: a few numbers of the pipeline, such as the batch size, and a mark.
std::vector<int64_t> pipeline_facts(const Node& node);

/// A saved position without the facts, and the facts; none where it has none.
std::pair<std::span<const int64_t>, std::span<const int64_t>> split_facts(
    std::span<const int64_t> state);

/// Which of the facts have changed, and what to do about it.
std::string what_changed(std::span<const int64_t> saved, const Node& node);

}  // namespace distribute::data::data_internal
