#pragma once
/// What the memory of this machine can carry, measured without a library.

#include <cstddef>
#include <cstdint>
#include <span>

namespace distribute_tools {

/// The least that a rank does in an all-reduce of arrays that all ranks see: reads elements
/// [begin, end) of all of them, adds, and writes the sum into all.
void sum_in_place(std::span<float* const> arrays, int64_t begin, int64_t end);

/// The size of a slot for sum_through_slots(): both of a rank's fit into a second-level cache.
inline constexpr int64_t kSlotFloats = int64_t{1} << 16;

/// The least that a rank does where its array is its own: puts what others sum into its slot, which
/// all ranks see, sums its share of all, and takes the other sums from their slots. Without waiting
/// for other ranks: the sums are wrong.
void sum_through_slots(float* array, std::span<float* const> slots, int rank, int64_t count);

}  // namespace distribute_tools
