#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/input_context.hpp>

namespace distribute {

DISTRIBUTE_INLINE int64_t
InputContext::get_per_replica_batch_size(int64_t global_batch_size) const {
  if (global_batch_size % num_replicas_in_sync_ != 0)
    throw InvalidArgumentError(str_cat("the global batch size ", global_batch_size,
                                       " is not divisible by num_replicas_in_sync ",
                                       num_replicas_in_sync_));
  return global_batch_size / num_replicas_in_sync_;
}

DISTRIBUTE_INLINE std::string to_string(const InputContext& context) {
  return str_cat("InputContext(input pipeline id: ", context.input_pipeline_id(),
                 ", total: ", context.num_input_pipelines(), ")");
}

}  // namespace distribute
