#pragma once
/// Transformations that combine datasets or keep elements: zip, concatenate, cache.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <vector>

namespace distribute::data {

/// Joins the components of all inputs' elements; ends with the shortest input.
/// Throws  InvalidArgumentError for no inputs.
/// Source  tf.data.Dataset.zip
NodePtr zip_node(std::vector<NodePtr> inputs);

/// Gives all elements of the first dataset, then all of the second.
/// Throws  InvalidArgumentError when their elements do not fit together.
/// Source  tf.data.Dataset.concatenate
NodePtr concatenate_node(NodePtr first, NodePtr second);

/// Keeps the elements (row numbers if there is a table) of the first pass that reaches the end, and
/// gives them again in every later pass. Source  tf.data.Dataset.cache
NodePtr cache_node(NodePtr input);

}  // namespace distribute::data
