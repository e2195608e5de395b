#pragma once
/// Parts of batches of modules with several named inputs and outputs.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/nn/models.hpp>

namespace distribute::train_internal {

/// Inputs and targets by name; weights by the name of their output, "" for all outputs.
struct NamedBatch {
  nn::NamedTensors inputs, targets, weights;
  /// Returns the weights of this output; empty if it has none.
  Tensor weight_of(const std::string& output) const;
};

/// Assigns components by name: an input's, an output's for its targets, an output's with "_weight"
/// and "sample_weight" for the weights. Without names their order is: all inputs, the targets of
/// all outputs, weights for all outputs or one for each.
/// Throws  InvalidArgumentError for another name or number of components.
NamedBatch named_batch(const nn::NamedModule& module, const data::Batch& batch);

/// Returns input, target and weights of a module of one input and one output, in this order;
/// components may come in the order of their names. Batches of other modules are returned
/// unchanged.
/// Throws  as named_batch.
data::Batch by_position(const nn::Module& module, const data::Batch& batch);

}  // namespace distribute::train_internal
