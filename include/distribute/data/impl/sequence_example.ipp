#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/detail/feature_values.hpp>
#include <distribute/data/example.hpp>

#include <algorithm>
#include <unordered_map>

namespace distribute::data {

namespace data_internal {

/// The encoded features of the steps of one list.
using StepViews = std::vector<std::string_view>;
using ListViews = std::unordered_map<std::string_view, StepViews>;

DISTRIBUTE_INLINE StepViews steps_of(std::string_view list, const std::string& where) {
  StepViews steps;
  for_each_field(list, where, [&](const io::ProtoField& step) {
    if (step.is(1, io::WireType::Bytes)) steps.push_back(step.bytes);
  });
  return steps;
}

DISTRIBUTE_INLINE ListViews feature_list_views(std::string_view record, const std::string& where) {
  ListViews views;
  for_each_field(record, where, [&](const io::ProtoField& lists) {
    if (!lists.is(2, io::WireType::Bytes)) return;
    for_each_field(lists.bytes, where, [&](const io::ProtoField& entry) {
      if (!entry.is(1, io::WireType::Bytes)) return;
      std::string_view name, list;
      if (!io::read_map_entry(entry.bytes, name, list)) throw_no_example(where);
      views[name] = steps_of(list, where);
    });
  });
  return views;
}

/// Reads the steps of one list of one record.
DISTRIBUTE_INLINE Collected collect_steps(const StepViews& steps, const std::string& name,
                                          const FeatureSpec& spec, const std::string& where) {
  Collected all;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto refuse = [&](const auto&... came) {
      throw InvalidArgumentError(str_cat(where, ": feature list \"", name, "\", step ", i,
                                         ": wanted ", wish(spec), ", ", came...));
    };
    const size_t before = all.size();
    const ListView view = list_of(steps[i], where);
    if (view.present && view.kind != spec.kind) refuse("found a list of ", name_of(view.kind));
    if (view.present) all.append(view, where);
    const int64_t count = int64_t(all.size() - before);
    if (spec.length == FeatureSpec::Length::Fixed && count != wanted_count(spec))
      refuse("which is ", wanted_count(spec), " values, found ", count);
    all.row_lengths.push_back(count);
  }
  return all;
}

DISTRIBUTE_INLINE Collected collect_list(const ListViews& views, const std::string& name,
                                         const SequenceFeatureSpec& spec,
                                         const std::string& where) {
  const auto found = views.find(name);
  if (found == views.end() && !spec.allow_missing)
    throw InvalidArgumentError(str_cat(where, ": feature list \"", name,
                                       "\" is required, but the example has none; ",
                                       "allow_missing takes it for a list without steps"));
  return found == views.end() ? Collected{} : collect_steps(found->second, name, spec.step, where);
}

DISTRIBUTE_INLINE Tensor integers_tensor(const std::vector<int64_t>& values) {
  return Tensor(Shape{int64_t(values.size())}, values);
}

template <typename T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Joins what the records have of one list.
DISTRIBUTE_INLINE ParsedFeatureList join_lists(const std::vector<Collected>& records,
                                               const FeatureSpec& spec, bool batched) {
  const bool fixed = spec.length == FeatureSpec::Length::Fixed;
  std::vector<int64_t> lengths;
  for (const Collected& record : records) lengths.push_back(int64_t(record.row_lengths.size()));
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  Collected all;
  for (size_t i = 0; i < records.size(); ++i) {
    append_all(all.bytes, records[i].bytes);
    append_all(all.floats, records[i].floats);
    append_all(all.integers, records[i].integers);
    append_all(all.row_lengths, records[i].row_lengths);
    if (fixed && batched) all.append_zeros(spec.kind, (longest - lengths[i]) * wanted_count(spec));
  }
  std::vector<int64_t> dims;
  if (fixed && batched) dims.push_back(int64_t(records.size()));
  dims.push_back(fixed ? longest : int64_t(all.size()));
  if (fixed) append_all(dims, spec.shape);
  ParsedFeatureList result;
  if (!fixed) result.row_lengths = integers_tensor(all.row_lengths);
  if (batched) result.lengths = integers_tensor(lengths);
  ParsedFeature values = parsed_values(std::move(all), spec.kind, dims);
  result.values = std::move(values.values);
  result.bytes = std::move(values.bytes);
  return result;
}

DISTRIBUTE_INLINE std::map<std::string, ParsedFeatureList> parse_lists(
    std::span<const std::string_view> records, const SequenceFeatureSpecs& specs,
    const std::string& where, bool batched) {
  std::map<std::string, std::vector<Collected>> collected;
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string place = batched ? str_cat(where, ", example ", i) : where;
    const ListViews views = feature_list_views(records[i], place);
    for (const auto& [name, spec] : specs)
      collected[name].push_back(collect_list(views, name, spec, place));
  }
  std::map<std::string, ParsedFeatureList> result;
  for (const auto& [name, lists] : collected)
    result[name] = join_lists(lists, specs.at(name).step, batched);
  return result;
}

}  // namespace data_internal

DISTRIBUTE_INLINE std::string encode_sequence_example(const SequenceExample& example) {
  io::ProtoWriter context, lists;
  for (const auto& [name, feature] : example.context)
    context.message(1, io::map_entry_proto(name, data_internal::encode_feature(feature)));
  for (const auto& [name, list] : example.feature_lists) {
    io::ProtoWriter steps;
    for (const Feature& step : list) steps.message(1, data_internal::encode_feature(step));
    lists.message(1, io::map_entry_proto(name, steps.take()));
  }
  io::ProtoWriter result;
  return result.message(1, context).message(2, lists).take();
}

DISTRIBUTE_INLINE SequenceExample decode_sequence_example(std::string_view record,
                                                          const std::string& where) {
  // Both kinds of records have their features in the same field.
  SequenceExample result{.context = decode_example(record, where)};
  for (const auto& [name, steps] : data_internal::feature_list_views(record, where)) {
    FeatureList& list = result.feature_lists[std::string(name)];
    for (const std::string_view step : steps)
      list.push_back(data_internal::decode_feature(step, where));
  }
  return result;
}

DISTRIBUTE_INLINE SequenceFeatureSpec fixed_len_sequence_feature(FeatureKind kind,
                                                                 std::vector<int64_t> shape,
                                                                 bool allow_missing) {
  return {fixed_len_feature(kind, std::move(shape)), allow_missing};
}

DISTRIBUTE_INLINE SequenceFeatureSpec var_len_sequence_feature(FeatureKind kind) {
  return {var_len_feature(kind), true};
}

DISTRIBUTE_INLINE ParsedSequenceExample parse_single_sequence_example(
    std::string_view record, const FeatureSpecs& context_features,
    const SequenceFeatureSpecs& sequence_features, const std::string& where) {
  return {parse_single_example(record, context_features, where),
          data_internal::parse_lists({&record, 1}, sequence_features, where, false)};
}

DISTRIBUTE_INLINE ParsedSequenceExample parse_sequence_example(
    std::span<const std::string_view> records, const FeatureSpecs& context_features,
    const SequenceFeatureSpecs& sequence_features, const std::string& where) {
  if (records.empty()) throw InvalidArgumentError("parse_sequence_example: there are no records");
  return {parse_example(records, context_features, where),
          data_internal::parse_lists(records, sequence_features, where, true)};
}

}  // namespace distribute::data
