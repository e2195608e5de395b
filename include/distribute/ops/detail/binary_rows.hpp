#pragma once
/// Functions of two numbers, and the functions that join two parts of a reduction, as rows of
/// formulas for the CPU's loops and the GPU's kernels.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_text.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace distribute::ops_internal {

// clang-format off
DISTRIBUTE_KERNEL_TEXT(kBinaryRows,

// One row for each function. Integers come as int64; sums and products wrap.
struct Add {
  float operator()(float a, float b) const { return a + b; }
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) + uint64_t(b)); }
};
struct Subtract {
  float operator()(float a, float b) const { return a - b; }
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) - uint64_t(b)); }
};
struct Multiply {
  float operator()(float a, float b) const { return a * b; }
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) * uint64_t(b)); }
};
struct Divide {
  float operator()(float a, float b) const { return a / b; }
};
struct DivideNoNan {
  float operator()(float a, float b) const { return b == 0 ? 0 : a / b; }
};
struct FloorDiv {
  float operator()(float a, float b) const { return std::floor(a / b); }
  int64_t operator()(int64_t a, int64_t b) const {
    if (b == -1) return int64_t(-uint64_t(a));  // the one quotient that overflows wraps
    return a / b - ((a % b != 0) & ((a < 0) != (b < 0)));
  }
};
struct FloorMod {
  float operator()(float a, float b) const {
    const float rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  int64_t operator()(int64_t a, int64_t b) const {
    if (b == -1) return 0;
    const int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
};
// Serves means of integers.
struct Truncated {
  float operator()(float a, float b) const { return a / b; }
  int64_t operator()(int64_t a, int64_t b) const { return a / b; }
};
// A NaN on either side wins.
struct Maximum {
  auto operator()(auto a, auto b) const { return ((a > b) | (a != a)) ? a : b; }
};
struct Minimum {
  auto operator()(auto a, auto b) const { return ((a < b) | (a != a)) ? a : b; }
};
struct Power {
  float operator()(float a, float b) const { return std::pow(a, b); }
  int64_t operator()(int64_t base, int64_t exponent) const {
    uint64_t result = 1;
    for (uint64_t factor = uint64_t(base); exponent > 0; exponent /= 2, factor *= factor)
      if (exponent % 2) result *= factor;
    return int64_t(result);
  }
};
struct Equal {
  bool operator()(auto a, auto b) const { return a == b; }
};
struct NotEqual {
  bool operator()(auto a, auto b) const { return a != b; }
};
struct Less {
  bool operator()(auto a, auto b) const { return a < b; }
};
struct LessEqual {
  bool operator()(auto a, auto b) const { return a <= b; }
};


// Classifies one number; the second is not read.
struct IsNan {
  bool operator()(float x, float) const { return x != x; }
};
struct IsInf {
  bool operator()(float x, float) const { return std::isinf(x); }
};
struct IsFinite {
  bool operator()(float x, float) const { return std::isfinite(x); }
};


// Each reduction has a row with its start value and the function that joins two parts. Integers
// come as int64.
struct SumOf {
  static constexpr auto start(auto) { return 0; }
  float operator()(float a, float b) const { return a + b; }
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) + uint64_t(b)); }
};
struct ProductOf {
  static constexpr auto start(auto) { return 1; }
  float operator()(float a, float b) const { return a * b; }
  int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) * uint64_t(b)); }
};
struct MaxOf {
  static constexpr float start(float) { return -std::numeric_limits<float>::infinity(); }
  static constexpr int64_t start(int64_t) { return std::numeric_limits<int64_t>::min(); }
  auto operator()(auto a, auto b) const { return ((b > a) | (b != b)) ? b : a; }
};
struct MinOf {
  static constexpr float start(float) { return std::numeric_limits<float>::infinity(); }
  static constexpr int64_t start(int64_t) { return std::numeric_limits<int64_t>::max(); }
  auto operator()(auto a, auto b) const { return ((b < a) | (b != b)) ? b : a; }
};
)
// clang-format on

}  // namespace distribute::ops_internal
