#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/reducing_replica_context.hpp>

namespace distribute {

struct ReducingReplicaContext::Call {
  ReduceOp op;
  std::span<const Tensor> values;
  std::vector<Tensor> results = {};

  static void reduce(replica_internal::Meeting<Call> calls, CrossDeviceOps& ops);
};

DISTRIBUTE_INLINE void ReducingReplicaContext::Call::reduce(replica_internal::Meeting<Call> calls,
                                                            CrossDeviceOps& ops) {
  const Call& first = calls[0];
  std::vector<std::vector<Tensor>> values(first.values.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    const Call& call = calls[r];
    if (call.values.size() != values.size() || call.op != first.op)
      throw InvalidArgumentError(str_cat(
          "all_reduce: replicas disagree: replica 0 reduces ", values.size(), " tensors, replica ",
          r, " ", call.values.size(), call.op != first.op ? ", with another ReduceOp" : ""));
    // The values are renamed, so that the calling replica's tape does not record the operations on
    // them.
    for (size_t i = 0; i < values.size(); ++i) values[i].push_back(call.values[i].renamed());
  }
  const std::vector<Tensor> results = ops.batch_reduce(first.op, values);
  calls.for_each([&](Call& call) { call.results = results; });
}

DISTRIBUTE_INLINE std::vector<Tensor> ReducingReplicaContext::all_reduce(
    ReduceOp op, std::span<const Tensor> values) {
  check_current("all_reduce");
  Call call{op, values};
  local_replicas().meet(local_replica_id(), "all_reduce", call,
                        [&](replica_internal::Meeting<Call> calls) { Call::reduce(calls, *ops_); });
  return hand_out(op, values, call.results);
}

}  // namespace distribute
