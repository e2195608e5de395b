#pragma once
/// What the memory of this machine can carry, measured without a library.

#include <cstddef>
#include <cstdint>
#include <span>

namespace distribute_tools {

/// The least that a rank does in an all-reduce of arrays that all ranks see: reads elements
/// [begin, end) of all of them, adds, and writes the sum into all.
void sum_in_place(std::span<float* const> arrays, int64_t begin, int64_t end);

/// The least that a rank does where its array is its own: reads it, and writes as much.
void copy_array(const float* from, float* to, int64_t count);

}  // namespace distribute_tools
