#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/data_type.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/summary/event.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace distribute::summary_internal {

/// The start of a TensorProto.
DISTRIBUTE_INLINE io::ProtoWriter tensor_head(io::DataType dtype,
                                              const std::vector<int64_t>& dims) {
  io::ProtoWriter tensor, shape;
  for (const int64_t size : dims) {
    io::ProtoWriter dim;
    dim.integer(1, size);
    shape.message(2, dim);
  }
  tensor.integer(1, int64_t(dtype));
  tensor.message(2, shape);
  return tensor;
}

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

DISTRIBUTE_INLINE bool read_shape(std::string_view bytes, std::vector<int64_t>& dims) {
  io::ProtoReader shape(bytes);
  for (io::ProtoField dim; shape.next(dim);) {
    if (!dim.is(2, io::WireType::Bytes)) continue;
    io::ProtoReader sizes(dim.bytes);
    dims.push_back(0);
    for (io::ProtoField size; sizes.next(size);)
      if (size.is(1, io::WireType::Varint)) dims.back() = size.as_int64();
    if (!sizes.ok()) return false;
  }
  return shape.ok();
}

/// Puts the number into `entry` when the tensor is a float32 scalar.
DISTRIBUTE_INLINE bool read_tensor(std::string_view bytes, summary::Event::Entry& entry) {
  std::string_view content;
  std::vector<float> floats;
  io::ProtoReader tensor(bytes);
  for (io::ProtoField field; tensor.next(field);) {
    if (field.is(1, io::WireType::Varint)) entry.dtype = field.as_int32();
    if (field.is(2, io::WireType::Bytes) && !read_shape(field.bytes, entry.dims)) return false;
    if (field.is(4, io::WireType::Bytes)) content = field.bytes;
    if (field.number == 5 && !io::append_floats(field, floats)) return false;
  }
  if (!tensor.ok()) return false;
  if (entry.dtype != int(io::DataType::Float) || !entry.dims.empty()) return true;
  float value = floats.empty() ? 0.0f : floats[0];
  if (content.size() == sizeof(value)) std::memcpy(&value, content.data(), sizeof(value));
  entry.has_number = true;
  entry.number = double(value);
  return true;
}

/// SummaryMetadata{plugin_data{plugin_name, content}}.
DISTRIBUTE_INLINE bool read_plugin(std::string_view bytes, summary::Event::Entry& entry) {
  io::ProtoReader metadata(bytes);
  for (io::ProtoField data; metadata.next(data);) {
    if (!data.is(1, io::WireType::Bytes)) continue;
    io::ProtoReader fields(data.bytes);
    for (io::ProtoField field; fields.next(field);) {
      if (field.is(1, io::WireType::Bytes)) entry.plugin = field.bytes;
      if (field.is(2, io::WireType::Bytes)) entry.plugin_content = field.bytes;
    }
    if (!fields.ok()) return false;
  }
  return metadata.ok();
}

DISTRIBUTE_INLINE bool read_value(std::string_view bytes, summary::Event::Entry& entry) {
  io::ProtoReader value(bytes);
  for (io::ProtoField field; value.next(field);) {
    if (field.is(1, io::WireType::Bytes)) entry.tag = field.bytes;
    if (field.is(2, io::WireType::Fixed32)) {
      entry.has_number = true;
      entry.number = double(field.as_float());
    }
    if (field.is(8, io::WireType::Bytes) && !read_tensor(field.bytes, entry)) return false;
    if (field.is(9, io::WireType::Bytes) && !read_plugin(field.bytes, entry)) return false;
  }
  return value.ok();
}

DISTRIBUTE_INLINE bool read_event(std::string_view record, summary::Event& event) {
  io::ProtoReader proto(record);
  for (io::ProtoField field; proto.next(field);) {
    if (field.is(1, io::WireType::Fixed64)) event.wall_time = field.as_double();
    if (field.is(2, io::WireType::Varint)) event.step = field.as_int64();
    if (field.is(3, io::WireType::Bytes)) event.file_version = field.bytes;
    if (field.is(4, io::WireType::Bytes)) event.graph_def = field.bytes;
    if (!field.is(5, io::WireType::Bytes)) continue;
    io::ProtoReader values(field.bytes);
    for (io::ProtoField value; values.next(value);)
      if (value.is(1, io::WireType::Bytes) &&
          !read_value(value.bytes, event.entries.emplace_back()))
        return false;
    if (!values.ok()) return false;
  }
  return proto.ok();
}

}  // namespace distribute::summary_internal

namespace distribute::summary {

DISTRIBUTE_INLINE std::string encode_file_version(double wall_time) {
  io::ProtoWriter event, source;
  event.float64(1, wall_time);
  event.bytes(3, "brain.Event:2");
  source.bytes(1, "distribute.summary.file_writer");
  event.message(10, source);
  return event.take();
}

DISTRIBUTE_INLINE std::string encode_event(double wall_time, int64_t step, const Value& value) {
  io::ProtoWriter event, summary, entry, metadata, plugin;
  plugin.bytes(1, value.plugin);
  plugin.bytes(2, value.plugin_content);
  metadata.message(1, plugin);
  metadata.bytes(3, value.description);
  entry.bytes(1, value.tag);
  entry.message(8, value.tensor);
  entry.message(9, metadata);
  summary.message(1, entry);
  event.float64(1, wall_time);
  event.integer(2, step);
  event.message(5, summary);
  return event.take();
}

DISTRIBUTE_INLINE std::string encode_graph_event(double wall_time, int64_t step,
                                                 std::string_view graph_def) {
  io::ProtoWriter event;
  event.float64(1, wall_time);
  event.integer(2, step);
  event.bytes(4, graph_def, io::Presence::Always);
  return event.take();
}

DISTRIBUTE_INLINE std::string encode_no_tensor() {
  return summary_internal::tensor_head(io::DataType::Float, {0}).take();
}

DISTRIBUTE_INLINE std::string encode_tensor(float value) {
  io::ProtoWriter tensor = summary_internal::tensor_head(io::DataType::Float, {});
  tensor.bytes(4, summary_internal::bytes_of(std::span<const float>(&value, 1)));
  return tensor.take();
}

DISTRIBUTE_INLINE std::string encode_tensor(std::span<const double> values,
                                            const std::vector<int64_t>& dims) {
  io::ProtoWriter tensor = summary_internal::tensor_head(io::DataType::Double, dims);
  tensor.bytes(4, summary_internal::bytes_of(values));
  return tensor.take();
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
