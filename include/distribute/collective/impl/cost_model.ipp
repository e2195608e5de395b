#pragma once
#include <distribute/collective/detail/cost_model.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace distribute::collective {

DISTRIBUTE_INLINE const char* name_of(AllReduceAlgorithm algorithm) {
  switch (algorithm) {
    case AllReduceAlgorithm::Exchange: return "exchange";
    case AllReduceAlgorithm::Bruck: return "bruck";
    case AllReduceAlgorithm::Direct: return "direct";
    case AllReduceAlgorithm::Chain: return "chain";
    case AllReduceAlgorithm::Ring: return "ring";
  }
  return "unknown algorithm";
}

DISTRIBUTE_INLINE int64_t chain_segment_bytes(int64_t bytes, int ranks, const LinkCosts& costs,
                                              int64_t segment_bytes) {
  // At this size filling the pipeline costs as much as its messages.
  const double best = std::sqrt(2 * double(bytes) * costs.per_message * costs.bytes_per_second /
                                std::max(ranks - 1, 1));
  return std::clamp(int64_t(best), std::min<int64_t>(4096, segment_bytes), segment_bytes);
}

DISTRIBUTE_INLINE double chain_seconds(double bytes, double hops, const LinkCosts& costs,
                                       double segment_bytes) {
  const double segment = std::min(bytes, segment_bytes);
  const double transfer = segment / costs.bytes_per_second;
  const double sum = 2 * segment / costs.reduced_bytes_per_second;
  const double segments = segment > 0 ? std::ceil(bytes / segment) : 1;
  const double hop = costs.latency + 2 * costs.per_message + transfer;
  // Between others a rank gets sums and results, at the ends of the chain one of them.
  const double crossings = hops > 1 ? 2 : 1;
  return 2 * hops * hop + hops * sum +
         (segments - 1) * (crossings * (transfer + 2 * costs.per_message) + sum);
}

DISTRIBUTE_INLINE double all_reduce_seconds(AllReduceAlgorithm algorithm, int64_t array_bytes,
                                            int ranks, const LinkCosts& costs,
                                            int64_t segment_bytes) {
  if (ranks < 2) return 0;
  const double bytes = double(array_bytes), n = ranks, others = n - 1;
  const double message = 2 * costs.per_message;  // sent here, another received
  const double everything = others * bytes / costs.bytes_per_second;
  const double shares = 2 * others / n * bytes / costs.bytes_per_second;
  const double sum_of_all = n * bytes / costs.reduced_bytes_per_second;
  const double sum_of_part = bytes / costs.reduced_bytes_per_second;
  const double segments = std::max(1.0, std::ceil(bytes / n / double(segment_bytes)));
  switch (algorithm) {
    case AllReduceAlgorithm::Exchange:
      return costs.latency + others * message + everything + sum_of_all;
    case AllReduceAlgorithm::Bruck:
      return std::bit_width(unsigned(ranks - 1)) * (costs.latency + message) + everything +
             sum_of_all;
    case AllReduceAlgorithm::Direct:
      return 2 * (costs.latency + others * segments * message) + shares + sum_of_part;
    case AllReduceAlgorithm::Chain:
      return chain_seconds(bytes, others, costs,
                           double(chain_segment_bytes(array_bytes, ranks, costs, segment_bytes)));
    case AllReduceAlgorithm::Ring:
      return 2 * others * (costs.latency + message) + shares + sum_of_part;
  }
  return 0;
}

DISTRIBUTE_INLINE AllReduceAlgorithm choose_algorithm(int64_t bytes, int ranks,
                                                      const LinkCosts& costs,
                                                      int64_t segment_bytes) {
  static constexpr int64_t kMostGathered = 64 << 20;  // memory for the arrays of all ranks
  const bool few = ranks <= kMostDirectRanks;
  const auto gathered = few ? AllReduceAlgorithm::Exchange : AllReduceAlgorithm::Bruck;
  const auto shared = few ? AllReduceAlgorithm::Direct : AllReduceAlgorithm::Chain;
  if (bytes > kMostGathered / ranks) return shared;
  const auto seconds = [&](AllReduceAlgorithm algorithm) {
    return all_reduce_seconds(algorithm, bytes, ranks, costs, segment_bytes);
  };
  return seconds(gathered) <= seconds(shared) ? gathered : shared;
}

DISTRIBUTE_INLINE double step_seconds(const StepShape& step, int ranks, const LinkCosts& costs) {
  double network = 0;  // when it is free again
  int64_t done = 0;
  for (int64_t bucket = step.first_bucket_bytes; done < step.gradient_bytes;
       bucket = step.bucket_bytes) {
    const int64_t bytes = std::min(bucket, step.gradient_bytes - done);
    done += bytes;
    const double ready =
        step.forward_seconds + step.backward_seconds * double(done) / double(step.gradient_bytes);
    network = std::max(network, ready) +
              all_reduce_seconds(choose_algorithm(bytes, ranks, costs), bytes, ranks, costs);
  }
  return std::max(step.forward_seconds + step.backward_seconds, network);
}

}  // namespace distribute::collective
