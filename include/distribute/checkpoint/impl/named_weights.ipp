#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/detail/object_graph.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/strategy/scope.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace distribute::checkpoint_internal {

/// Returns "there are: a, b, c, ...", which shows what kind of names the file has.
DISTRIBUTE_INLINE std::string some_names(const train::WeightKeys& keys) {
  std::string text;
  size_t shown = 0;
  for (const auto& [name, entries] : keys) {
    if (shown++ == 8) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

DISTRIBUTE_INLINE std::string name_in_file(const Variable& variable,
                                           const train::NameInFile& given) {
  const std::string name = train::saved_name(variable);
  return given ? given(name) : name;
}

/// Returns "dense/kernel" of "sequential/dense/kernel".
DISTRIBUTE_INLINE std::string name_without_model(const std::string& name) {
  const size_t end = name.find('/');
  return end == std::string::npos ? name : name.substr(end + 1);
}

/// A load: all values are read and checked before the first is assigned.
class WeightsByName {
 public:
  WeightsByName(const std::string& prefix, const train::LoadWeightsOptions& options)
      : reader_(prefix), keys_(train::weight_keys(reader_)), options_(options) {
    for (const auto& [name, keys] : keys_) unused_.insert(name);
  }

  void read(const std::vector<Variable>& variables) {
    without_model_ = !options_.name_in_file && is_without_models(variables);
    for (const Variable& variable : variables) read(variable);
  }

  train::LoadedWeights assign() {
    for (const auto& [variable, value] : values_) train::restore_value(variable, value);
    for (const auto& [variable, key] : cut_) train::restore_shards(reader_, key, variable);
    for (const auto& [shard, key] : shards_)
      train::restore_value(shard, train::read_value(reader_, key, shard));
    result_.unused.assign(unused_.begin(), unused_.end());
    return std::move(result_);
  }

 private:
  void read(const Variable& variable) {
    std::string wanted = name_in_file(variable, options_.name_in_file);
    if (without_model_) wanted = name_without_model(wanted);
    if (options_.skip_missing && !keys_.contains(wanted))
      return result_.missing.push_back(variable.name());
    const std::string& key = train::weight_key(keys_, wanted, reader_.prefix());
    unused_.erase(wanted);
    try {
      read_checked(variable, key, wanted);
      result_.loaded.push_back(variable.name());
    } catch (const InvalidArgumentError&) {
      if (!options_.skip_mismatch) throw;
      result_.mismatched.push_back(variable.name());
    }
  }

  /// A variable with shards, or a shard, may be too large for memory as a whole: it is read when it
  /// is assigned.
  void read_checked(const Variable& variable, const std::string& key, const std::string& wanted) {
    if (train::is_cut(variable)) {
      train::check_shards(reader_, key, variable, wanted);
      cut_.emplace_back(variable, key);
    } else if (train::has_rows_in(reader_, key, variable)) {
      if (checked_.insert(key).second) reader_.verify(key);
      shards_.emplace_back(variable, key);
    } else {
      values_.emplace_back(variable, train::read_value(reader_, key, variable, wanted));
    }
  }

  /// Whether the file has none of the names, but some without the model's, which all differ.
  bool is_without_models(const std::vector<Variable>& variables) const {
    std::map<std::string, std::string> names;  // by what stands behind the model's
    bool found = false;
    for (const Variable& variable : variables) {
      const std::string name = train::saved_name(variable), rest = name_without_model(name);
      if (keys_.contains(name) || names.emplace(rest, name).first->second != name) return false;
      found = found || keys_.contains(rest);
    }
    return found;
  }

  train::BundleReader reader_;
  train::WeightKeys keys_;
  const train::LoadWeightsOptions& options_;
  bool without_model_ = false;
  std::set<std::string> unused_, checked_;
  std::vector<std::pair<Variable, Tensor>> values_;
  std::vector<std::pair<Variable, std::string>> cut_, shards_;  // with their keys
  train::LoadedWeights result_;
};

/// One tensor of a file without graph.
struct NamedValue {
  std::string name;
  Variable variable;
  Tensor value;  // none for a shard: its rows are had when it is their turn
};

/// Replaces variables that are cut by their shards, in the order of name and row.
/// Throws  InvalidArgumentError for a name that two variables have.
DISTRIBUTE_INLINE std::vector<NamedValue> sorted_by_name(const std::vector<Variable>& variables,
                                                         const train::NameInFile& map) {
  std::vector<NamedValue> sorted;
  for (const Variable& variable : with_parts(variables))
    sorted.push_back({name_in_file(variable, map), variable, {}});
  const auto row = [](const NamedValue& v) {
    const auto& info = v.variable.impl().save_slice_info();
    return info ? info->begin : -1;
  };
  std::sort(sorted.begin(), sorted.end(), [&](const NamedValue& a, const NamedValue& b) {
    return a.name != b.name ? a.name < b.name : row(a) < row(b);
  });
  const auto twice = std::adjacent_find(
      sorted.begin(), sorted.end(), [&](const NamedValue& a, const NamedValue& b) {
        return a.name == b.name && (row(a) < 0 || row(a) == row(b));
      });
  if (twice != sorted.end())
    throw InvalidArgumentError(str_cat("save_weights: two variables would be called '", twice->name,
                                       "'; give one of the models another name, or "
                                       "one of the variables with name_in_file"));
  return sorted;
}

DISTRIBUTE_INLINE void write_by_name(const std::string& path,
                                     const std::vector<NamedValue>& values) {
  train::BundleWriter writer(path);
  for (const NamedValue& one : values) {
    if (one.value)
      train::write_tensor(writer, one.name, one.value);
    else
      train::write_shard(writer, one.name, train::value_to_save(one.variable),
                         *one.variable.impl().save_slice_info());
  }
  writer.finish();
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE WeightKeys weight_keys(BundleReader& reader) {
  WeightKeys keys;
  if (!reader.contains(kObjectGraphKey)) {
    for (const std::string& key : reader.keys()) keys[key] = {key};
    return keys;
  }
  const auto graph = decode_object_graph(reader.read_string(kObjectGraphKey), reader.prefix());
  for (const TrackableObject& node : graph.nodes)
    for (const SerializedTensor& tensor : node.attributes) {
      if (tensor.full_name.empty() || tensor.full_name == "save_counter") continue;
      if (reader.contains(tensor.checkpoint_key))
        keys[tensor.full_name].push_back(tensor.checkpoint_key);
    }
  return keys;
}

DISTRIBUTE_INLINE const std::string& weight_key(const WeightKeys& keys, const std::string& name,
                                                const std::string& file) {
  const auto found = keys.find(name);
  if (found == keys.end())
    throw NotFoundError(str_cat(file, ": there is no variable '", name,
                                "'; there are: ", checkpoint_internal::some_names(keys)));
  const std::vector<std::string>& all = found->second;
  if (all.size() > 1)
    throw InvalidArgumentError(
        str_cat(file, ": variable '", name, "' is there twice, as ", all[0], " and ", all[1]));
  return all[0];
}

DISTRIBUTE_INLINE void save_weights(const std::string& prefix,
                                    const std::vector<Variable>& variables,
                                    const SaveWeightsOptions& options) {
  auto values = checkpoint_internal::sorted_by_name(variables, options.name_in_file);
  for (auto& one : values)  // reading some of them takes every worker
    if (!one.variable.impl().save_slice_info()) one.value = value_to_save(one.variable);
  WorkerSave save(get_strategy(), prefix, {.is_checkpoint = true});
  save.run([&] { checkpoint_internal::write_by_name(save.path(), values); });
  save.commit();
}

DISTRIBUTE_INLINE LoadedWeights load_weights(const std::string& prefix,
                                             const std::vector<Variable>& variables,
                                             const LoadWeightsOptions& options) {
  std::optional<checkpoint_internal::WeightsByName> weights;
  checkpoint_internal::read_on_all_workers(get_strategy(), [&] {
    weights.emplace(prefix, options);
    weights->read(variables);
  });
  return weights->assign();
}

}  // namespace distribute::train
