#pragma once
/// Collectives on tensors, for strategies over several workers. They use a Communicator, which
/// works in host memory. Tensors on GPUs are copied there and back.

#include <distribute/base/config.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/replica/values.hpp>
#include <distribute/strategy/detail/tensor_places.hpp>
#include <distribute/tensor/tensor.hpp>

#include <span>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

using collective::Communicator;

collective::ReductionOp reduction_op(ReduceOp op);

/// Reduces each tensor over all ranks, which pass the same shapes and dtypes in the same order;
/// those of one dtype are sent together. Sparse tensors are joined, rows in rank order.
std::vector<Tensor> all_reduce_tensors(Communicator& group, ReduceOp op,
                                       std::span<const Tensor> values);

/// Returns the tensors of every rank, in rank order, on the host; shapes may differ. All ranks pass
/// the same number of tensors.
std::vector<std::vector<Tensor>> all_gather_tensors(Communicator& group,
                                                    std::span<const Tensor> values);

/// Returns `value` of rank `root`; the others pass a tensor of the same shape and dtype.
Tensor broadcast_tensor(Communicator& group, const Tensor& value, int root);

/// Returns the texts of all ranks.
std::vector<std::string> all_gather_texts(Communicator& group, const std::string& text);

/// Checks that all ranks describe the same thing, line by line.
/// Throws  FailedPreconditionError on every rank, with the first line that differs.
void check_agreement(Communicator& group, const char* what, const std::string& lines);

}  // namespace distribute::strategy_internal
