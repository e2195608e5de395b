#pragma once
/// Functions of a float that a loop marked `omp simd` computes for a whole vector at once, 6 to 20
/// times as fast as one by one: those of glibc's libmvec where GCC compiles for x86-64, within 4
/// units in the last place, else polynomials. sin and cos have no other form: they are computed one
/// by one elsewhere. The last elements of a loop, which fill no vector, may differ in their last
/// bits.
/// Source  https://sourceware.org/glibc/wiki/libmvec; names as in <cmath>

#include <distribute/base/detail/simd_polynomials.hpp>
#include <distribute/base/parallel.hpp>

#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define DISTRIBUTE_HAS_SIMD_MATH 1
#endif
#endif

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
