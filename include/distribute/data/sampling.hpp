#pragma once
/// Elements of several datasets in an order that is chosen, or drawn by weights.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::data {

/// Takes each next element from the input whose number `choices` (int64 scalars) gives. Ends with
/// `choices`, and with the first input that is found empty where `stop_on_empty_dataset`; else
/// choices of an ended input are passed over.
/// Throws  InvalidArgumentError for no inputs, elements that do not fit together, or a choice that
///         is no input's number.
/// Source  tf.data.Dataset.choose_from_datasets
NodePtr choose_node(std::vector<NodePtr> inputs, NodePtr choices, bool stop_on_empty_dataset);

/// Options of sample_from_datasets(). Source  tf.data.Dataset.sample_from_datasets
struct SampleOptions {
  /// One per dataset; none: equal weights.
  std::vector<double> weights = {};
  /// As ShuffleOptions::seed.
  std::optional<uint64_t> seed = {};
  bool stop_on_empty_dataset = false;
  bool rerandomize_each_iteration = true;
};

/// As choose_node with choices that are drawn; TensorFlow draws others.
/// Throws  InvalidArgumentError for weights that are negative, all 0 or not as many as inputs.
NodePtr sample_node(std::vector<NodePtr> inputs, const SampleOptions& options);

}  // namespace distribute::data
