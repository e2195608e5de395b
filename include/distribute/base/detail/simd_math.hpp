#pragma once
/// Functions of a float that a loop marked `omp simd` computes for a whole vector at once, 6 to 20
/// times as fast as one by one: those of glibc's libmvec where GCC compiles for x86-64, within 4
/// units in the last place, else polynomials. sin and cos have no other form: they are computed one
/// by one elsewhere. The last elements of a loop, which fill no vector, may differ in their last
/// bits.
/// Source  https://sourceware.org/glibc/wiki/libmvec; names as in <cmath>

#include <distribute/base/parallel.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define DISTRIBUTE_HAS_SIMD_MATH 1
#endif
#endif

// Polynomials, without branches and tables, for any compiler and CPU. Errors are at most 2.5 units
// in the last place. Infinities, NaN, signed zeros and subnormal numbers give what <cmath> gives.
// With -ffast-math, which would change the formulas, the functions are those of <cmath>.
namespace distribute::simd_math::portable {

#ifdef __FAST_MATH__
using std::erf, std::exp, std::expm1, std::log, std::log1p, std::tanh;
#else

// ln 2 as a number of few bits, whose product with a whole number is exact, and the rest.
inline constexpr float kLn2High = 0.693145752f, kLn2Low = 1.42860677e-6f;

/// Returns c[0] + c[1] x + c[2] x^2 + ...
template <typename... Rest>
DISTRIBUTE_ALWAYS_INLINE inline float polynomial(float x, float first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return first;
  else
    return first + x * polynomial(x, rest...);
}

/// Returns 2^n for n in [-126, 127].
DISTRIBUTE_ALWAYS_INLINE inline float power_of_2(int32_t n) {
  return std::bit_cast<float>(uint32_t(n + 127) << 23);
}

/// x = n ln 2 + rest with |rest| <= ln 2 / 2, for x cut to [low, high]; NaN becomes `low`.
struct ReducedExponent {
  int32_t n;
  float rest;
};
DISTRIBUTE_ALWAYS_INLINE inline ReducedExponent reduce_exponent(float x, float low, float high) {
  const float above = x > low ? x : low;
  const float cut = above < high ? above : high;
  const float n = std::rint(cut * 1.44269504f);
  return {int32_t(n), (cut - n * kLn2High) - n * kLn2Low};
}

DISTRIBUTE_ALWAYS_INLINE inline float exp(float x) {
  const auto [n, r] = reduce_exponent(x, -104.5f, 89);
  const float q =
      polynomial(r, 0.499999931f, 0.166665148f, 0.0416684568f, 0.00836941904f, 0.00138131424f);
  const int32_t half = n >> 1;  // in two factors, for results that are subnormal or infinite
  const float y = (1 + (r + r * r * q)) * power_of_2(half) * power_of_2(n - half);
  return x != x ? x : y;
}

DISTRIBUTE_ALWAYS_INLINE inline float expm1(float x) {
  const auto [n, r] = reduce_exponent(x, -20, 89);
  const float q = polynomial(r, 0.500000005f, 0.166666664f, 0.0416663487f, 0.00833339164f,
                             0.00139416529f, 0.000198459572f);
  const float half = power_of_2(n - 1);
  const float y = 2 * (half * (r + r * r * q) + (half - 0.5f));
  return x != x || x == 0 ? x : y;
}

DISTRIBUTE_ALWAYS_INLINE inline float tanh(float x) {
  const float e = expm1(-2 * std::abs(x));
  return std::copysign(e / (2 + e), x);
}

/// Returns log(x + rest) for x > 0 and a `rest` below the last place of x.
DISTRIBUTE_ALWAYS_INLINE inline float log_of_sum(float x, float rest) {
  constexpr float kNormal = std::numeric_limits<float>::min();
  const float larger = x * 0x1p23f, shift = x < kNormal ? 23.0f : 0.0f;
  const uint32_t bits = std::bit_cast<uint32_t>(x < kNormal ? larger : x);
  // The mantissa lies in [sqrt(1/2), sqrt(2)).
  const uint32_t above = bits - 0x3f3504f3u;
  const int32_t e = int32_t(above) >> 23;
  const float f = std::bit_cast<float>((above & 0x007fffffu) + 0x3f3504f3u) - 1 +
                  rest * power_of_2(e > 126 ? -126 : -e);
  const float p =
      polynomial(f, 0.333333126f, -0.250000096f, 0.200021187f, -0.166679956f, 0.142195506f,
                 -0.12405592f, 0.118881776f, -0.116756388f, 0.0674659193f);
  const float n = float(e) - shift;
  return n * kLn2High + (f + (n * kLn2Low + (f * f * (f * p - 0.5f))));
}

/// Returns what makes the logarithm of a number that is not finite and positive from any number by
/// addition, and 0 for others: a choice between results would keep GCC from vectorizing the loop.
DISTRIBUTE_ALWAYS_INLINE inline float logarithm_limit(float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float of_0 = x == 0 ? -kInfinity : std::numeric_limits<float>::quiet_NaN();
  const float of_positive = x == kInfinity ? kInfinity : 0.0f;
  return x > 0 ? of_positive : of_0;
}

DISTRIBUTE_ALWAYS_INLINE inline float log(float x) { return log_of_sum(x, 0) + logarithm_limit(x); }

DISTRIBUTE_ALWAYS_INLINE inline float log1p(float x) {
  const float sum = 1 + x, rest_of_x = x - (sum - 1), rest_of_1 = 1 - (sum - x);
  const float rest = x < 1 ? rest_of_x : rest_of_1;
  const float y = log_of_sum(sum, rest == rest ? rest : 0.0f) + logarithm_limit(sum);
  return std::copysign(y, x);  // of -0, too
}

DISTRIBUTE_ALWAYS_INLINE inline float erf(float x) {
  constexpr float kSmall = 0.9f, kOne = 3.95f;
  const float a = std::abs(x), t = a < kOne ? a : kOne, s = x * x;
  const float near = x + x * polynomial(s, 0.128379154f, -0.376125233f, 0.112821408f,
                                        -0.0267789081f, 0.00501196183f, -0.000609035542f);
  const float q = polynomial(t, -0.000166439329f, -1.12779728f, -0.636976015f, -0.104113744f,
                             0.022315247f, -0.00306549954f, 0.000198220676f);
  const float far = std::copysign(1 - exp(q), x);
  return a < kSmall ? near : x != x ? x : far;
}

#endif

}  // namespace distribute::simd_math::portable

