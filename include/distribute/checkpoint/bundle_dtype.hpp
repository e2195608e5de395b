#pragma once
/// Between the element types of tensors and the type numbers in checkpoint files.

#include <distribute/device/dtype.hpp>
#include <distribute/io/data_type.hpp>

#include <optional>

namespace distribute::train {

constexpr io::DataType data_type_of(DType dtype) {
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

/// Nothing for types that tensors of this library cannot hold, such as complex64 and strings.
constexpr std::optional<DType> tensor_dtype(io::DataType type) {
  for (DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32, DType::Int64,
                      DType::UInt8, DType::Bool}) {
    if (data_type_of(dtype) == type) return dtype;
  }
  return std::nullopt;
}

}  // namespace distribute::train
