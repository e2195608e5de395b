#pragma once
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/half_arrays.hpp>
#include <distribute/device/dtype.hpp>

namespace distribute {

DISTRIBUTE_INLINE bfloat16::bfloat16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const bool nan = (word & 0x7fffffff) > 0x7f800000;
  bits = nan ? uint16_t((word >> 16) | 0x40) : uint16_t((word + 0x7fff + ((word >> 16) & 1)) >> 16);
}

DISTRIBUTE_INLINE float16::float16(float value) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000;
  const uint32_t magnitude = word & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    bits = uint16_t(sign | 0x7e00);
  } else if (magnitude >= 0x477ff000) {  // rounds to 65536 or more
    bits = uint16_t(sign | 0x7c00);
  } else if (magnitude < 0x38800000) {  // subnormal: adding 0.5 lets the hardware round
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = uint16_t(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  } else {
    const uint32_t rebased = magnitude - 0x38000000;
    bits = uint16_t(sign | ((rebased + 0xfff + ((rebased >> 13) & 1)) >> 13));
  }
}

DISTRIBUTE_INLINE float16::operator float() const {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = float(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

DISTRIBUTE_INLINE const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "float32";
    case DType::BFloat16: return "bfloat16";
    case DType::Float16: return "float16";
    case DType::Int32: return "int32";
    case DType::Int64: return "int64";
    case DType::UInt8: return "uint8";
    case DType::Bool: return "bool";
  }
  return "unknown";
}

namespace device_internal {

DISTRIBUTE_INLINE void round_to_bfloat16(const float* from, bfloat16* to, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t word = std::bit_cast<uint32_t>(from[i]);
      const uint32_t rounded = (word + 0x7fff + ((word >> 16) & 1)) >> 16;
      const bool nan = (word & 0x7fffffff) > 0x7f800000;
      to[i].bits = uint16_t(nan ? (word >> 16) | 0x40 : rounded);
    }
  });
}

DISTRIBUTE_INLINE void widen_bfloat16(const bfloat16* from, float* to, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(uint32_t(from[i].bits) << 16);
  });
}

}  // namespace device_internal

}  // namespace distribute
