#pragma once
/// Estimates the time of collectives on a network, and chooses the fastest algorithm.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::collective {

/// A network of equal hosts, each with one full-duplex link to a switch that never blocks: the
/// alpha-beta model. The defaults are those of loopback TCP on a machine of two cores.
struct LinkCosts {
  double latency = 12e-6;                 // from one rank's send to the other's receive
  double per_message = 3e-6;              // time of a core, at each end
  double bytes_per_second = 1.3e9;        // per link and direction
  double reduced_bytes_per_second = 8e9;  // read by sums
};

enum class AllReduceAlgorithm : uint8_t {  // ways to sum
  // each rank sends all to each, and sums all: one network latency
  Exchange,
  Doubling,  // log2(n) exchanges of the whole array: recursive doubling
  Direct,    // each rank sums one part of the array, then sends it to each
  Halving,   // log2(n) exchanges of ever smaller parts, and back: recursive halving and doubling
  Ring,      // for comparison: its sums depend on where the array is cut
};
const char* name_of(AllReduceAlgorithm algorithm);  // for messages

/// Largest group in which every rank talks to every other at once.
inline constexpr int kMostDirectRanks = 16;

/// Estimates the time of an all-reduce.
/// Source  Thakur, Rabenseifner & Gropp 2005; ring: Patarasuk & Yuan 2009.
double all_reduce_seconds(AllReduceAlgorithm algorithm, int64_t bytes, int ranks,
                          const LinkCosts& costs = {}, int64_t segment_bytes = 256 << 10);
/// Returns the fastest of the algorithms that sum in the order of sum_order.hpp: up to
/// kMostDirectRanks Exchange or Direct, beyond that Doubling or Halving. It depends only on its
/// arguments, so that ranks agree without communication.
AllReduceAlgorithm choose_algorithm(int64_t bytes, int ranks, const LinkCosts& costs = {},
                                    int64_t segment_bytes = 256 << 10);
/// Returns the bytes of a section that Halving sums at once: at least four segments, and more
/// where its messages would else cost much beside their bytes.
int64_t section_bytes(int ranks, const LinkCosts& costs, int64_t segment_bytes);
/// Returns the number of ranks, 1 or 2, to which each rank passes on the segments of a large
/// broadcast: a chain, or a binary tree.
int broadcast_children(int64_t bytes, int ranks, const LinkCosts& costs, int64_t segment_bytes);

/// One training step of a rank: gradients are completed evenly during the backward pass.
struct StepShape {
  double forward_seconds = 0, backward_seconds = 0;  // of the computation alone
  int64_t gradient_bytes = 0;
  int64_t first_bucket_bytes = 1 << 20, bucket_bytes = 25 << 20;
};
/// Estimates a step in which every bucket's all-reduce runs beside the rest of the backward pass.
double step_seconds(const StepShape& step, int ranks, const LinkCosts& costs = {});

}  // namespace distribute::collective
