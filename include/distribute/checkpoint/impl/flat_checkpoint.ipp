#pragma once
#include <distribute/checkpoint/bundle_reader.hpp>
#include <distribute/checkpoint/bundle_writer.hpp>
#include <distribute/checkpoint/flat_checkpoint.hpp>
#include <distribute/checkpoint/worker_path.hpp>
#include <distribute/io/data_type.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/strategy.hpp>

#include <algorithm>

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

DISTRIBUTE_INLINE void save_variables(const std::string& prefix,
                                      const std::vector<Variable>& variables) {
  std::vector<Variable> sorted = variables;
  std::sort(sorted.begin(), sorted.end(),
            [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  std::vector<Tensor> values;  // reading some of them takes every worker
  for (const Variable& variable : sorted) values.push_back(value_to_save(variable));
  checkpoint_internal::write_on_all_workers(
      get_strategy(), prefix, "",
      [&](const std::string& path) {
        BundleWriter writer(path);
        for (size_t i = 0; i < values.size(); ++i)
          write_tensor(writer, sorted[i].name(), values[i]);
        writer.finish();
      },
      [](const auto& write) { write(); });
}

DISTRIBUTE_INLINE void load_variables(const std::string& prefix,
                                      const std::vector<Variable>& variables) {
  std::vector<Tensor> values;
  checkpoint_internal::read_on_all_workers(get_strategy().extended(), [&] {
    BundleReader reader(prefix);
    for (const Variable& variable : variables) {
      values.push_back(read_tensor(reader, variable.name()));
      check_fits(variable, values.back(), prefix, variable.name());
    }
  });
  for (size_t i = 0; i < values.size(); ++i) restore_value(variables[i], values[i]);
}

}  // namespace distribute::train
