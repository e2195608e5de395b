#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/detail/legacy_weights.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/model_maker.hpp>
#include <distribute/saving/detail/optimizer_state.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/saving/zip_file.hpp>
#include <distribute/strategy/scope.hpp>

#include <ctime>
#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

/// metadata.json: the version whose format it is, and when.
DISTRIBUTE_INLINE std::string model_metadata() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d@%H:%M:%S", &parts);
  return nlohmann::ordered_json({{"keras_version", kKerasVersion}, {"date_saved", text}}).dump();
}

/// A model's configuration with that of its optimizer, so that Keras makes it before it reads its
/// variables.
DISTRIBUTE_INLINE std::string with_optimizer(const std::string& config,
                                             const optim::Optimizer* optimizer) {
  if (!optimizer) return config;
  auto all = nlohmann::ordered_json::parse(config);
  all["compile_config"] = {
      {"optimizer", nlohmann::ordered_json::parse(optimizer_config(*optimizer))},
      {"loss", nullptr}};
  return all.dump();
}

DISTRIBUTE_INLINE void check_path_of_model(const char* function, const std::string& path) {
  if (!path.ends_with(".keras") && !is_legacy_path(path))
    throw InvalidArgumentError(
        str_cat(function, ": '", path, "' must end in .keras, .h5 or .hdf5 (not .weights.h5)"));
}

/// The zip archive of Keras 3.
DISTRIBUTE_INLINE std::string encode_keras(const nn::Module& model, const std::string& config,
                                           optim::Optimizer* optimizer) {
  return saving::encode_zip({{"metadata.json", model_metadata()},
                             {"config.json", with_optimizer(config, optimizer)},
                             {"model.weights.h5", encode_hdf5(weights_h5(model, optimizer))}});
}

}  // namespace distribute::saving_internal

namespace distribute::saving {

DISTRIBUTE_INLINE void save_model(nn::Module& model, const std::string& path,
                                  const SaveWeightsOptions& options) {
  using namespace saving_internal;
  check_path_of_model("save_model", path);
  if (options.names) throw InvalidArgumentError(path + ": `names` are those of safetensors files");
  const std::string config = model_config(model);
  write_on_chief(path, is_legacy_path(path)
                           ? encode_hdf5(legacy_model(model, config, options.optimizer))
                           : encode_keras(model, config, options.optimizer));
}

DISTRIBUTE_INLINE std::unique_ptr<nn::Module> load_model(const std::string& path) {
  using namespace saving_internal;
  check_path_of_model("load_model", path);
  std::string config;
  checkpoint_internal::read_on_all_workers(get_strategy(), [&] {
    std::string bytes = value_or_throw(io::read_file(path));
    config = is_legacy_path(path) ? legacy_config(Hdf5Reader(std::move(bytes), path))
                                  : saving::read_zip_entry(bytes, "config.json", path);
  });
  std::unique_ptr<nn::Module> model = make_model(config, path);
  if (!model->variables().empty()) load_weights(*model, path);
  return model;
}

}  // namespace distribute::saving
