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
  Bruck,   // as Exchange, in log2(n) rounds
  Direct,  // each rank sums one part of the array, then sends it to each
  Chain,   // running sums go up through the ranks while results come back down
  Ring,    // for comparison: not used, as its sums depend on where the array is cut
};
const char* name_of(AllReduceAlgorithm algorithm);  // for messages

/// Largest group in which every rank talks to every other at once.
inline constexpr int kMostDirectRanks = 16;

/// Estimates the time of an all-reduce.
/// Source  Thakur, Rabenseifner & Gropp 2005; ring: Patarasuk & Yuan 2009.
double all_reduce_seconds(AllReduceAlgorithm algorithm, int64_t bytes, int ranks,
                          const LinkCosts& costs = {}, int64_t segment_bytes = 256 << 10);
/// Returns the fastest of the algorithms that sum in rank order. It depends only on its arguments,
/// so that ranks agree without communication.
AllReduceAlgorithm choose_algorithm(int64_t bytes, int ranks, const LinkCosts& costs = {},
                                    int64_t segment_bytes = 256 << 10);
/// Returns the segment size, at most `segment_bytes`, that a chain of ranks passes on fastest.
int64_t chain_segment_bytes(int64_t bytes, int ranks, const LinkCosts& costs,
                            int64_t segment_bytes);

/// One training step of a rank: gradients are completed evenly during the backward pass.
struct StepShape {
  double forward_seconds = 0, backward_seconds = 0;  // of the computation alone
  int64_t gradient_bytes = 0;
  int64_t first_bucket_bytes = 1 << 20, bucket_bytes = 25 << 20;
};
/// Estimates a step in which every bucket's all-reduce runs beside the rest of the backward pass.
double step_seconds(const StepShape& step, int ranks, const LinkCosts& costs = {});

}  // namespace distribute::collective
