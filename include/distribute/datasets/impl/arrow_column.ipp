#pragma once
#if DISTRIBUTE_HAS_ARROW
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/arrow_column.hpp>
#include <distribute/ops/array.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <arrow/api.h>

namespace distribute::data::data_internal {

/// Returns the element type of numbers, and nothing for types that are no numbers.
DISTRIBUTE_INLINE std::optional<DType> dtype_of_numbers(arrow::Type::type type) {
  switch (type) {
    case arrow::Type::BOOL: return DType::Bool;
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::DATE32:
    case arrow::Type::TIME32: return DType::Int32;
    case arrow::Type::UINT32:
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
    case arrow::Type::DATE64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION: return DType::Int64;
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE: return DType::Float32;
    default: return std::nullopt;
  }
}

DISTRIBUTE_INLINE bool holds_bytes(arrow::Type::type type) {
  return arrow::is_binary_like(type) || arrow::is_large_binary_like(type) ||
         type == arrow::Type::FIXED_SIZE_BINARY;
}

DISTRIBUTE_INLINE bool holds_lists(arrow::Type::type type) {
  return type == arrow::Type::LIST || type == arrow::Type::LARGE_LIST ||
         type == arrow::Type::FIXED_SIZE_LIST;
}

/// Returns the component that a column of this type becomes, or nothing.
DISTRIBUTE_INLINE std::optional<TensorSpec> spec_of_type(const arrow::DataType& type) {
  if (const auto dtype = dtype_of_numbers(type.id())) return TensorSpec{{}, *dtype};
  if (holds_bytes(type.id())) return TensorSpec{{-1}, DType::UInt8};
  if (type.id() == arrow::Type::DICTIONARY)
    return spec_of_type(*static_cast<const arrow::DictionaryType&>(type).value_type());
  if (!holds_lists(type.id())) return std::nullopt;
  const auto dtype = dtype_of_numbers(type.field(0)->type()->id());
  if (!dtype) return std::nullopt;
  const bool fixed = type.id() == arrow::Type::FIXED_SIZE_LIST;
  const int64_t size = fixed ? static_cast<const arrow::FixedSizeListType&>(type).list_size() : -1;
  return TensorSpec{{size}, *dtype};
}

DISTRIBUTE_INLINE TensorSpec spec_of_column(const arrow::Field& field, const std::string& path) {
  auto spec = spec_of_type(*field.type());
  if (!spec)
    throw InvalidArgumentError(str_cat(path, ": column \"", field.name(), "\" is of type ",
                                       field.type()->ToString(),
                                       ", which is no tensor; leave it out with `columns`"));
  spec->name = field.name();
  return *spec;
}

template <typename Type>
auto raw_value(const arrow::Array& column, int64_t row) {
  return static_cast<const typename arrow::TypeTraits<Type>::ArrayType&>(column).Value(row);
}

/// Gives a number to `use` in a C++ type that holds it.
template <typename Use>
void with_number(const arrow::Array& column, int64_t row, const Use& use) {
  switch (column.type_id()) {
    case arrow::Type::BOOL: return use(raw_value<arrow::BooleanType>(column, row));
    case arrow::Type::INT8: return use(int32_t(raw_value<arrow::Int8Type>(column, row)));
    case arrow::Type::INT16: return use(int32_t(raw_value<arrow::Int16Type>(column, row)));
    case arrow::Type::INT32: return use(raw_value<arrow::Int32Type>(column, row));
    case arrow::Type::UINT8: return use(int32_t(raw_value<arrow::UInt8Type>(column, row)));
    case arrow::Type::UINT16: return use(int32_t(raw_value<arrow::UInt16Type>(column, row)));
    case arrow::Type::DATE32: return use(raw_value<arrow::Date32Type>(column, row));
    case arrow::Type::TIME32: return use(raw_value<arrow::Time32Type>(column, row));
    case arrow::Type::UINT32: return use(int64_t(raw_value<arrow::UInt32Type>(column, row)));
    case arrow::Type::INT64: return use(int64_t(raw_value<arrow::Int64Type>(column, row)));
    case arrow::Type::DATE64: return use(int64_t(raw_value<arrow::Date64Type>(column, row)));
    case arrow::Type::TIME64: return use(int64_t(raw_value<arrow::Time64Type>(column, row)));
    case arrow::Type::TIMESTAMP: return use(int64_t(raw_value<arrow::TimestampType>(column, row)));
    case arrow::Type::DURATION: return use(int64_t(raw_value<arrow::DurationType>(column, row)));
    case arrow::Type::UINT64: {
      const uint64_t value = raw_value<arrow::UInt64Type>(column, row);
      if (value > uint64_t(std::numeric_limits<int64_t>::max()))
        throw BadValue{str_cat(value, " does not fit into int64")};
      return use(int64_t(value));
    }
    case arrow::Type::FLOAT: return use(raw_value<arrow::FloatType>(column, row));
    default: {
      const double value = raw_value<arrow::DoubleType>(column, row);
      if (std::isfinite(value) && !std::isfinite(float(value)))
        throw BadValue{str_cat(value, " does not fit into float32")};
      return use(float(value));
    }
  }
}

DISTRIBUTE_INLINE void refuse_null(bool nulls_are_zero) {
  if (!nulls_are_zero)
    throw BadValue{"the value is missing; fill it in the file, or set nulls_are_zero"};
}

DISTRIBUTE_INLINE Tensor bytes_of_column(const arrow::Array& column, int64_t row) {
  const auto bytes = [&](const auto& array) {
    return bytes_tensor(std::string(array.GetView(row)));
  };
  if (column.type_id() == arrow::Type::FIXED_SIZE_BINARY)
    return bytes(static_cast<const arrow::FixedSizeBinaryArray&>(column));
  if (arrow::is_large_binary_like(column.type_id()))
    return bytes(static_cast<const arrow::LargeBinaryArray&>(column));
  return bytes(static_cast<const arrow::BinaryArray&>(column));
}

/// Returns the values [begin, end), which are those of one list.
DISTRIBUTE_INLINE Tensor list_values(const arrow::Array& values, int64_t begin, int64_t end,
                                     DType dtype, bool nulls_are_zero) {
  Tensor result = Tensor::empty(Shape{end - begin}, dtype, Device{});
  dispatch(dtype, [&](auto type) {
    using T = decltype(type);
    T* const out = result.mutable_data<T>();
    for (int64_t i = begin; i < end; ++i) {
      if (values.IsNull(i)) {
        refuse_null(nulls_are_zero);
        out[i - begin] = T{};
      } else {
        with_number(values, i, [&](auto number) { out[i - begin] = T(number); });
      }
    }
  });
  return result;
}

DISTRIBUTE_INLINE Tensor list_of_column(const arrow::Array& column, int64_t row,
                                        const TensorSpec& spec, bool nulls_are_zero) {
  const auto values = [&](const auto& list) {
    const int64_t begin = list.value_offset(row);
    return list_values(*list.values(), begin, begin + list.value_length(row), spec.dtype,
                       nulls_are_zero);
  };
  if (column.type_id() == arrow::Type::LIST)
    return values(static_cast<const arrow::ListArray&>(column));
  if (column.type_id() == arrow::Type::LARGE_LIST)
    return values(static_cast<const arrow::LargeListArray&>(column));
  return values(static_cast<const arrow::FixedSizeListArray&>(column));
}

/// Returns the tensor that stands for a missing value.
DISTRIBUTE_INLINE Tensor zero_of(const TensorSpec& spec) {
  Shape shape;
  for (const int64_t size : spec.shape) shape.push_back(std::max<int64_t>(size, 0));
  return zeros(shape, spec.dtype);
}

DISTRIBUTE_INLINE Tensor value_of_column(const arrow::Array& column, int64_t row,
                                         const TensorSpec& spec, bool nulls_are_zero) {
  if (column.IsNull(row)) {
    refuse_null(nulls_are_zero);
    return zero_of(spec);
  }
  if (column.type_id() == arrow::Type::DICTIONARY) {
    const auto& coded = static_cast<const arrow::DictionaryArray&>(column);
    return value_of_column(*coded.dictionary(), coded.GetValueIndex(row), spec, nulls_are_zero);
  }
  if (holds_bytes(column.type_id())) return bytes_of_column(column, row);
  if (holds_lists(column.type_id())) return list_of_column(column, row, spec, nulls_are_zero);
  Tensor result;
  with_number(column, row, [&](auto number) { result = Tensor(number); });
  return result;
}

}  // namespace distribute::data::data_internal
#endif
