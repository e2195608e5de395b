#pragma once
/// Options that a dataset carries along for the strategy that will distribute it.

#include <distribute/base/config.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/node.hpp>

namespace distribute::data {

/// The same elements; `options` override those set further down.
/// Source  tf.data.Dataset.with_options
NodePtr options_node(NodePtr input, const Options& options);

/// What the graph above and including its sources says; the uppermost word counts.
/// Source  tf.data.Dataset.options
Options options_of(const Node& node);

}  // namespace distribute::data
