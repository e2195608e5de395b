#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/bundle_reader.hpp>
#include <distribute/checkpoint/flat_checkpoint.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/checkpoint/object_graph.hpp>
#include <distribute/checkpoint/worker_path.hpp>
#include <distribute/strategy/strategy.hpp>

#include <optional>
#include <set>
#include <utility>

namespace distribute::checkpoint_internal {

/// "there are: a, b, c, ...": enough to see what kind of names the file has.
DISTRIBUTE_INLINE std::string some_names(const train::WeightKeys& keys) {
  std::string text;
  size_t shown = 0;
  for (const auto& [name, entries] : keys) {
    if (shown++ == 8) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

/// One load: the values are read and checked before any of them is assigned.
class WeightsByName {
 public:
  WeightsByName(const std::string& prefix, const train::LoadWeightsOptions& options)
      : reader_(prefix), keys_(train::weight_keys(reader_)), options_(options) {
    for (const auto& [name, keys] : keys_) unused_.insert(name);
  }

  void read(const Variable& variable) {
    const std::string wanted =
        options_.name_in_file ? options_.name_in_file(variable.name()) : variable.name();
    if (options_.skip_missing && !keys_.contains(wanted))
      return result_.missing.push_back(variable.name());
    const std::string& key = train::weight_key(keys_, wanted, reader_.prefix());
    unused_.erase(wanted);
    try {
      if (train::is_cut(variable)) {
        train::check_shards(reader_, key, variable, wanted);
        cut_.emplace_back(variable, key);
      } else {
        values_.emplace_back(variable, train::read_value(reader_, key, variable, wanted));
      }
      result_.loaded.push_back(variable.name());
    } catch (const InvalidArgumentError&) {
      if (!options_.skip_mismatch) throw;
      result_.mismatched.push_back(variable.name());
    }
  }

  train::LoadedWeights assign() {
    for (const auto& [variable, value] : values_) train::restore_value(variable, value);
    for (const auto& [variable, key] : cut_) train::restore_shards(reader_, key, variable);
    result_.unused.assign(unused_.begin(), unused_.end());
    return std::move(result_);
  }

 private:
  train::BundleReader reader_;
  train::WeightKeys keys_;
  const train::LoadWeightsOptions& options_;
  std::set<std::string> unused_;
  std::vector<std::pair<Variable, Tensor>> values_;
  std::vector<std::pair<Variable, std::string>> cut_;  // read shard by shard
  train::LoadedWeights result_;
};

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

DISTRIBUTE_INLINE LoadedWeights load_weights(const std::string& prefix,
                                             const std::vector<Variable>& variables,
                                             const LoadWeightsOptions& options) {
  std::optional<checkpoint_internal::WeightsByName> weights;
  checkpoint_internal::read_on_all_workers(get_strategy().extended(), [&] {
    weights.emplace(prefix, options);
    for (const Variable& variable : variables) weights->read(variable);
  });
  return weights->assign();
}

}  // namespace distribute::train
