#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/strategy/detail/gradient_packs.hpp>
#include <distribute/strategy/detail/nccl_replica_context.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>

#include <algorithm>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE bool goes_over_nccl(ReduceOp op, std::span<const Tensor> values) {
  return std::all_of(values.begin(), values.end(), [&](const Tensor& value) {
    return ops_internal::on_gpu(value) && !is_indexed_slices(value) &&
           (op != ReduceOp::Mean || is_floating(value.dtype()));
  });
}

DISTRIBUTE_INLINE std::vector<Tensor> all_reduce_over_nccl(collective::Communicator& gpus,
                                                           ReduceOp op,
                                                           std::span<const Tensor> values) {
  const Device gpu = current_device();
  std::vector<std::vector<Tensor>> mine;
  for (const Tensor& value : values) mine.push_back({value.row_major()});
  const auto sum = [&](const std::vector<Tensor>& pack) {
    const Tensor& all = pack[0];
    const Tensor result = Tensor::empty(all.shape(), all.dtype(), gpu);
    const char* const from = all.array().bytes();
    char* const to = result.array().bytes();
    if (const RecordedStep* step = RecordedStep::current()) {
      gpus.record_all_reduce(from, to, all.num_elements(), all.dtype(), reduction_op(op),
                             step->graph_life());
      gpus.join_recorded();
    } else {
      gpus.all_reduce(from, to, all.num_elements(), all.dtype(), reduction_op(op));
    }
    return result;
  };
  return reduce_in_packs(mine, 1, sum);
}

}  // namespace distribute::strategy_internal
