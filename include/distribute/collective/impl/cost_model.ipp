#pragma once
#include <distribute/collective/detail/cost_model.hpp>
#include <distribute/collective/detail/sum_order.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace distribute::collective {

DISTRIBUTE_INLINE const char* name_of(AllReduceAlgorithm algorithm) {
  switch (algorithm) {
    case AllReduceAlgorithm::Exchange: return "exchange";
    case AllReduceAlgorithm::Doubling: return "doubling";
    case AllReduceAlgorithm::Direct: return "direct";
    case AllReduceAlgorithm::Halving: return "halving";
    case AllReduceAlgorithm::Ring: return "ring";
  }
  return "unknown algorithm";
}

DISTRIBUTE_INLINE int rounds_of(int ranks) { return int(std::bit_width(unsigned(ranks - 1))); }

/// Returns the most messages that a rank sends on the way up: one for each join, but several of the
/// right branch go to the left where that has more ranks.
DISTRIBUTE_INLINE int halving_messages(int ranks) {
  const int left = left_ranks(ranks), right = ranks - left;
  return rounds_of(ranks) - 1 + (left + right - 1) / right;
}

DISTRIBUTE_INLINE int64_t section_bytes(int ranks, const LinkCosts& costs, int64_t segment_bytes) {
  const double messages = 2.0 * halving_messages(ranks) * 2 * costs.per_message;
  const int64_t least = 4 * segment_bytes;
  return std::clamp(int64_t(5 * messages * costs.bytes_per_second), least,
                    std::max<int64_t>(least, 32 << 20));
}

DISTRIBUTE_INLINE double doubling_seconds(double bytes, int ranks, const LinkCosts& costs) {
  // Where ranks are no power of two some get the right branch's sum from others.
  const double rounds = rounds_of(ranks) + (std::has_single_bit(unsigned(ranks)) ? 0 : 1);
  return rounds * (costs.latency + 2 * costs.per_message + bytes / costs.bytes_per_second +
                   2 * bytes / costs.reduced_bytes_per_second);
}

/// Sections follow each other at the pace of the link and the core; the first also waits for all
/// latencies.
DISTRIBUTE_INLINE double halving_seconds(double bytes, int ranks, const LinkCosts& costs,
                                         double most_section) {
  const double section = std::min(bytes, most_section);
  const double sections = section > 0 ? std::ceil(bytes / section) : 1;
  const double share = double(ranks - 1) / ranks;
  return 2 * rounds_of(ranks) * costs.latency +
         sections * 2 * halving_messages(ranks) * 2 * costs.per_message +
         2 * share * bytes / costs.bytes_per_second +
         2 * share * bytes / costs.reduced_bytes_per_second;
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
    case AllReduceAlgorithm::Doubling: return doubling_seconds(bytes, ranks, costs);
    case AllReduceAlgorithm::Direct:
      return 2 * (costs.latency + others * segments * message) + shares + sum_of_part;
    case AllReduceAlgorithm::Halving:
      return halving_seconds(bytes, ranks, costs,
                             double(section_bytes(ranks, costs, segment_bytes)));
    case AllReduceAlgorithm::Ring:
      return 2 * others * (costs.latency + message) + shares + sum_of_part;
  }
  return 0;
}

DISTRIBUTE_INLINE AllReduceAlgorithm choose_algorithm(int64_t bytes, int ranks,
                                                      const LinkCosts& costs,
                                                      int64_t segment_bytes) {
  static constexpr int64_t kMostGathered = 64 << 20;  // memory for arrays of others
  const bool few = ranks <= kMostDirectRanks;
  const auto whole = few ? AllReduceAlgorithm::Exchange : AllReduceAlgorithm::Doubling;
  const auto shared = few ? AllReduceAlgorithm::Direct : AllReduceAlgorithm::Halving;
  if (few && bytes > kMostGathered / ranks) return shared;
  const auto seconds = [&](AllReduceAlgorithm algorithm) {
    return all_reduce_seconds(algorithm, bytes, ranks, costs, segment_bytes);
  };
  return seconds(whole) <= seconds(shared) ? whole : shared;
}

DISTRIBUTE_INLINE int broadcast_children(int64_t bytes, int ranks, const LinkCosts& costs,
                                         int64_t segment_bytes) {
  const double segment = double(std::min(bytes, segment_bytes)) / costs.bytes_per_second;
  const double transfer = double(bytes) / costs.bytes_per_second;
  const double hop = costs.latency + 2 * costs.per_message;
  const double chain = (ranks - 1) * (hop + segment) + transfer;
  const double tree = rounds_of(ranks) * (hop + 2 * segment) + 2 * transfer;
  return chain <= tree ? 1 : 2;
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
