#pragma once
/// Element types of a tensor, and the 16-bit floats that C++20 lacks.

#include <distribute/base/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace distribute {

/// Element types of tensors.
/// Source  tf.dtypes.DType (the subset this library computes with)
enum class DType : uint8_t { Float32, BFloat16, Float16, Int32, Int64, UInt8, Bool };

/// Upper half of a float32; rounds to nearest even.
struct bfloat16 {
  uint16_t bits = 0;
  bfloat16() = default;
  bfloat16(float value);
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

/// IEEE binary16; rounds to nearest even, keeps infinities, NaN and subnormals.
struct float16 {
  uint16_t bits = 0;
  float16() = default;
  float16(float value);
  operator float() const;
};

template <typename T>
concept HalfFloat = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;  // 16 bits

// Operators on two 16-bit floats compute in float32. As 16-bit floats also convert to tensors, the
// operators must be declared.
template <HalfFloat T>
float operator+(T a, T b) {  // element by element
  return float(a) + float(b);
}
template <HalfFloat T>
float operator-(T a, T b) {  // element by element
  return float(a) - float(b);
}
template <HalfFloat T>
float operator*(T a, T b) {  // element by element
  return float(a) * float(b);
}
template <HalfFloat T>
float operator/(T a, T b) {  // element by element
  return float(a) / float(b);
}

/// Gives the DType of a C++ type.
template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::Float32;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = DType::BFloat16;
};
template <>
struct DTypeOf<float16> {
  static constexpr DType value = DType::Float16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::Int32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::Int64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::UInt8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};

/// A C++ type that can be an element of a tensor.
template <typename T>
concept Element = requires {
  DTypeOf<std::remove_cv_t<T>>::value;
};

template <Element T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

/// Bytes of one element.
constexpr int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::Float32:
    case DType::Int32: return 4;
    case DType::BFloat16:
    case DType::Float16: return 2;
    case DType::Int64: return 8;
    case DType::UInt8:
    case DType::Bool: return 1;
  }
  return 0;
}

constexpr bool is_floating(DType dtype) {  // whether it has fractions
  return dtype == DType::Float32 || dtype == DType::BFloat16 || dtype == DType::Float16;
}
/// Returns whether it is a floating-point type of 16 bits.
constexpr bool is_half(DType dtype) { return dtype == DType::BFloat16 || dtype == DType::Float16; }

/// TensorFlow's name, such as "float32".
const char* name_of(DType dtype);

/// Calls fn(T{}) with the C++ type of `dtype`; all branches must return the same type.
template <typename Fn>
decltype(auto) dispatch(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::BFloat16: return fn(bfloat16{});
    case DType::Float16: return fn(float16{});
    case DType::Int32: return fn(int32_t{});
    case DType::Int64: return fn(int64_t{});
    case DType::UInt8: return fn(uint8_t{});
    case DType::Bool: return fn(bool{});
    default: return fn(float{});
  }
}

/// What a fused operation does with its result before it stores the result.
enum class Epilogue : uint8_t { None, Relu };

}  // namespace distribute
