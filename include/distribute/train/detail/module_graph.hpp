#pragma once
/// The tree of a module as a graph for TensorBoard.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/summary/file_writer.hpp>

#include <vector>

namespace distribute::train {

/// A group for each part that has parts; for each layer a node "<path>/<class>" with its output's
/// shape, and a node for each of its weights. A layer has the layer before it as input, in the
/// order in which the layers were added: for branches, which a tree of modules does not know, the
/// dashboard shows their order and not their edges.
std::vector<summary::GraphNode> module_graph(const nn::Module& module);

}  // namespace distribute::train
