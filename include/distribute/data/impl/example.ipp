#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/detail/feature_values.hpp>
#include <distribute/data/example.hpp>
#include <distribute/io/protobuf.hpp>

#include <unordered_map>

namespace distribute::data {

namespace data_internal {

using io::Presence;
using io::ProtoField;
using io::ProtoWriter;
using io::WireType;

/// Encoded tf.train.Feature messages by name.
using FeatureViews = std::unordered_map<std::string_view, std::string_view>;

[[noreturn]] DISTRIBUTE_INLINE void throw_no_example(const std::string& where) {
  throw DataLossError(where + ": not a tf.train.Example");
}

DISTRIBUTE_INLINE FeatureViews feature_views(std::string_view record, const std::string& where) {
  FeatureViews views;
  for_each_field(record, where, [&](const ProtoField& features) {
    if (!features.is(1, WireType::Bytes)) return;
    for_each_field(features.bytes, where, [&](const ProtoField& entry) {
      if (!entry.is(1, WireType::Bytes)) return;
      std::string_view name, feature;
      if (!io::read_map_entry(entry.bytes, name, feature)) throw_no_example(where);
      views[name] = feature;
    });
  });
  return views;
}

DISTRIBUTE_INLINE ListView list_of(std::string_view feature, const std::string& where) {
  ListView view;
  for_each_field(feature, where, [&](const ProtoField& field) {
    if (field.type != WireType::Bytes || field.number < 1 || field.number > 3) return;
    view = {true, FeatureKind(field.number - 1), field.bytes};
  });
  return view;
}

DISTRIBUTE_INLINE void append_values(const ListView& view, const std::string& where,
                                     std::vector<std::string_view>& values) {
  for_each_field(view.list, where, [&](const ProtoField& field) {
    if (field.is(1, WireType::Bytes)) values.push_back(field.bytes);
  });
}
DISTRIBUTE_INLINE void append_values(const ListView& view, const std::string& where,
                                     std::vector<float>& values) {
  for_each_field(view.list, where, [&](const ProtoField& field) {
    const bool known =
        field.number == 1 && (field.type == WireType::Fixed32 || field.type == WireType::Bytes);
    if (known && !io::append_floats(field, values)) throw_no_example(where);
  });
}
DISTRIBUTE_INLINE void append_values(const ListView& view, const std::string& where,
                                     std::vector<int64_t>& values) {
  for_each_field(view.list, where, [&](const ProtoField& field) {
    const bool known =
        field.number == 1 && (field.type == WireType::Varint || field.type == WireType::Bytes);
    if (known && !io::append_integers(field, values)) throw_no_example(where);
  });
}

DISTRIBUTE_INLINE Feature decode_feature(std::string_view feature, const std::string& where) {
  const ListView view = list_of(feature, where);
  if (!view.present) return {};
  if (view.kind == FeatureKind::Bytes) {
    std::vector<std::string_view> values;
    append_values(view, where, values);
    return BytesList(values.begin(), values.end());
  }
  if (view.kind == FeatureKind::Float) {
    FloatList values;
    append_values(view, where, values);
    return values;
  }
  Int64List values;
  append_values(view, where, values);
  return values;
}

DISTRIBUTE_INLINE std::string encode_feature(const Feature& feature) {
  ProtoWriter list, result;
  if (const auto* bytes = std::get_if<BytesList>(&feature))
    for (const std::string& value : *bytes) list.bytes(1, value, Presence::Always);
  if (const auto* floats = std::get_if<FloatList>(&feature)) list.packed_floats(1, *floats);
  if (const auto* integers = std::get_if<Int64List>(&feature)) list.packed_integers(1, *integers);
  if (feature.index() > 0) result.message(uint32_t(feature.index()), list);
  return result.take();
}

DISTRIBUTE_INLINE void Collected::append(const ListView& view, const std::string& where) {
  switch (view.kind) {
    case FeatureKind::Bytes: return append_values(view, where, bytes);
    case FeatureKind::Float: return append_values(view, where, floats);
    case FeatureKind::Int64: return append_values(view, where, integers);
  }
}

DISTRIBUTE_INLINE void Collected::append(const Feature& value) {
  if (const auto* list = std::get_if<BytesList>(&value))
    bytes.insert(bytes.end(), list->begin(), list->end());
  if (const auto* list = std::get_if<FloatList>(&value))
    floats.insert(floats.end(), list->begin(), list->end());
  if (const auto* list = std::get_if<Int64List>(&value))
    integers.insert(integers.end(), list->begin(), list->end());
}

DISTRIBUTE_INLINE void Collected::append_zeros(FeatureKind kind, int64_t count) {
  if (kind == FeatureKind::Bytes) bytes.resize(bytes.size() + size_t(count));
  if (kind == FeatureKind::Float) floats.resize(floats.size() + size_t(count));
  if (kind == FeatureKind::Int64) integers.resize(integers.size() + size_t(count));
}

DISTRIBUTE_INLINE std::string wish(const FeatureSpec& spec) {
  if (spec.length == FeatureSpec::Length::Variable) return str_cat(name_of(spec.kind), " values");
  return str_cat(name_of(spec.kind), " ", to_string(Shape(std::span<const int64_t>(spec.shape))));
}

DISTRIBUTE_INLINE int64_t wanted_count(const FeatureSpec& spec) {
  return Shape(std::span<const int64_t>(spec.shape)).num_elements();
}

DISTRIBUTE_INLINE void collect(const ListView& view, const std::string& name,
                               const FeatureSpec& spec, const std::string& where, Collected& all) {
  const auto refuse = [&](const auto&... came) {
    throw InvalidArgumentError(
        str_cat(where, ": feature \"", name, "\": wanted ", wish(spec), ", ", came...));
  };
  const bool fixed = spec.length == FeatureSpec::Length::Fixed;
  const size_t before = all.size();
  if (view.present && view.kind != spec.kind) refuse("found a list of ", name_of(view.kind));
  if (view.present)
    all.append(view, where);
  else if (fixed && spec.default_value.index() == 0)
    refuse("but the example has no such feature, and there is no default");
  else
    all.append(spec.default_value);
  const int64_t count = int64_t(all.size() - before);
  if (fixed && count != wanted_count(spec))
    refuse("which is ", wanted_count(spec), " values, found ", count);
  all.row_lengths.push_back(count);
}

DISTRIBUTE_INLINE void check_spec(const std::string& name, const FeatureSpec& spec) {
  if (spec.default_value.index() == 0) return;
  Collected values;
  values.append(spec.default_value);
  if (spec.default_value.index() != size_t(spec.kind) + 1 ||
      int64_t(values.size()) != wanted_count(spec))
    throw InvalidArgumentError(
        str_cat("feature \"", name, "\": the default does not fit ", wish(spec)));
}

DISTRIBUTE_INLINE ParsedFeature parsed_values(Collected all, FeatureKind kind,
                                              const std::vector<int64_t>& dims) {
  const Shape shape{std::span<const int64_t>(dims)};
  ParsedFeature result;
  if (kind == FeatureKind::Bytes) result.bytes = std::move(all.bytes);
  if (kind == FeatureKind::Float) result.values = Tensor(shape, all.floats);
  if (kind == FeatureKind::Int64) result.values = Tensor(shape, all.integers);
  return result;
}

DISTRIBUTE_INLINE ParsedFeature finish(Collected all, const FeatureSpec& spec, bool batched) {
  std::vector<int64_t> dims;
  if (spec.length == FeatureSpec::Length::Variable)
    dims = {int64_t(all.size())};
  else if (batched)
    dims = {int64_t(all.row_lengths.size())};
  if (spec.length == FeatureSpec::Length::Fixed)
    dims.insert(dims.end(), spec.shape.begin(), spec.shape.end());
  const std::vector<int64_t> row_lengths = std::move(all.row_lengths);
  ParsedFeature result = parsed_values(std::move(all), spec.kind, dims);
  if (batched && spec.length == FeatureSpec::Length::Variable)
    result.row_lengths = Tensor(Shape{int64_t(row_lengths.size())}, row_lengths);
  return result;
}

DISTRIBUTE_INLINE ParsedExample parse(std::span<const std::string_view> records,
                                      const FeatureSpecs& specs, const std::string& where,
                                      bool batched) {
  std::map<std::string, Collected> collected;
  for (const auto& [name, spec] : specs) check_spec(name, spec);
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string place = batched ? str_cat(where, ", example ", i) : where;
    const FeatureViews views = feature_views(records[i], place);
    for (const auto& [name, spec] : specs) {
      const auto found = views.find(name);
      const ListView view = found == views.end() ? ListView{} : list_of(found->second, place);
      collect(view, name, spec, place, collected[name]);
    }
  }
  ParsedExample result;
  for (const auto& [name, spec] : specs)
    result[name] = finish(std::move(collected[name]), spec, batched);
  return result;
}

}  // namespace data_internal

