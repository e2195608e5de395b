#pragma once
/// The tree of a module as a graph for TensorBoard.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/summary/file_writer.hpp>

#include <vector>

namespace distribute::train {

/// Makes a group for each part that has parts; for each layer a node "<path>/<class>" with its
/// output's shape, and a node for each of its weights. The input of a layer is the layer before it,
/// in the order in which the layers were added. As a tree of modules does not contain the
/// connections of branches, the dashboard shows their order and not their edges.
std::vector<summary::GraphNode> module_graph(const nn::Module& module);

}  // namespace distribute::train
