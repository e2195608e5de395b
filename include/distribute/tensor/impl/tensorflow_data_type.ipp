#pragma once
#include <distribute/tensor/tensorflow_data_type.hpp>

namespace distribute::io_internal {

struct DataTypeRow {
  const char* name;
  int64_t bytes;
};

// The types by number. Integers of four and two bits take a byte each, as in TensorFlow's memory.
inline constexpr DataTypeRow kDataTypes[] = {
    {"invalid", 0},
    {"float32", 4},
    {"float64", 8},
    {"int32", 4},
    {"uint8", 1},
    {"int16", 2},
    {"int8", 1},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"qint16", 2},
    {"quint16", 2},
    {"uint16", 2},
    {"complex128", 16},
    {"float16", 2},
    {"resource", 0},
    {"variant", 0},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e4m3b11fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"int4", 1},
    {"uint4", 1},
    {"int2", 1},
    {"uint2", 1},
};

DISTRIBUTE_INLINE const DataTypeRow& data_type_row(io::DataType type) {
  const auto number = uint32_t(type);
  return kDataTypes[number < sizeof(kDataTypes) / sizeof(*kDataTypes) ? number : 0];
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE int64_t size_of(DataType type) { return io_internal::data_type_row(type).bytes; }

DISTRIBUTE_INLINE const char* name_of(DataType type) {
  return io_internal::data_type_row(type).name;
}

}  // namespace distribute::io
