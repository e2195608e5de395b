#pragma once
/// Matrix products of images whose channels lie in groups of 8, by AVX2, for the convolutions of
/// our own. GCC compiles them.

#include <distribute/base/config.hpp>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <algorithm>
#include <cstdint>

#include <immintrin.h>

namespace distribute::device_internal {

#pragma GCC push_options
#pragma GCC target("avx2,fma")
/// Vectors of 8 channels, and products of them.
struct Avx2Products {
#include <distribute/device/impl/simd_avx2.inc>

#include <distribute/device/impl/grouped_products.inc>
};
#pragma GCC pop_options

}  // namespace distribute::device_internal
#endif
