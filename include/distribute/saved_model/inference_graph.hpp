#pragma once
/// What a model computes when it is used, as a graph that the writers of files share.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::saved_model {

/// Runs the function twice, with batches of two sizes, and lists what it does: all that it calls
/// must be operations of this library whose numbers do not depend on the input.
/// Throws  InvalidArgumentError for an input without axes or with further unknown sizes, and where
///         the two passes differ; UnimplementedError that names an operation which files cannot
///         have; what the function throws.
InferenceGraph trace_inference(const InferenceFunction& function, const TraceOptions& options);

/// The spec of a module's input: as given, else of its first call, the batch unknown.
/// Throws  FailedPreconditionError when there was none.
data::TensorSpec inference_input(const nn::Module& module,
                                 const std::optional<data::TensorSpec>& given);

}  // namespace distribute::saved_model

namespace distribute::saved_model_internal {

/// The operations that lead to the result, which comes last.
std::vector<PassOp> compare_passes(const saved_model::InferenceFunction& function,
                                   const data::TensorSpec& input);

}  // namespace distribute::saved_model_internal
