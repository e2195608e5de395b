#pragma once
/// The weights of a module by the names and in the arrangement of another program.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/detail/assign_weights.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/saving/weight_names.hpp>

#include <string>
#include <vector>

namespace distribute::saving_internal {

/// One way in which a file may hold a variable.
struct WeightPlace {
  std::vector<std::string> keys;  // names in the file
  saving::WeightRule rule;
};

/// A variable and all the ways, the preferred one first.
struct PlacedWeight {
  Variable variable;
  std::vector<WeightPlace> places;
};

/// Returns all variables of the module.
std::vector<PlacedWeight> placed_weights(const nn::Module& module, const saving::NameRules& rules);

/// Reads a `.safetensors` file, or all files of a `.safetensors.index.json`. Where "x.safetensors"
/// does not exist, "x.safetensors.index.json" is looked for.
saving::safetensors::Tensors read_tensors(const std::string& path);
/// Writes tensors to a file, or to several with an index; as save_weights says of max_shard_bytes.
/// Workers that are not the chief write to temporary folders.
void write_shards_on_chief(const std::string& path, const saving::safetensors::Tensors& tensors,
                           const saving::safetensors::Metadata& metadata, int64_t max_shard_bytes);

/// Adds the file's values for the module to `weights`. With options.dry_run it only prints which
/// tensor would become which variable.
void find_by_rules(const saving::safetensors::Tensors& file, const nn::Module& module,
                   const std::string& path, const saving::LoadWeightsOptions& options,
                   WeightAssignment& weights);

/// Returns the module's weights as another program would save them.
saving::safetensors::Tensors weights_by_rules(const nn::Module& module,
                                              const saving::NameRules& rules);

/// Returns the key of the file that differs in the fewest letters; "" for a file without tensors.
std::string nearest_key(const saving::safetensors::Tensors& file, const std::string& name);

}  // namespace distribute::saving_internal
