#pragma once
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE Tensor value_to_save(const Variable& variable) {
  const replica_internal::ModeScope cross_replica({});
  return variable.impl().read();
}

DISTRIBUTE_INLINE void restore_value(const Variable& variable, const Tensor& value) {
  const replica_internal::ModeScope cross_replica({});
  if (variable.synchronization() != VariableSynchronization::OnRead ||
      variable.aggregation() != VariableAggregation::None)
    return void(variable.assign(value));
  for (int i = 0; i < variable.impl().num_components(); ++i)  // no assign: see SyncOnReadVariable
    variable.impl().set_component(i, value.renamed());
}

DISTRIBUTE_INLINE void write_tensor(BundleWriter& writer, const std::string& key,
                                    const Tensor& value) {
  const bool gpu = value.device().type == DeviceType::Gpu;
  const Tensor plain = (gpu ? value.to(Device{}) : value).row_major();
  const auto* data = reinterpret_cast<const std::byte*>(plain.array().bytes());
  const size_t bytes = size_t(plain.num_elements() * size_of(plain.dtype()));
  writer.add(key, plain.dtype(), {plain.shape().begin(), plain.shape().end()}, {data, bytes});
}

DISTRIBUTE_INLINE void write_shard(BundleWriter& writer, const std::string& key, const Tensor& rows,
                                   const SaveSliceInfo& info) {
  const Tensor plain = rows.row_major();
  TensorSlice slice;
  for (const int64_t size : plain.shape()) slice.push_back({0, size});
  slice[0].start = info.begin;
  const auto* data = reinterpret_cast<const std::byte*>(plain.array().bytes());
  const size_t bytes = size_t(plain.num_elements() * size_of(plain.dtype()));
  writer.add_slice(key, io::data_type_of(plain.dtype()),
                   {info.full_shape.begin(), info.full_shape.end()}, slice, {data, bytes});
}

/// Throws  InvalidArgumentError for dtypes that tensors cannot have.
DISTRIBUTE_INLINE DType dtype_in_file(const BundleReader& reader, const std::string& key) {
  const BundleEntry& entry = reader.entry(key);
  for (DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32, DType::Int64,
                      DType::UInt8, DType::Bool})
    if (io::data_type_of(dtype) == entry.dtype) return dtype;
  throw InvalidArgumentError(str_cat(reader.prefix(), ": tensor '", key, "' is ",
                                     io::name_of(entry.dtype), ", which tensors here cannot be"));
}

/// Returns the memory of a new tensor, to read into.
DISTRIBUTE_INLINE std::span<std::byte> bytes_of(Tensor& value) {
  auto* data = reinterpret_cast<std::byte*>(value.array().bytes());
  return {data, size_t(value.num_elements() * size_of(value.dtype()))};
}

DISTRIBUTE_INLINE Tensor read_tensor(BundleReader& reader, const std::string& key) {
  const DType dtype = dtype_in_file(reader, key);
  Tensor value = Tensor::empty(Shape(reader.entry(key).dims), dtype, Device{});
  reader.read(key, bytes_of(value));
  return value;
}

DISTRIBUTE_INLINE bool has_rows_in(const BundleReader& reader, const std::string& key,
                                   const Variable& variable) {
  const auto& info = variable.impl().save_slice_info();
  return info && Shape(reader.entry(key).dims) == info->full_shape;
}

/// Checks that a variable fits; `shape` is that of the file's value.
DISTRIBUTE_INLINE void check_fits(const BundleReader& reader, const std::string& key,
                                  const Variable& variable, const Shape& shape,
                                  const std::string& called) {
  const DType dtype = dtype_in_file(reader, key);
  if (shape == variable.shape() && dtype == variable.dtype()) return;
  throw InvalidArgumentError(str_cat(reader.prefix(), ": tensor '", called.empty() ? key : called,
                                     "' is ", to_string(shape), " ", name_of(dtype), ", variable '",
                                     variable.name(), "' is ", to_string(variable.shape()), " ",
                                     name_of(variable.dtype())));
}

DISTRIBUTE_INLINE Tensor read_value(BundleReader& reader, const std::string& key,
                                    const Variable& variable, const std::string& called) {
  const BundleEntry& entry = reader.entry(key);
  const Shape whole(entry.dims);
  if (!has_rows_in(reader, key, variable)) {
    check_fits(reader, key, variable, whole, called);
    return read_tensor(reader, key);
  }
  const int64_t begin = variable.impl().save_slice_info()->begin, rows = variable.shape()[0];
  check_fits(reader, key, variable, whole.with(0, rows), called);
  Tensor value = Tensor::empty(variable.shape(), variable.dtype(), Device{});
  reader.read_rows(key, begin, begin + rows, bytes_of(value));
  return value;
}

DISTRIBUTE_INLINE bool is_cut(const Variable& variable) { return !variable.impl().parts().empty(); }

DISTRIBUTE_INLINE void check_shards(BundleReader& reader, const std::string& key,
                                    const Variable& variable, const std::string& called) {
  check_fits(reader, key, variable, Shape(reader.entry(key).dims), called);
  reader.verify(key);
}

DISTRIBUTE_INLINE void restore_shards(BundleReader& reader, const std::string& key,
                                      const Variable& variable) {
  for (const Variable& shard : variable.impl().parts())
    restore_value(shard, read_value(reader, key, shard));
}

DISTRIBUTE_INLINE std::string saved_name(const Variable& variable) {
  const auto& info = variable.impl().save_slice_info();
  return info ? info->full_name : variable.name();
}

}  // namespace distribute::train
