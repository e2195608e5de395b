#pragma once
/// What fit does for modules of several named inputs and outputs: the parts of their batches.

#include <distribute/base/config.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/nn/models.hpp>

namespace distribute::train_internal {

/// Inputs and targets by name; weights by the output that they weigh, "" for all outputs.
struct NamedBatch {
  nn::NamedTensors inputs, targets, weights;
  /// The weights of this output; none where it has none.
  Tensor weight_of(const std::string& output) const;
};

/// Components with names: an input's, an output's for its targets, an output's with "_weight" and
/// "sample_weight" for the weights. Without names they come in this order: all inputs, the targets
/// of all outputs, weights for all outputs or one for each.
/// Throws  InvalidArgumentError for another name or number of components.
NamedBatch named_batch(const nn::NamedModule& module, const data::Batch& batch);

/// Input, target and weights of a module of one input and one output, in this order: components
/// with names come in the order of their names. Batches of other modules stay what they are.
/// Throws  as named_batch.
data::Batch by_position(const nn::Module& module, const data::Batch& batch);

}  // namespace distribute::train_internal