namespace distribute::simd_math {

#ifdef DISTRIBUTE_HAS_SIMD_MATH
// The C library's own functions under other names: glibc declares their vector forms only for
// programs that are compiled with -ffast-math.
#define DISTRIBUTE_SIMD_FUNCTION(name)                                                 \
  extern "C" __attribute__((simd("notinbranch"), const)) float distribute_simd_##name( \
      float) __asm__(#name "f");                                                       \
  DISTRIBUTE_ALWAYS_INLINE inline float name(float x) { return distribute_simd_##name(x); }
DISTRIBUTE_SIMD_FUNCTION(exp)
DISTRIBUTE_SIMD_FUNCTION(expm1)
DISTRIBUTE_SIMD_FUNCTION(log)
DISTRIBUTE_SIMD_FUNCTION(log1p)
DISTRIBUTE_SIMD_FUNCTION(sin)
DISTRIBUTE_SIMD_FUNCTION(cos)
DISTRIBUTE_SIMD_FUNCTION(tanh)
DISTRIBUTE_SIMD_FUNCTION(erf)
#undef DISTRIBUTE_SIMD_FUNCTION
#else
using portable::erf, portable::exp, portable::expm1, portable::log, portable::log1p, portable::tanh;
using std::cos, std::sin;
#endif

}  // namespace distribute::simd_math
