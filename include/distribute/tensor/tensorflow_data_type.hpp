#pragma once
/// TensorFlow's element types, with the numbers that its files store, and those of tensors.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>

#include <cstdint>

namespace distribute::io {

/// TensorFlow's types of elements.
/// Source  tensorflow/core/framework/types.proto
enum class DataType : int32_t {
  Invalid = 0,
  Float = 1,
  Double = 2,
  Int32 = 3,
  UInt8 = 4,
  Int16 = 5,
  Int8 = 6,
  String = 7,
  Complex64 = 8,
  Int64 = 9,
  Bool = 10,
  QInt8 = 11,
  QUInt8 = 12,
  QInt32 = 13,
  BFloat16 = 14,
  QInt16 = 15,
  QUInt16 = 16,
  UInt16 = 17,
  Complex128 = 18,
  Half = 19,
  Resource = 20,
  Variant = 21,
  UInt32 = 22,
  UInt64 = 23,
  Float8E5M2 = 24,
  Float8E4M3FN = 25,
  Float8E4M3FNUZ = 26,
  Float8E4M3B11FNUZ = 27,
  Float8E5M2FNUZ = 28,
  Int4 = 29,
  UInt4 = 30,
  Int2 = 31,
  UInt2 = 32,
};

/// Bytes of one element in memory and in files. It is 0 for types without a fixed size (String,
/// Resource, Variant) and for numbers that are not types.
int64_t size_of(DataType type);

/// TensorFlow's name, such as "float32"; "invalid" for a number that is not a type.
const char* name_of(DataType type);

constexpr io::DataType data_type_of(DType dtype) {  // TensorFlow's number of a dtype
  switch (dtype) {
    case DType::Float32: return io::DataType::Float;
    case DType::BFloat16: return io::DataType::BFloat16;
    case DType::Float16: return io::DataType::Half;
    case DType::Int32: return io::DataType::Int32;
    case DType::Int64: return io::DataType::Int64;
    case DType::UInt8: return io::DataType::UInt8;
    case DType::Bool: return io::DataType::Bool;
  }
  return io::DataType::Invalid;
}

}  // namespace distribute::io
