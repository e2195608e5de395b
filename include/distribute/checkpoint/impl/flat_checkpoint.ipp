#pragma once
#include <distribute/checkpoint/bundle_reader.hpp>
#include <distribute/checkpoint/bundle_writer.hpp>
#include <distribute/checkpoint/flat_checkpoint.hpp>
#include <distribute/checkpoint/worker_path.hpp>
#include <distribute/io/data_type.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE Tensor value_to_save(const Variable& variable) {
  const replica_internal::ModeScope cross_replica({});
  return variable.impl().read();
}

DISTRIBUTE_INLINE void restore_value(const Variable& variable, const Tensor& value) {
  const replica_internal::ModeScope cross_replica({});
  variable.assign(value);
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
  writer.add_slice(key, data_type_of(plain.dtype()),
                   {info.full_shape.begin(), info.full_shape.end()}, slice, {data, bytes});
}

DISTRIBUTE_INLINE Tensor own_rows(const Variable& variable, const Tensor& value) {
  const auto& info = variable.impl().save_slice_info();
  if (!info || value.shape() != info->full_shape) return value;
  return value.rows(info->begin, info->begin + variable.shape()[0]);
}

DISTRIBUTE_INLINE Tensor read_tensor(BundleReader& reader, const std::string& key) {
  const BundleEntry& entry = reader.entry(key);
  for (DType dtype : {DType::Float32, DType::BFloat16, DType::Float16, DType::Int32, DType::Int64,
                      DType::UInt8, DType::Bool}) {
    if (data_type_of(dtype) != entry.dtype) continue;
    Tensor value = Tensor::empty(Shape(entry.dims), dtype, Device{});
    auto* data = reinterpret_cast<std::byte*>(value.array().bytes());
    reader.read(key, {data, size_t(value.num_elements() * size_of(dtype))});
    return value;
  }
  throw InvalidArgumentError(concat(reader.prefix(), ": tensor '", key, "' is ",
                                    io::name_of(entry.dtype), ", which tensors here cannot be"));
}

DISTRIBUTE_INLINE void check_fits(const Variable& variable, const Tensor& value,
                                  const std::string& file, const std::string& key) {
  if (value.shape() == variable.shape() && value.dtype() == variable.dtype()) return;
  throw InvalidArgumentError(concat(file, ": tensor '", key, "' is ", to_string(value.shape()), " ",
                                    name_of(value.dtype()), ", variable '", variable.name(),
                                    "' is ", to_string(variable.shape()), " ",
                                    name_of(variable.dtype())));
}

DISTRIBUTE_INLINE std::string saved_name(const Variable& variable) {
  const auto& info = variable.impl().save_slice_info();
  return info ? info->full_name : variable.name();
}

/// Shards in the place of what is cut, by name and row.
DISTRIBUTE_INLINE std::vector<Variable> sorted_variables(const std::vector<Variable>& variables) {
  std::vector<Variable> sorted = with_parts(variables);
  const auto row = [](const Variable& v) {
    return v.impl().save_slice_info() ? v.impl().save_slice_info()->begin : 0;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const Variable& a, const Variable& b) {
    const std::string name_a = saved_name(a), name_b = saved_name(b);
    return name_a != name_b ? name_a < name_b : row(a) < row(b);
  });
  return sorted;
}

DISTRIBUTE_INLINE void save_variables(const std::string& prefix,
                                      const std::vector<Variable>& variables) {
  const std::vector<Variable> sorted = sorted_variables(variables);
  std::vector<Tensor> values;  // reading some of them takes every worker
  for (const Variable& variable : sorted)
    values.push_back(variable.impl().save_slice_info() ? Tensor() : value_to_save(variable));
  checkpoint_internal::write_on_all_workers(
      get_strategy(), prefix, "",
      [&](const std::string& path) {
        BundleWriter writer(path);
        for (size_t i = 0; i < values.size(); ++i) {
          if (values[i])
            write_tensor(writer, sorted[i].name(), values[i]);
          else
            write_shard(writer, saved_name(sorted[i]), value_to_save(sorted[i]),
                        *sorted[i].impl().save_slice_info());
        }
        writer.finish();
      },
      [](const auto& write) { write(); });
}

DISTRIBUTE_INLINE void load_variables(const std::string& prefix,
                                      const std::vector<Variable>& variables) {
  const std::vector<Variable> sorted = sorted_variables(variables);
  std::vector<Tensor> values;
  checkpoint_internal::read_on_all_workers(get_strategy().extended(), [&] {
    BundleReader reader(prefix);
    std::pair<std::string, Tensor> last;  // its shards come one after the other
    for (const Variable& variable : sorted) {
      const std::string name = saved_name(variable);
      if (!last.second || last.first != name) last = {name, read_tensor(reader, name)};
      values.push_back(own_rows(variable, last.second));
      check_fits(variable, values.back(), prefix, name);
    }
  });
  for (size_t i = 0; i < values.size(); ++i) restore_value(sorted[i], values[i]);
}

}  // namespace distribute::train