DISTRIBUTE_INLINE const char* name_of(FeatureKind kind) {
  return kind == FeatureKind::Bytes ? "bytes" : kind == FeatureKind::Float ? "float" : "int64";
}

DISTRIBUTE_INLINE std::string encode_example(const Features& features) {
  io::ProtoWriter all;
  for (const auto& [name, feature] : features)
    all.message(1, io::map_entry_proto(name, data_internal::encode_feature(feature)));
  return io::ProtoWriter().message(1, all).take();
}

DISTRIBUTE_INLINE Features decode_example(std::string_view record, const std::string& where) {
  Features features;
  for (const auto& [name, view] : data_internal::feature_views(record, where))
    features[std::string(name)] = data_internal::decode_feature(view, where);
  return features;
}

DISTRIBUTE_INLINE FeatureSpec fixed_len_feature(FeatureKind kind, std::vector<int64_t> shape,
                                                Feature default_value) {
  return {kind, FeatureSpec::Length::Fixed, std::move(shape), std::move(default_value)};
}

DISTRIBUTE_INLINE FeatureSpec var_len_feature(FeatureKind kind) {
  return {kind, FeatureSpec::Length::Variable, {}, {}};
}

DISTRIBUTE_INLINE ParsedExample parse_single_example(std::string_view record,
                                                     const FeatureSpecs& specs,
                                                     const std::string& where) {
  return data_internal::parse({&record, 1}, specs, where, false);
}

DISTRIBUTE_INLINE ParsedExample parse_example(std::span<const std::string_view> records,
                                              const FeatureSpecs& specs, const std::string& where) {
  return data_internal::parse(records, specs, where, true);
}

}  // namespace distribute::data
