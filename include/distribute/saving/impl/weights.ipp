#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/detail/file_values.hpp>
#include <distribute/saving/detail/legacy_weights.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/detail/weight_rules.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/saving/zip_file.hpp>
#include <distribute/strategy/scope.hpp>

#include <optional>

namespace distribute::saving_internal {

inline constexpr const char* kWeightsOfModel = "model.weights.h5";  // in a .keras archive

DISTRIBUTE_INLINE bool is_safetensors(const std::string& path) {
  return path.ends_with(".safetensors") || path.ends_with(".safetensors.index.json");
}

/// Refuses options that the kind of file does not have.
DISTRIBUTE_INLINE void check_options(const std::string& path,
                                     const saving::LoadWeightsOptions& options) {
  if (is_safetensors(path) && options.optimizer)
    throw InvalidArgumentError(path + ": files of safetensors have no optimizer");
  if (!is_safetensors(path) && options.names)
    throw InvalidArgumentError(path + ": `names` are those of safetensors files");
  if (options.names && options.by_name)
    throw InvalidArgumentError(path + ": `names` say how weights are found, without `by_name`");
  if (options.dry_run && !options.names)
    throw InvalidArgumentError(path + ": `dry_run` shows what `names` find; give it these");
}

/// The weights that a file has for the module.
DISTRIBUTE_INLINE WeightAssignment find_weights(const nn::Module& module, const std::string& path,
                                                const saving::LoadWeightsOptions& options) {
  WeightAssignment weights(path, options);
  if (is_safetensors(path)) {
    const saving::safetensors::Tensors tensors = read_tensors(path);
    if (options.names)
      find_by_rules(tensors, module, path, options, weights);
    else
      find_by_name(tensors, module, weights);
    return weights;
  }
  std::string bytes = value_or_throw(io::read_file(path));
  if (path.ends_with(".keras")) bytes = saving::read_zip_entry(bytes, kWeightsOfModel, path);
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
  if (options.names && !path.ends_with(".safetensors"))
    throw InvalidArgumentError(path + ": `names` are those of safetensors files");
  const bool is_plain = path.ends_with(".safetensors");
  if (options.max_shard_bytes < 0 || (options.max_shard_bytes > 0 && !is_plain))
    throw InvalidArgumentError(str_cat(path, ": max_shard_bytes is ", options.max_shard_bytes,
                                       "; it is 0 or more, and above 0 for .safetensors alone"));
  if (is_plain && options.max_shard_bytes > 0 && !options.optimizer) {
    const auto tensors =
        options.names ? weights_by_rules(module, *options.names) : weights_by_name(module);
    return write_shards_on_chief(path, tensors, {{"format", options.names ? "pt" : "np"}},
                                 options.max_shard_bytes);
  }
  std::string bytes;
  if (path.ends_with(".weights.h5"))
    bytes = encode_hdf5(weights_h5(module, options.optimizer));
  else if (options.optimizer && (path.ends_with(".safetensors") || is_legacy_path(path)))
    throw InvalidArgumentError(
        str_cat(path, ": files of ",
                is_legacy_path(path) ? "weights alone in the older format" : "safetensors",
                " have no optimizer"));
  else if (path.ends_with(".safetensors") && options.names)
    bytes = safetensors::serialize(weights_by_rules(module, *options.names), {{"format", "pt"}});
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
  for (const char* ending : {".bin", ".pt", ".pth", ".ckpt"})
    if (path.ends_with(ending))
      throw InvalidArgumentError(str_cat(
          "load_weights: '", path, "' is named like a pickle of PyTorch, which is not read ",
          "here; write model.safetensors from it by safetensors.torch.save_file"));
  check_options(path, options);
  bool known = is_safetensors(path);
  for (const char* ending : {".weights.h5", ".h5", ".hdf5", ".keras"})
    known = known || path.ends_with(ending);
  if (!known)
    throw InvalidArgumentError(
        str_cat("load_weights: '", path, "' ends in none of .weights.h5, ",
                ".h5, .hdf5, .keras, .safetensors, .safetensors.index.json"));
  std::optional<WeightAssignment> weights;
  checkpoint_internal::read_on_all_workers(
      get_strategy(), [&] { weights.emplace(find_weights(module, path, options)); });
  clear_lora(module, *weights);
  return weights->assign();
}

}  // namespace distribute::saving
