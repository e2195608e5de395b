#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/detail/legacy_weights.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/detail/zip_file.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/strategy/current_strategy.hpp>

#include <optional>

namespace distribute::saving_internal {

inline constexpr const char* kWeightsOfModel = "model.weights.h5";  // in a .keras archive

/// The weights that a file has for the module.
DISTRIBUTE_INLINE WeightAssignment find_weights(const nn::Module& module, const std::string& path,
                                                const saving::LoadWeightsOptions& options) {
  WeightAssignment weights(path, options);
  std::string bytes = value_or_throw(io::read_file(path));
  if (path.ends_with(".safetensors") && options.optimizer)
    throw InvalidArgumentError(path + ": files of safetensors have no optimizer");
  if (path.ends_with(".safetensors")) {
    find_by_name(saving::safetensors::deserialize(bytes, path).tensors, module, weights);
    return weights;
  }
  if (path.ends_with(".keras")) bytes = read_zip_entry(bytes, kWeightsOfModel, path);
  const Hdf5Reader file(std::move(bytes), path);
  if (is_legacy(file))
    find_in_legacy(file, module, options.by_name, weights);
  else
    find_in_keras3(file, module, options.by_name, weights);
  if (options.optimizer) find_optimizer(file, module, *options.optimizer, weights);
  return weights;
}

DISTRIBUTE_INLINE void check_built(const nn::Module& module, const char* function) {
  if (module.variables().empty())
    throw FailedPreconditionError(str_cat(function, ": module '", module.name(),
                                          "' has no weights yet; call it once before"));
}

}  // namespace distribute::saving_internal

namespace distribute::saving {

DISTRIBUTE_INLINE void save_weights(nn::Module& module, const std::string& path,
                                    const SaveWeightsOptions& options) {
  using namespace saving_internal;
  check_built(module, "save_weights");
  std::string bytes;
  if (path.ends_with(".weights.h5"))
    bytes = encode_hdf5(weights_h5(module, options.optimizer));
  else if (options.optimizer && (path.ends_with(".safetensors") || is_legacy_path(path)))
    throw InvalidArgumentError(
        str_cat(path, ": files of ",
                is_legacy_path(path) ? "weights alone in the older format" : "safetensors",
                " have no optimizer"));
  else if (path.ends_with(".safetensors"))
    bytes = safetensors::serialize(weights_by_name(module), {{"format", "np"}});
  else if (is_legacy_path(path))
    bytes = encode_hdf5(legacy_weights(module));
  else
    throw InvalidArgumentError(str_cat("save_weights: '", path,
                                       "' ends in none of .weights.h5, .h5, .hdf5, .safetensors"));
  write_on_chief(path, bytes);
}

DISTRIBUTE_INLINE train::LoadedWeights load_weights(nn::Module& module, const std::string& path,
                                                    const LoadWeightsOptions& options) {
  using namespace saving_internal;
  check_built(module, "load_weights");
  bool known = false;
  for (const char* ending : {".weights.h5", ".h5", ".hdf5", ".keras", ".safetensors"})
    known = known || path.ends_with(ending);
  if (!known)
    throw InvalidArgumentError(str_cat("load_weights: '", path, "' ends in none of .weights.h5, ",
                                       ".h5, .hdf5, .keras, .safetensors"));
  std::optional<WeightAssignment> weights;
  checkpoint_internal::read_on_all_workers(
      get_strategy(), [&] { weights.emplace(find_weights(module, path, options)); });
  return weights->assign();
}

}  // namespace distribute::saving
