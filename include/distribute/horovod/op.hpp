#pragma once
/// How hvd operations make one value out of the ranks'.

#include <distribute/base/config.hpp>

#include <cstdint>

namespace distribute::hvd {

/// Sums are taken in rank order; 16-bit floats add in float32. An average divides by the number of
/// ranks of the process set, those that have joined included.
/// Source  horovod.Average, Sum, Min, Max, Product
enum class Op : uint8_t { Average, Sum, Min, Max, Product };
inline constexpr Op Average = Op::Average;
inline constexpr Op Sum = Op::Sum;
inline constexpr Op Min = Op::Min;
inline constexpr Op Max = Op::Max;
inline constexpr Op Product = Op::Product;

/// "average".
const char* name_of(Op op);

}  // namespace distribute::hvd
