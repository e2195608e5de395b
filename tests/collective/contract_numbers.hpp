#pragma once
/// What ranks put in, and what a reduction makes of it by the specification. The source is compiled
/// with optimization also where tests are not: they would spend most of their time here.

#include <distribute/collective/operation.hpp>

#include <cstdint>
#include <vector>

namespace contract {

/// Numbers of a rank: roundings differ with the order of a sum. For all dtypes that are reduced.
template <typename T>
std::vector<T> numbers(int rank, int64_t count, uint64_t salt = 0);

/// The parts of the ranks reduced element by element: neighbours are joined, then neighbouring
/// pairs, and so on; who has no neighbour waits for a later round. 16-bit floats add in float32.
template <typename T>
std::vector<T> expected(distribute::collective::ReductionOp op,
                        const std::vector<std::vector<T>>& parts);

}  // namespace contract
