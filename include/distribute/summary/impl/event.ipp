#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/summary/event.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace distribute::summary_internal {

/// Writes the beginning of a TensorProto.
DISTRIBUTE_INLINE io::ProtoWriter tensor_head(io::DataType dtype,
                                              const std::vector<int64_t>& dims) {
  return io::ProtoWriter().integer(1, int64_t(dtype)).message(2, io::shape_proto(dims));
}

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// Puts the number into `entry` when the tensor is a float32 scalar.
DISTRIBUTE_INLINE bool read_tensor(std::string_view bytes, summary::Event::Entry& entry) {
  std::string_view content;
  std::vector<float> floats;
  bool unknown_rank = false;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Varint)) entry.dtype = field.as_int32();
    if (field.is(4, io::WireType::Bytes)) content = field.bytes;
    if (field.is(2, io::WireType::Bytes))
      return io::read_shape_proto(field.bytes, entry.dims, unknown_rank);
    return field.number != 5 || io::append_floats(field, floats);
  });
  if (!good) return false;
  if (entry.dtype != int(io::DataType::Float) || !entry.dims.empty()) return true;
  float value = floats.empty() ? 0.0f : floats[0];
  if (content.size() == sizeof(value)) std::memcpy(&value, content.data(), sizeof(value));
  entry.has_number = true;
  entry.number = double(value);
  return true;
}

/// Reads SummaryMetadata{plugin_data{plugin_name, content}}.
DISTRIBUTE_INLINE bool read_plugin(std::string_view bytes, summary::Event::Entry& entry) {
  std::string_view name = entry.plugin, content = entry.plugin_content;
  const bool good = io::read_fields(bytes, [&](const io::ProtoField& data) {
    return !data.is(1, io::WireType::Bytes) || io::read_map_entry(data.bytes, name, content);
  });
  entry.plugin = name;
  entry.plugin_content = content;
  return good;
}

DISTRIBUTE_INLINE bool read_value(std::string_view bytes, summary::Event::Entry& entry) {
  return io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Bytes)) entry.tag = field.bytes;
    if (field.is(2, io::WireType::Fixed32)) {
      entry.has_number = true;
      entry.number = double(field.as_float());
    }
    if (field.is(8, io::WireType::Bytes)) return read_tensor(field.bytes, entry);
    return !field.is(9, io::WireType::Bytes) || read_plugin(field.bytes, entry);
  });
}

DISTRIBUTE_INLINE bool read_event(std::string_view record, summary::Event& event) {
  return io::read_fields(record, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Fixed64)) event.wall_time = field.as_double();
    if (field.is(2, io::WireType::Varint)) event.step = field.as_int64();
    if (field.is(3, io::WireType::Bytes)) event.file_version = field.bytes;
    if (field.is(4, io::WireType::Bytes)) event.graph_def = field.bytes;
    if (!field.is(5, io::WireType::Bytes)) return true;
    return io::read_fields(field.bytes, [&](const io::ProtoField& value) {
      return !value.is(1, io::WireType::Bytes) ||
             read_value(value.bytes, event.entries.emplace_back());
    });
  });
}

}  // namespace distribute::summary_internal

namespace distribute::summary {

DISTRIBUTE_INLINE std::string encode_file_version(double wall_time) {
  const auto source = io::ProtoWriter().bytes(1, "distribute.summary.file_writer");
  return io::ProtoWriter()
      .float64(1, wall_time)
      .bytes(3, "brain.Event:2")
      .message(10, source)
      .take();
}

DISTRIBUTE_INLINE std::string encode_event(double wall_time, int64_t step, const Value& value) {
  const auto plugin = io::ProtoWriter().bytes(1, value.plugin).bytes(2, value.plugin_content);
  const auto metadata = io::ProtoWriter().message(1, plugin).bytes(3, value.description);
  const auto entry =
      io::ProtoWriter().bytes(1, value.tag).message(8, value.tensor).message(9, metadata);
  const auto summary = io::ProtoWriter().message(1, entry);
  return io::ProtoWriter().float64(1, wall_time).integer(2, step).message(5, summary).take();
}

DISTRIBUTE_INLINE std::string encode_graph_event(double wall_time, int64_t step,
                                                 std::string_view graph_def) {
  return io::ProtoWriter()
      .float64(1, wall_time)
      .integer(2, step)
      .bytes(4, graph_def, io::Presence::Always)
      .take();
}

DISTRIBUTE_INLINE std::string encode_no_tensor() {
  return summary_internal::tensor_head(io::DataType::Float, {0}).take();
}

DISTRIBUTE_INLINE std::string encode_tensor(float value) {
  return summary_internal::tensor_head(io::DataType::Float, {})
      .bytes(4, summary_internal::bytes_of(std::span<const float>(&value, 1)))
      .take();
}

DISTRIBUTE_INLINE std::string encode_tensor(std::span<const double> values,
                                            const std::vector<int64_t>& dims) {
  return summary_internal::tensor_head(io::DataType::Double, dims)
      .bytes(4, summary_internal::bytes_of(values))
      .take();
}

DISTRIBUTE_INLINE std::string encode_tensor(std::span<const std::string> values,
                                            const std::vector<int64_t>& dims) {
  io::ProtoWriter tensor = summary_internal::tensor_head(io::DataType::String, dims);
  for (const std::string& value : values) tensor.bytes(8, value, io::Presence::Always);
  return tensor.take();
}

DISTRIBUTE_INLINE std::vector<double> histogram_buckets(std::span<const float> values,
                                                        int64_t buckets) {
  if (buckets < 1) throw InvalidArgumentError(str_cat("histogram: ", buckets, " buckets"));
  std::vector<double> rows(size_t(buckets) * 3, 0.0);
  std::vector<double> finite;
  for (const float value : values)
    if (std::isfinite(value)) finite.push_back(double(value));
  if (finite.empty()) return rows;
  const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
  const double low = *least, width = (*most - low) / double(buckets);
  for (int64_t i = 0; i < buckets; ++i) {
    rows[size_t(i) * 3] = low + double(i) * width;
    rows[size_t(i) * 3 + 1] = i + 1 == buckets ? *most : low + double(i + 1) * width;
  }
  for (const double value : finite) {
    const double place = width > 0 ? std::floor((value - low) / width) : double(buckets - 1);
    rows[size_t(std::min(int64_t(place), buckets - 1)) * 3 + 2] += 1;
  }
  return rows;
}

DISTRIBUTE_INLINE Event decode_event(std::string_view record, const std::string& where) {
  Event event;
  if (!summary_internal::read_event(record, event))
    throw DataLossError(where + ": a record is no event");
  return event;
}

}  // namespace distribute::summary
