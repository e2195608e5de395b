#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/operation.hpp>

#include <numeric>

namespace distribute::collective {

DISTRIBUTE_INLINE const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::AllReduce: return "all_reduce";
    case Collective::Reduce: return "reduce";
    case Collective::ReduceScatter: return "reduce_scatter";
    case Collective::AllGather: return "all_gather";
    case Collective::Gather: return "gather";
    case Collective::Broadcast: return "broadcast";
    case Collective::AllToAll: return "all_to_all";
    case Collective::Send: return "send";
    case Collective::Receive: return "receive";
    case Collective::Barrier: return "barrier";
  }
  return "unknown collective";
}

DISTRIBUTE_INLINE const char* name_of(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum: return "sum";
    case ReductionOp::Mean: return "mean";
    case ReductionOp::Min: return "min";
    case ReductionOp::Max: return "max";
    case ReductionOp::Product: return "product";
  }
  return "unknown reduction";
}

DISTRIBUTE_INLINE int64_t total(std::span<const int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

DISTRIBUTE_INLINE int64_t bytes_of(const Operation& operation) {
  const int64_t count = operation.counts.empty() ? operation.count : total(operation.counts);
  return count * size_of(operation.dtype);
}

DISTRIBUTE_INLINE Traffic traffic_of(const Operation& operation, int rank, int size) {
  const int64_t bytes = bytes_of(operation);
  const bool root = operation.peer == rank;
  const int64_t own =
      operation.counts.empty() ? 0 : operation.counts[size_t(rank)] * size_of(operation.dtype);
  switch (operation.kind) {
    case Collective::AllReduce:
      return {2 * bytes * (size - 1) / size, 2 * bytes * (size - 1) / size};
    case Collective::Reduce: return root ? Traffic{0, bytes} : Traffic{bytes, 0};
    case Collective::ReduceScatter: return {bytes - own, own * (size - 1)};
    case Collective::AllGather: return {own * (size - 1), bytes - own};
    case Collective::Gather: return root ? Traffic{0, bytes - own} : Traffic{own, 0};
    case Collective::Broadcast: return root ? Traffic{bytes, 0} : Traffic{0, bytes};
    case Collective::AllToAll: {
      const int64_t others = operation.count * (size - 1) * size_of(operation.dtype);
      return {others, others};
    }
    case Collective::Send: return {bytes, 0};
    case Collective::Receive: return {0, bytes};
    case Collective::Barrier: break;
  }
  return {};
}

DISTRIBUTE_INLINE Signature signature_of(const Operation& operation) {
  Signature signature{.sequence = operation.sequence,
                      .count = operation.count,
                      .kind = operation.kind,
                      .op = operation.op,
                      .dtype = operation.dtype,
                      .peer = operation.peer};
  uint64_t hash = operation.counts.empty() ? 0 : 14695981039346656037u;  // FNV-1a
  for (int64_t count : operation.counts) hash = (hash ^ uint64_t(count)) * 1099511628211u;
  signature.counts_hash = hash;
  return signature;
}

DISTRIBUTE_INLINE std::string to_string(const Signature& signature) {
  const bool reduces = signature.kind == Collective::AllReduce ||
                       signature.kind == Collective::Reduce ||
                       signature.kind == Collective::ReduceScatter;
  const bool rooted = signature.kind == Collective::Reduce ||
                      signature.kind == Collective::Gather ||
                      signature.kind == Collective::Broadcast;
  std::string text = name_of(signature.kind);
  if (reduces) text += str_cat("(", name_of(signature.op), ")");
  text += str_cat(" #", signature.sequence);
  if (signature.kind == Collective::Barrier) return text;
  text += str_cat(" ", distribute::name_of(signature.dtype), " x ", signature.count);
  if (rooted) text += str_cat(", root ", signature.peer);
  return text;
}

DISTRIBUTE_INLINE void check_same(const Signature& mine, int my_rank, const Signature& other,
                                  int other_rank) {
  if (mine == other) return;
  std::string message =
      str_cat("the ranks do not run the same collective: rank ", my_rank, " runs ", to_string(mine),
              ", rank ", other_rank, " runs ", to_string(other));
  if (to_string(mine) == to_string(other)) message += " with other counts per rank";
  throw FailedPreconditionError(
      message + "; every rank must make the same calls in the same order with the same shapes");
}

}  // namespace distribute::collective
