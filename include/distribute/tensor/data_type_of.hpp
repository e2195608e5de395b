#pragma once
/// The type numbers that TensorFlow's files have for the element types of tensors.

#include <distribute/device/dtype.hpp>
#include <distribute/io/tensorflow_data_type.hpp>

namespace distribute::io {

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
